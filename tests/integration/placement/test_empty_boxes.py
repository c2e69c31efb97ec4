"""First points in the empty boxes of a quadtree, where an outline surrounds nothing."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.domains import circle_points, polygon
from dmr.errors import InvalidMeshError
from dmr.memory import constant, open_device
from dmr.refinement.options import RefineOptions
from dmr.refinement.placement.empty_boxes import first_points
from dmr.refinement.setup.admission import admit
from dmr.refinement.strategies.first_points import count_needles, is_around_nothing
from tests.support.digests import result_summary
from tests.support.meshes import circle_outline

FULL = constant("FULL", "placement/empty_boxes.cu")
OFF_CENTER, CLEARANCE = 0.2, 0.25  # in sides of the box: of a point from its center, and from all segments


def placed_in(mesh: dmr.Mesh) -> np.ndarray:
    """The first points of a mesh, (n, 2)."""
    device = open_device("cpu", 1)
    with device.lock, device.current:
        return first_points(mesh, admit(mesh, device)[0])


def surrounds_nothing(mesh: dmr.Mesh, **options) -> bool:
    device = open_device("cpu", 1)
    with device.lock, device.current:
        state = admit(mesh, device)[0]
        return is_around_nothing(state, RefineOptions(**options), count_needles(state))


def empty_boxes(vertices: np.ndarray) -> list[tuple[float, float, float]]:
    """The centers and sides of the empty quarters of boxes with more than FULL vertices, by a recursive quadtree."""
    low = vertices.min(axis=0)
    found = []

    def divide(inside: np.ndarray, corner: np.ndarray, side: float) -> None:
        half = side / 2
        for quarter in np.ndindex(2, 2):
            at = corner + half * np.array(quarter)
            members = inside[((inside >= at) & (inside < at + half)).all(axis=1)]
            if not len(members):
                found.append((*(at + half / 2), half))
            elif len(members) > FULL:
                divide(members, at, half)

    side = float((vertices.max(axis=0) - low).max())
    divide(np.minimum(vertices, np.nextafter(low + side, low)), low, side)
    return found


def distances(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, s) the distances of points from segments, (s, 2, 2)."""
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    part = ((points[:, None] - start) * way).sum(axis=2) / (way * way).sum(axis=1)
    nearest = start + np.clip(part, 0, 1)[:, :, None] * way
    return np.hypot(*np.moveaxis(points[:, None] - nearest, 2, 0))


def crossings(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n,) how many segments, (s, 2, 2), lie above points, which have none of the abscissas."""
    (ux, uy), (vx, vy) = ends[:, 0].T, ends[:, 1].T
    x, y = points[:, :1], points[:, 1:]
    across = (ux > x) != (vx > x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (across & (uy + (x - ux) / (vx - ux) * (vy - uy) > y)).sum(axis=1)


DOMAINS = {
    "circle": circle_outline(700),
    "ring": polygon(circle_points(2.0, 1500), holes=[circle_points(0.9, 900, (0.3, 0.2))]),
    "beside long walls": polygon([(0, 0), (3, 0), (3, 1), (0, 1)], holes=[circle_points(0.3, 600, (0.5, 0.53))]),
    "with an inner segment": dmr.Pslg(
        np.concatenate([circle_points(1.0, 700), [(-0.5, -0.4), (0.6, 0.3)]]),
        np.concatenate([np.stack([np.arange(700), (np.arange(700) + 1) % 700], axis=1), [(700, 701)]]),
    ),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_there_is_a_point_in_each_empty_box_that_is_far_from_segments(name):
    mesh = dmr.triangulate(DOMAINS[name])
    placed, outline = placed_in(mesh), mesh.vertices[mesh.segments]
    boxes = np.array(empty_boxes(mesh.vertices))
    reach = np.abs(placed[:, None] - boxes[:, :2]).max(axis=2) / boxes[:, 2]
    own = reach.argmin(axis=1)
    assert (reach.min(axis=1) <= OFF_CENTER * (1 + 1e-9)).all() and len(set(own.tolist())) == len(placed)
    assert len(placed) > 10
    assert (distances(placed, outline).min(axis=1) >= 0.999 * CLEARANCE * boxes[own, 2]).all()
    boundary = outline[: len(outline) - (name == "with an inner segment")]
    assert (crossings(placed, boundary) % 2 == 1).all()
    # Of the boxes without a point, a point at any place of the middle would be outside or near to a segment.
    rest = boxes[np.setdiff1d(np.arange(len(boxes)), own)]
    outside = crossings(rest[:, :2], boundary) % 2 == 0
    near = distances(rest[:, :2], outline).min(axis=1) < (CLEARANCE + np.sqrt(2) * OFF_CENTER) * rest[:, 2]
    assert (outside | near).all()


def test_only_outlines_around_nothing_have_them():
    assert surrounds_nothing(dmr.triangulate(circle_outline(400)))
    assert not surrounds_nothing(dmr.triangulate(circle_outline(60)))
    assert not surrounds_nothing(dmr.triangulate(circle_outline(400)), min_angle=1.9)
    assert not surrounds_nothing(dmr.generate("random", 3000, seed=1))
    fine = dmr.refine(dmr.generate("random", 3000, seed=1), device="cpu")
    assert "first" not in fine.steiner and "place" not in fine.seconds


@pytest.mark.parametrize("name", DOMAINS)
def test_results_are_right_and_the_same_everywhere(name, device_options):
    domain = DOMAINS[name]
    fine = dmr.refine(domain, **device_options)
    assert fine.complete and fine.steiner["first"] > 0
    assert sum(fine.steiner.values()) == len(fine.mesh.vertices) - len(domain.vertices)
    assert np.array_equal(fine.mesh.vertices[: len(domain.vertices)], domain.vertices)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok
    assert result_summary(fine) == result_summary(dmr.refine(domain, device="cpu", threads=1, loop="host"))


def test_a_polygon_of_many_corners_needs_few_rounds_and_no_large_records():
    """With first points at small angles it took 109 rounds, and 5,290 cavities overflowed their records."""
    fine = dmr.refine(dmr.domains.regular_polygon(1000), device="cpu")
    assert fine.rounds < 50 and fine.outcomes["overflowed"] < 100
    assert len(fine.mesh.triangles) < 3500


def test_a_mesh_keeps_what_it_carries(device_options):
    """Vertices, attributes, area bounds and markers of a user's mesh, which is not Delaunay."""
    flat = dmr.triangulate(DOMAINS["ring"])
    corners = flat.triangles.copy()
    found = [(t, e) for t, e in zip(*np.nonzero(flat.neighbours >= 0), strict=True) if t < flat.neighbours[t, e]]
    for t, e in found:  # the first edge that can be flipped
        other = flat.neighbours[t, e]
        apex = next(v for v in corners[other] if v not in corners[t])
        a, u, v = (corners[t, (e + k) % 3] for k in range(3))
        made = np.array([(a, u, apex), (a, apex, v)])
        p = flat.vertices[made]
        x, y = (p[:, 1:] - p[:, :1]).transpose(2, 0, 1)
        if (x[:, 0] * y[:, 1] - x[:, 1] * y[:, 0] > 1e-6).all():
            corners[[t, other]] = made
            break
    markers = np.arange(len(flat.vertices)) % 5
    mesh = dmr.Mesh(
        flat.vertices, corners, flat.segments, segment_markers=flat.segment_markers, vertex_markers=markers,
        vertex_attributes=flat.vertices @ [[2.0, 1.0], [-1.0, 3.0]],
        triangle_attributes=np.where(flat.vertices[corners].mean(axis=1)[:, :1] > 0, 7.0, 3.0),
        area_bounds=np.full(len(corners), 0.01),
    )  # fmt: skip
    fine = dmr.refine(mesh, **device_options)
    assert fine.flips > 0 and fine.steiner["first"] > 0 and any("not Delaunay" in each for each in fine.warnings)
    assert dmr.validate(fine.mesh, input=mesh, min_angle=30, max_area=0.01).ok
    assert np.array_equal(fine.mesh.vertex_markers[: len(markers)], markers)
    np.testing.assert_allclose(
        fine.mesh.vertex_attributes, fine.mesh.vertices @ [[2.0, 1.0], [-1.0, 3.0]], rtol=1e-9, atol=1e-9
    )
    assert set(np.unique(fine.mesh.triangle_attributes)) == {3.0, 7.0}
    with pytest.raises(InvalidMeshError, match="Delaunay"):
        dmr.refine(mesh, strict=True, **device_options)


@pytest.mark.parametrize("kept", ["boundary", "all"])
def test_kept_segments_stay_whole(kept, device_options):
    domain = DOMAINS["with an inner segment"]
    fine = dmr.refine(domain, keep_segments=kept, min_angle=20, **device_options)
    assert fine.steiner["first"] > 0 and dmr.validate(fine.mesh, input=domain).ok
    whole = len(domain.segments) if kept == "all" else len(domain.segments) - 1
    assert (np.sort(fine.mesh.segments, axis=1) < len(domain.vertices)).all(axis=1).sum() >= whole


def test_the_points_move_when_the_mesh_is_optimised(device_options):
    domain = DOMAINS["circle"]
    fine = dmr.refine(domain, optimize=True, **device_options)
    assert fine.steiner["first"] > 0 and fine.smoothing.moves > 0
    assert np.array_equal(fine.mesh.vertices[: len(domain.vertices)], domain.vertices)
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok


@pytest.mark.slow
def test_tiles_begin_with_them(tmp_path):
    """The coarse mesh of a run in tiles; its points in empty boxes are not input vertices."""
    domain = circle_outline(2000)
    parts = dmr.distributed.refine(domain, tmp_path / "out", max_area=1e-4, tile_triangles=10_000, device="cpu")
    mesh = parts.gather()
    assert len(parts) > 3 and not parts.unrefined
    assert np.array_equal(mesh.vertices[: len(domain.vertices)], domain.vertices)
    assert dmr.validate(mesh, input=domain, min_angle=30, max_area=1e-4).ok
    assert len(mesh.triangles) < 1.02 * len(dmr.refine(domain, max_area=1e-4, device="cpu").mesh.triangles)
