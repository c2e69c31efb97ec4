"""Adapted meshes: finer and coarser, of the same outline, with the old mesh's attributes."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError, OptionError, WrongTypeError
from tests.support.digests import digest

CORNERS = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
L_SHAPE = dmr.Pslg(CORNERS, [[i, (i + 1) % 6] for i in range(6)], segment_markers=[1, 2, 3, 4, 5, 6])


def two_materials():
    """A square with a hole, two regions with an interface between them, a free vertex, and names."""
    square = [[0, 0], [3, 0], [3, 3], [0, 3], [1.5, 0], [1.5, 3], [0.5, 0.5], [1, 0.5], [1, 1], [0.5, 1], [2.2, 2.1]]
    segments = [[0, 4], [4, 1], [1, 2], [2, 5], [5, 3], [3, 0], [4, 5], [6, 7], [7, 8], [8, 9], [9, 6]]
    return dmr.Pslg(
        square,
        segments,
        holes=[[0.75, 0.75]],
        regions=[[0.2, 0.2, 7, 0], [2, 2, 9, 0]],
        segment_markers=[1, 2, 3, 4, 5, 6, 0, 8, 8, 8, 8],
        vertex_markers=[0] * 10 + [12],
        names={"regions": {7: "steel", 9: "brass"}, "markers": {8: "bore"}},
    )


def edge_lengths(mesh):
    ends = mesh.vertices[mesh.edges]
    return np.hypot(*(ends[:, 1] - ends[:, 0]).T), ends.mean(axis=1)


def test_a_mesh_becomes_finer_and_coarser():
    first = dmr.refine(L_SHAPE, size=0.1, device="cpu")
    sizes = 0.02 + 0.3 * np.hypot(*(first.mesh.vertices - 1).T)
    second = dmr.adapt(first.mesh, sizes, device="cpu")
    assert dmr.validate(second.mesh, input=dmr.outline(first.mesh), min_angle=30).ok
    assert dmr.validate(second.mesh, input=L_SHAPE, min_angle=30).ok
    assert second.mesh.vertices[:6].tolist() == CORNERS
    lengths, middles = edge_lengths(second.mesh)
    distance = np.hypot(*(middles - 1).T)
    assert lengths[distance < 0.1].mean() < 0.04 < 0.15 < lengths[distance > 0.8].mean()
    third = dmr.adapt(second, 1.0, device="cpu")  # the points on the sides are gone, too
    assert len(third.mesh.triangles) < len(first.mesh.triangles) / 4
    assert dmr.validate(third.mesh, input=L_SHAPE, min_angle=30).ok


def test_regions_holes_markers_names_and_free_vertices_are_kept():
    domain = two_materials()
    first = dmr.refine(domain, size=0.3, device="cpu")
    second = dmr.adapt(first, 0.8, device="cpu")
    assert len(second.mesh.triangles) < len(first.mesh.triangles)
    for outline in (domain, dmr.outline(first.mesh)):
        report = dmr.validate(second.mesh, input=outline, min_angle=30)
        assert report.ok and {"regions", "markers", "vertex markers"} <= set(report.checked)
    assert np.array_equal(second.mesh.vertices[: len(domain.vertices)], domain.vertices)
    assert second.mesh.names == first.mesh.names and second.mesh.vertex_markers[10] == 12
    left = second.mesh.vertices[second.mesh.triangles].mean(axis=1)[:, 0] < 1.5
    assert np.array_equal(second.mesh.triangle_attributes[:, 0], np.where(left, 7.0, 9.0))


@pytest.mark.parametrize("size", ["number", "function", "field", "vertices", "triangles"])
def test_sizes_in_every_form(size):
    first = dmr.refine(L_SHAPE, size=0.4, device="cpu").mesh
    given = {
        "number": 0.2,
        "function": lambda points: np.full(len(points), 0.2),
        "field": dmr.SizeField(first, np.full(len(first.vertices), 0.2)),
        "vertices": np.full(len(first.vertices), 0.2),
        "triangles": [0.2] * len(first.triangles),
    }[size]
    expected = dmr.refine(dmr.outline(first), size=0.2, device="cpu").mesh
    found = dmr.adapt(first, given, device="cpu").mesh
    if size in ("field", "vertices"):  # interpolated: 0.2 but for rounding
        assert abs(len(found.triangles) - len(expected.triangles)) <= 0.05 * len(expected.triangles)
    else:
        assert digest(found.vertices, found.triangles) == digest(expected.vertices, expected.triangles)


def test_the_bits_are_the_same_on_every_device(device_options):
    first = dmr.refine(two_materials(), size=0.2, device="cpu").mesh
    sizes = 0.05 + 0.1 * first.vertices[:, 0]
    expected = dmr.adapt(first, sizes, device="cpu", threads=1).mesh
    found = dmr.adapt(first, sizes, **device_options).mesh
    assert digest(found.vertices, found.triangles) == digest(expected.vertices, expected.triangles)


@pytest.mark.parametrize("unknown", [np.inf, np.nan])
def test_kept_vertices_keep_their_attributes_beside_others_without(unknown):
    mesh = dmr.refine(L_SHAPE, max_area=0.1, device="cpu").mesh
    values = np.where(mesh.vertices[:, :1] > 1, unknown, mesh.vertices[:, 1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = dmr.adapt(replace(mesh, vertex_attributes=values), 0.3, device="cpu").mesh
    assert np.array_equal(new.vertex_attributes[:6], values[:6], equal_nan=True)
    left = new.vertices[:, 0] < 0.7
    assert np.allclose(new.vertex_attributes[left, 0], new.vertices[left, 1])


def test_attributes_are_transferred():
    first = dmr.refine(two_materials(), size=0.3, device="cpu").mesh
    linear = 1 + 2 * first.vertices[:, 0] - first.vertices[:, 1]
    centroids = first.vertices[first.triangles].mean(axis=1)
    old = replace(
        first,
        vertex_attributes=linear[:, None],
        triangle_attributes=np.column_stack([first.triangle_attributes, centroids[:, 1]]),
    )
    new = dmr.adapt(old, 0.15, outline=dmr.outline(first), device="cpu").mesh
    assert np.allclose(new.vertex_attributes[:, 0], 1 + 2 * new.vertices[:, 0] - new.vertices[:, 1], atol=1e-12)
    middles = new.vertices[new.triangles].mean(axis=1)
    assert np.array_equal(new.triangle_attributes[:, 0], np.where(middles[:, 0] < 1.5, 7.0, 9.0))
    assert np.abs(new.triangle_attributes[:, 1] - middles[:, 1]).max() < 0.3 and new.area_bounds is None


@pytest.mark.parametrize(
    "bound", [{"max_edge": 0.3}, {"max_area": 0.05}, {"area": lambda points: 0.01 + 0.1 * abs(points[:, 0])}]
)
def test_a_bound_alone_suffices(bound):
    coarse = dmr.triangulate(dmr.domains.rectangle(2, 1))
    assert len(dmr.adapt(coarse, **bound).mesh.triangles) > 20
    with pytest.raises(OptionError, match="adapt needs sizes: give size, max_edge, area or max_area"):
        dmr.adapt(coarse)


def test_what_does_not_fit_is_refused():
    mesh = dmr.refine(L_SHAPE, size=0.5, device="cpu").mesh
    with pytest.raises(OptionError, match="sizes must have shape"):
        dmr.adapt(mesh, [1.0, 2.0])
    with pytest.raises(OptionError, match="sizes must be above 0"):
        dmr.adapt(mesh, np.zeros(len(mesh.vertices)))
    with pytest.raises(OptionError, match="convex_hull is not an option of adapt"):
        dmr.adapt(mesh, 0.1, convex_hull=True)
    with pytest.raises(WrongTypeError, match="mesh must be a Mesh"):
        dmr.adapt(L_SHAPE, 0.1)
    with pytest.raises(InvalidMeshError, match="same side of edge"):
        dmr.outline(dmr.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2], [0, 1, 2]]))


def test_sizes_on_triangles_with_a_limit_on_their_growth() -> None:
    mesh = dmr.refine(dmr.domains.rectangle(1, 1), size=0.1).mesh
    sizes = np.full(len(mesh.triangles), 0.3)
    sizes[np.hypot(*(mesh.vertices[mesh.triangles].mean(axis=1) - 0.5).T).argmin()] = 0.005
    counts = [len(dmr.adapt(mesh, sizes, grading=grading).mesh.triangles) for grading in (0.1, 0.4)]
    assert counts[0] > 2 * counts[1] > 500
