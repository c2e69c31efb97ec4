"""Long walls that may not be split: large cavities that reach beyond them are given up without being grown."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.memory import open_device
from dmr.refinement.setup import admission


def strip(length: float, height: float = 1.0) -> dmr.Pslg:
    corners = [[0, 0], [length, 0], [length, height], [0, height]]
    return dmr.Pslg(corners, [[0, 1], [1, 2], [2, 3], [3, 0]])


def zigzag(teeth: int) -> dmr.Pslg:
    """A long straight wall, and another one of many short pieces beside it."""
    x = np.linspace(0.0, 1.0, teeth)
    top = np.stack([x, 0.05 + 0.02 * np.random.default_rng(0).random(teeth)], axis=1)
    points = np.concatenate([[[0, 0], [1, 0]], top[::-1]])
    return dmr.Pslg(points, np.stack([np.arange(len(points)), np.roll(np.arange(len(points)), -1)], axis=1))


def as_set(mesh: dmr.Mesh) -> set[frozenset[tuple[float, ...]]]:
    """The triangles by their corners' coordinates."""
    return {frozenset(map(tuple, corners)) for corners in mesh.vertices[mesh.triangles].tolist()}


@pytest.mark.parametrize("keep", ["all", "boundary"])
def test_cavities_beyond_a_wall_are_not_grown_in_large_records(keep, device_options):
    fine = dmr.refine(strip(100), size=0.2, keep_segments=keep, **device_options)
    assert fine.complete
    assert fine.unrefined == {"kept_segment": 1007}
    assert fine.outcomes["overflowed"] < 20  # 8,000 and more without the test against walls
    assert fine.rounds < 100
    assert dmr.validate(fine.mesh, input=strip(100)).ok


@pytest.mark.parametrize(
    ("outline", "size"), [(strip(60), 0.2), (strip(20, 1.3), 0.1), (zigzag(200), None), (zigzag(100), 0.01)]
)
def test_the_mesh_is_as_good_as_without_the_test_against_walls(outline, size, monkeypatch):
    options = {"size": size, "keep_segments": "all", "device": "cpu", "threads": 1}
    fine = dmr.refine(outline, **options)
    monkeypatch.setattr(admission, "MOST_WALLS", 0)
    slow = dmr.refine(outline, **options)
    assert fine.unrefined == slow.unrefined
    assert as_set(fine.mesh) == as_set(slow.mesh)  # in another order, perhaps


def test_walls_are_the_longest_segments(monkeypatch):
    monkeypatch.setattr(admission, "MOST_WALLS", 2)
    state, _ = admission.admit(dmr.triangulate(strip(3)), open_device("cpu", 1), "all")
    assert state.walls is not None
    ends, places = state.subsegments.download(), state.points.download()
    for wall in state.walls.download():
        assert abs(places["x"][ends["to"][wall]] - places["x"][ends["from"][wall]]) == 3.0


def test_no_wall_is_given_where_a_segment_inside_may_be_split():
    inside = dmr.triangulate(dmr.Pslg([*strip(100).vertices, [20, 0.5], [80, 0.6]], [*strip(100).segments, [4, 5]]))
    device = open_device("cpu", 1)
    assert admission.admit(inside, device, "boundary")[0].walls is None
    assert admission.admit(inside, device, "none")[0].walls is None
    walls = admission.admit(inside, device, "all")[0].walls
    assert walls is not None and walls.size == 5


def test_the_boundary_of_a_mesh_without_segments_counts(device_options):
    mesh = dmr.Mesh([[0, 0], [100, 0], [100, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    fine = dmr.refine(mesh, size=0.2, keep_segments="all", **device_options)
    assert fine.unrefined["kept_segment"] > 900
    assert fine.outcomes["overflowed"] < 20


@pytest.mark.parametrize("options", [{"threads": 3}, {"threads": 1, "loop": "host"}], ids=str)
def test_the_same_bits_with_threads_and_by_the_host(options):
    one = dmr.refine(strip(100), size=0.2, keep_segments="all", device="cpu", threads=1)
    other = dmr.refine(strip(100), size=0.2, keep_segments="all", device="cpu", **options)
    assert one.mesh.triangles.tobytes() == other.mesh.triangles.tobytes()
    assert one.mesh.vertices.tobytes() == other.mesh.vertices.tobytes()
