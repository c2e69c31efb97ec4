"""Admission of meshes to the pipeline: errors with their element, and the state on the device."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.boundary import outline_of
from dmr.refinement.state.statistics import TILE as ANGLE_TILE
from dmr.refinement.state.statistics import _angle_range
from dmr.triangulation.rounds.curve import TILE

LARGEST = 2.0**201


def mesh_of(count, seed=1):
    """A Delaunay mesh of random points."""
    return dmr.generate("random", count, seed)


# Coordinates


OUT_OF_RANGE = (np.nextafter(LARGEST, np.inf), -(2.0**300), 2.0**-143, -5e-324, np.nan, -np.inf)
POSITIONS = (0, 255, 256, TILE - 1, TILE, -1)


@pytest.mark.parametrize(
    ("value", "vertex", "axis"),  # each value on both axes and at two positions, and so each position
    [
        *((value, vertex, 0) for value, vertex in zip(OUT_OF_RANGE, POSITIONS, strict=True)),
        *((value, vertex, 1) for value, vertex in zip(OUT_OF_RANGE, reversed(POSITIONS), strict=True)),
    ],
)
def test_a_coordinate_out_of_range_is_refused_at_every_position(device, value, vertex, axis):
    vertices = mesh_of(2 * TILE + 100).vertices.copy()
    mesh = dmr.Mesh(vertices, mesh_of(2 * TILE + 100).triangles)
    vertices[vertex, axis] = value  # a mesh shares the caller's arrays, and is checked before
    with pytest.raises(InvalidMeshError, match="outside the range") as refusal:
        admit(mesh, device)
    assert (refusal.value.element, refusal.value.index) == ("vertex", vertex % len(vertices))


def test_the_limits_of_the_range_are_accepted(device):
    for scale in (LARGEST, 2.0**-80):
        mesh = dmr.Mesh(scale * np.array([[0, 0], [1, 0], [1, 1], [-1, 2.0**-40]]), [[0, 1, 2], [0, 2, 3]])
        admit(mesh, device)
    with pytest.raises(InvalidMeshError, match="all coordinates are below"):
        admit(dmr.Mesh(2.0**-100 * np.array([[0, 0], [1, 0], [1, 1]]), [[0, 1, 2]]), device)


@pytest.mark.parametrize("scale", [2.0**300, 1e300, 1.7e308])
@pytest.mark.parametrize(
    "bounds",
    [
        {"max_area": 1.0},
        {"area": [1.0, 1.0]},
        {"area": lambda points: np.ones(len(points))},
        {"size": 1.0},
        {"size": lambda points: np.ones(len(points))},
        {"size": dmr.SizeField.from_grid([0, 1], [0, 1], np.ones((2, 2)))},
        {"max_edge": lambda points: np.ones(len(points))},
    ],
)
def test_areas_that_overflow_are_not_sampled(scale, bounds):
    """Sampling them ended the process by a segmentation fault."""
    mesh = dmr.Mesh(scale * np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), [[0, 1, 2], [0, 2, 3]])
    with pytest.raises(InvalidMeshError, match="outside the range in which geometry is exact") as refusal:
        dmr.refine(mesh, device="cpu", **bounds)
    assert (refusal.value.element, refusal.value.index) == ("vertex", 1)


def test_areas_that_overflow_are_not_sampled_for_tiles(tmp_path):
    mesh = dmr.Mesh(1e300 * np.array([[0, 0], [1, 0], [1, 1], [0, 1]]), [[0, 1, 2], [0, 2, 3]])
    with pytest.raises(InvalidMeshError, match="outside the range in which geometry is exact"):
        dmr.distributed.refine(mesh, tmp_path / "out", tile_triangles=1000, max_area=1e299, device="cpu")


@pytest.mark.parametrize("name", ["size", "max_edge", "area"])
def test_meshes_without_triangles_or_area_are_refused_before_sizes_are_evaluated(name):
    bound = {name: lambda points: np.ones(len(points))}
    with pytest.raises(InvalidMeshError, match="the mesh has no triangles"):
        dmr.refine(dmr.Mesh([[0, 0], [1, 0], [0, 1]], np.empty((0, 3), np.int32)), **bound)
    with pytest.raises(InvalidMeshError, match="all triangles lie on one line"):
        dmr.refine(dmr.Mesh([[0, 0], [1, 0], [2, 0]], [[0, 1, 2]]), **bound)


def test_coordinates_are_checked_before_triangles(device):
    nothing = np.empty((0, 3), np.int32)
    with pytest.raises(InvalidMeshError, match="outside the range"):
        admit(dmr.Mesh([[2.0**300, 0]], nothing), device)
    for vertices in ([[1.0, 0]], np.empty((0, 2))):
        with pytest.raises(InvalidMeshError, match="the mesh has no triangles"):
            admit(dmr.Mesh(vertices, nothing), device)


# Order


def test_upload_and_download_keep_the_mesh(device):
    mesh = mesh_of(5000)
    values = np.random.default_rng(3).random((5000, 3))
    given = dmr.Mesh(mesh.vertices, mesh.triangles, vertex_attributes=values, vertex_markers=np.arange(5000))
    state, notes = admit(given, device)
    back = state.to_mesh(given)
    assert notes == []
    assert np.array_equal(back.vertices, mesh.vertices)
    assert np.array_equal(back.vertex_attributes, values) and np.array_equal(back.vertex_markers, np.arange(5000))
    assert np.array_equal(state.attributes[: 3 * 5000].download().reshape(-1, 3), values[state.order.download()])

    def smallest_first(triangles):
        turned = [np.roll(row, -int(row.argmin())) for row in triangles]
        return sorted(map(tuple, turned))

    assert smallest_first(back.triangles) == smallest_first(mesh.triangles)


def test_triangles_are_ordered_by_their_first_vertex(device):
    mesh = mesh_of(5000)
    state, _ = admit(mesh, device)
    rank = np.empty(5000, np.int64)
    rank[state.order.download()] = np.arange(5000)
    expected = np.argsort(rank[mesh.triangles].min(axis=1), kind="stable")
    assert np.array_equal(state.triangles[: state.slots].download()["vertex"], rank[mesh.triangles[expected]])


def test_links_follow_from_the_corners(device):
    """The oracle is a dictionary of edges; a boundary edge links to a subsegment that links back."""
    state, _ = admit(mesh_of(3000), device)
    triangles, subsegments = state.triangles[: state.slots].download(), state.subsegments.download()
    buffers = {}
    for t, corners in enumerate(triangles["vertex"].tolist()):
        buffers |= {(corners[(k + 1) % 3], corners[(k + 2) % 3]): (t, k) for k in range(3)}
    for (u, v), (t, k) in buffers.items():
        link = int(triangles["link"][t, k])
        if (v, u) in buffers:
            assert link == buffers[v, u][0]
        else:
            assert tuple(subsegments[~link].tolist()) == (u, v, t, -1)


# Ends of segments


def test_the_outline_holds_only_ends_of_segments(device):
    mesh = dmr.generate("plate", 500)
    state, _ = admit(mesh, device)
    subsegments = state.subsegments[: state.subsegments_count]
    outline = outline_of(subsegments, state.points)
    order, listed = state.order.download(), subsegments.download()
    assert set(outline.vertices.tolist()) == set(listed["from"].tolist()) | set(listed["to"].tolist())
    assert np.array_equal(outline.points, mesh.vertices[order[outline.vertices]])
    assert np.array_equal(outline.vertices[outline.subsegments["from"]], listed["from"])
    assert np.array_equal(outline.vertices[outline.subsegments["to"]], listed["to"])


def test_small_corners_are_marked_at_their_vertices(device):
    """A wedge of 20 degrees beside a wide corner: its apex is acute, and an anchor for the ends of its segments."""
    angle = np.radians(20)
    mesh = dmr.Mesh([[9, 9], [0, 0], [1, 0], [np.cos(angle), np.sin(angle)]], [[1, 2, 3]])
    state, _ = admit(mesh, device)
    rank = np.argsort(state.order.download())
    acute, anchor = state.acute.download(), state.anchor.download()
    assert acute[rank].tolist() == [0, 1, 0, 0]
    assert anchor[rank].tolist() == [-1, -1, rank[1], rank[1]]


def acute_by_arctangents(listed, points):
    """Which vertices have two neighbouring segments that enclose less than 60 degrees of the domain."""
    flags = np.zeros(len(points), np.uint8)
    for v in range(len(points)):
        leaving = []
        for tail, head, _, right in listed.tolist():
            for near, far, follows in ((tail, head, True), (head, tail, right >= 0)):
                if near == v:
                    x, y = points[far] - points[v]
                    leaving.append((np.degrees(np.arctan2(y, x)), follows))
        leaving.sort()
        for (angle, follows), (following, _) in zip(leaving, leaving[1:] + leaving[:1], strict=True):
            flags[v] |= follows and 0 < (following - angle) % 360 < 60
    return flags


def last_acute_ends(listed, acute):
    """By vertex, the acute corner that the last segment joins it to, segments that end at it first; or -1."""
    ends = [-1] * len(acute)
    for near, far in (("from", "to"), ("to", "from")):
        for a, b in zip(listed[near].tolist(), listed[far].tolist(), strict=True):
            ends[b] = a if acute[a] else ends[b]
    return ends


def test_acute_corners_and_anchors_agree_with_arctangents(device):
    """Domains of random segments, some of them with vertices where parts of the domain only touch."""
    rng = np.random.default_rng(5)
    found = []
    for count in range(3, 33):
        pairs = rng.integers(0, count, (count // 2, 2))
        domain = dmr.Pslg(rng.random((count, 2)), pairs[pairs[:, 0] != pairs[:, 1]])
        mesh = dmr.triangulate(domain, convex_hull=True)
        if count % 2:
            mesh = dmr.Mesh(mesh.vertices, mesh.triangles[rng.random(len(mesh.triangles)) < 0.8])
        if not len(mesh.triangles):
            continue
        state, _ = admit(mesh, device)
        listed = state.subsegments.download()[: state.subsegments_count]
        points = state.points.download().view(np.float64).reshape(-1, 2)[: state.vertices]
        flags = acute_by_arctangents(listed, points)
        assert np.array_equal(state.acute.download(), flags) and state.any_acute == flags.any()
        assert state.anchor.download().tolist() == last_acute_ends(listed, flags)
        ends = np.bincount(np.concatenate([listed["from"], listed["to"]]), minlength=len(points))
        found += ends[flags == 1].tolist()
    assert 2 in found and 3 in found


# Angles


def angles_by_arctangents(mesh):
    """All angles in degrees."""
    corners = mesh.vertices[mesh.triangles]
    found = []
    for k in range(3):
        first, second = corners[:, k - 2] - corners[:, k], corners[:, k - 1] - corners[:, k]
        cross = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        found.append(np.degrees(np.arctan2(cross, (first * second).sum(axis=1))))
    return np.concatenate(found)


@pytest.mark.parametrize("count", [4, 5, 50, ANGLE_TILE // 2, 3 * ANGLE_TILE])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_angle_range_agrees_with_arctangents(device, count, seed):
    mesh = mesh_of(count, seed)
    state, _ = admit(mesh, device)
    angles = angles_by_arctangents(mesh)
    assert _angle_range(state) == pytest.approx((angles.min(), angles.max()), abs=1e-6)


def test_the_angle_range_of_acute_triangles(device):
    """Where the largest angle is below 90 degrees its cosine is positive, too."""
    rows, height = 40, np.sqrt(0.75)
    j, i = np.divmod(np.arange(rows * rows), rows)
    vertices = np.column_stack([i + 0.5 * j, height * j + 0.001 * np.sin(i)])
    at = (np.arange(rows - 1)[:, None] * rows + np.arange(rows - 1)).ravel()
    lower, upper = np.column_stack([at, at + 1, at + rows]), np.column_stack([at + 1, at + rows + 1, at + rows])
    mesh = dmr.Mesh(vertices, np.concatenate([lower, upper]))
    state, _ = admit(mesh, device)
    angles = angles_by_arctangents(mesh)
    assert angles.max() < 61
    assert _angle_range(state) == pytest.approx((angles.min(), angles.max()), abs=1e-9)
