"""Only meshes of the project's own triangulation skip the check of their boundary."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import dmr
from dmr.errors import InvalidMeshError
from dmr.mesh.provenance import is_triangulation, links_of
from dmr.refinement.setup import admission
from dmr.triangulation.sweep import sweep_edges

SQUARE = dmr.Pslg([[0, 0], [4, 0], [4, 4], [0, 4], [1, 1], [2, 1], [1, 2]], [[0, 1], [1, 2], [2, 3], [3, 0]])

# Two triangles that overlap, in one array of corners.
OVERLAPPING = [[0, 0], [4, 0], [0, 4], [1, 1], [5, 1], [1, 5]]


def same_content(mesh):
    return dmr.Mesh(mesh.vertices, mesh.triangles, segments=mesh.segments)


@pytest.mark.parametrize(
    "other",
    [copy.copy, copy.deepcopy, lambda mesh: pickle.loads(pickle.dumps(mesh)), lambda mesh: replace(mesh), same_content],
    ids=["copy", "deepcopy", "pickle", "replace", "constructor"],
)
def test_only_the_triangulated_object_itself_is_trusted(other):
    mesh = dmr.triangulate(SQUARE)
    assert is_triangulation(mesh)
    assert not is_triangulation(other(mesh))


def test_a_mesh_whose_arrays_were_replaced_is_checked(device):
    mesh = dmr.triangulate(SQUARE)
    object.__setattr__(mesh, "vertices", np.array([*OVERLAPPING, [9, 9]], float))
    object.__setattr__(mesh, "triangles", np.array([[0, 1, 2], [3, 4, 5]], np.int32))
    object.__setattr__(mesh, "segments", np.empty((0, 2), np.int32))
    object.__setattr__(mesh, "segment_markers", np.empty(0, np.int32))
    assert not is_triangulation(mesh)
    with pytest.raises(InvalidMeshError, match="boundary edge"):
        admission.admit(mesh, device)


def boundary(mesh):
    """(tails, heads) of the edges with one triangle."""
    sides = mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    both = {tuple(side) for side in sides.tolist()}
    return np.array([side for side in sides.tolist() if tuple(side[::-1]) not in both], np.int32).T


@pytest.mark.slow
def test_the_boundary_that_is_not_checked_is_sound():
    """Crossings, overlaps, holes and duplicates on small grids, rounded: the sweep would accept every mesh."""
    made = 0
    for turn in range(200):
        rng = np.random.default_rng([4, turn])
        vertices = rng.integers(0, rng.integers(3, 9), (rng.integers(4, 20), 2)) * rng.choice([1, 0.1, 1 / 3])
        segments = rng.integers(0, len(vertices), (rng.integers(0, 20), 2))
        try:
            mesh = dmr.triangulate(
                dmr.Pslg(vertices, segments, holes=vertices[: turn % 2] + 0.01), convex_hull=bool(turn % 3)
            )
        except InvalidMeshError:
            continue
        assert is_triangulation(mesh)
        assert sweep_edges(mesh.vertices, *boundary(mesh)) is None
        made += 1
    assert made > 100


def test_the_links_of_a_triangulation_are_those_of_its_mesh(device):
    """Crossings, holes and duplicates on small grids; admission is the same with and without the links."""
    made, orders = 0, set()
    for turn in range(40):
        rng = np.random.default_rng([7, turn])
        vertices = rng.integers(0, 9, (rng.integers(4, 30), 2)).astype(float)
        segments = rng.integers(0, len(vertices), (rng.integers(0, 25), 2))
        markers = rng.integers(0, 3, len(segments))
        pslg = dmr.Pslg(vertices, segments, holes=vertices[: turn % 2] + 0.01, segment_markers=markers)
        try:
            mesh = dmr.triangulate(pslg, convex_hull=bool(turn % 3))
        except InvalidMeshError:
            continue
        links, outside = links_of(mesh), same_content(mesh)
        assert np.array_equal(links.neighbours, outside.neighbours)
        triangle, edge = links.sides >> 2, links.sides & 3
        ends = mesh.triangles[triangle, (edge + 1) % 3], mesh.triangles[triangle, (edge + 2) % 3]
        assert np.array_equal(np.sort(np.column_stack(ends)), np.sort(mesh.segments))
        own, other = (admission.admit(each, device)[0] for each in (mesh, outside))
        counts = {"triangles": own.slots, "points": own.vertices, "acute": own.vertices, "order": own.vertices}
        for name in ("subsegments", "split_states"):
            counts[name] = own.subsegments_count
        for name, count in counts.items():
            assert np.array_equal(getattr(own, name)[:count].download(), getattr(other, name)[:count].download()), name
        made += 1
        orders.add(links.along is None)
    assert made > 20 and orders == {True, False}  # unknown with crossings


def test_a_mesh_whose_segments_were_replaced_has_no_links():
    mesh = dmr.triangulate(SQUARE)
    object.__setattr__(mesh, "segments", mesh.segments[::-1].copy())
    assert links_of(mesh) is None


def test_the_mesh_of_the_other_mesher_is_checked():
    pytest.importorskip("triangle")
    assert not is_triangulation(dmr.triangulate(SQUARE, mesher="triangle"))


def test_only_boundaries_of_foreign_meshes_are_checked(device, monkeypatch):
    checked = []
    monkeypatch.setattr(admission, "check_boundary", lambda *arguments: checked.append(arguments))
    mesh = dmr.triangulate(SQUARE)
    own = admission.admit(mesh, device)[0]
    assert not checked
    outside = admission.admit(same_content(mesh), device)[0]
    assert len(checked) == 1 and own.slots == outside.slots == len(mesh.triangles)
    used, there = (each.triangles[: each.slots].download() for each in (own, outside))  # what follows is never read
    assert np.array_equal(used, there)
