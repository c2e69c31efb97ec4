"""A mesh against an outline whose segments cross, overlap or coincide, or that is a convex hull."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from time import process_time

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.checker import validate
from tests.support.meshes import triangulated
from tests.support.outlines.meshed import (
    DOMAIN,
    MARKERS,
    SEGMENTS,
    VERTICES,
    changed,
    indices,
    meshed,
)
from tests.support.planar import crossing, exact


def test_segments_outside_and_in_holes_may_be_absent():
    """A whisker outside, a segment from inside to outside, an island in a hole that is a hole itself."""
    graph = Pslg(
        [*VERTICES, [12, 1], [13, 2], [2.9, 2.9], [3.3, 2.9], [3.1, 3.2]],
        [*SEGMENTS, [12, 13], [2, 13], [14, 15], [15, 16], [16, 14]],
        holes=[[3, 2.5], [3.1, 3]],
        regions=DOMAIN.regions,
        segment_markers=[*MARKERS, 20, 21, 22, 22, 22],
    )
    plain = meshed(graph, segments=SEGMENTS, markers=MARKERS)
    assert validate(plain, input=graph).ok
    # Without its hole point the island is part of the domain.
    report = validate(plain, input=Pslg(graph.vertices, graph.segments, holes=graph.holes[:1]))
    assert indices(report, "input segments") == {("input segment", s) for s in (13, 14, 15)}
    # Wanted, as the domain lies on both sides, though it encloses nothing.
    inside = Pslg([*VERTICES, [1, 6], [2, 7]], [*SEGMENTS, [12, 13]], holes=[[3, 3]], segment_markers=[*MARKERS, 1])
    report = validate(meshed(inside, segments=SEGMENTS, markers=MARKERS), input=inside)
    assert indices(report, "input segments") == {("input segment", 11)}
    assert validate(meshed(inside), input=inside).ok


def test_duplicates_stand_for_one_another():
    graph = Pslg([*VERTICES, VERTICES[7], VERTICES[9], [20, 20], [20, 20]], SEGMENTS, holes=[[3, 3]])
    for pairs in ({}, {7: 12}, {9: 13}, {7: 12, 9: 13}):
        segments = [[pairs.get(a, a), pairs.get(b, b)] for a, b in SEGMENTS]
        mixed = Pslg(graph.vertices, [[0, 12], *SEGMENTS[1:9], [7, 8], [13, 10]], holes=graph.holes)
        mesh = meshed(Pslg(VERTICES, SEGMENTS, holes=[[3, 3]]))
        table = np.arange(len(mesh.vertices)) + 4 * (np.arange(len(mesh.vertices)) >= 12)
        for old, new in pairs.items():
            table[old] = new
        vertices = np.concatenate([graph.vertices, mesh.vertices[12:]])
        renumbered = Mesh(vertices, table[mesh.triangles], segments=table[mesh.segments])
        for other in (graph, mixed, Pslg(graph.vertices, segments, holes=graph.holes)):
            report = validate(renumbered, input=other)
            assert set(report.counts) <= {"vertex markers"}, report.lines()


CROSSED = Pslg(
    [[0, 0], [3, 0.1], [3.3, 3], [0.2, 2.9], [0.7, 0.3], [2.9, 2.7], [0.4, 2.3], [2.2, 0.7]],
    [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [6, 7]],
    segment_markers=[1, 1, 1, 1, 5, 6],
)


def test_crossings_are_rounded_points_of_both_segments():
    place = [float(x) for x in crossing(*CROSSED.vertices[[4, 5, 6, 7]])]
    cut = [*CROSSED.segments[:4].tolist(), [4, 8], [8, 5], [6, 8], [8, 7]]
    markers = [1, 1, 1, 1, 5, 5, 6, 6]
    mesh = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=markers)
    assert validate(mesh, input=CROSSED).ok
    wrong = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=[*markers[:-1], 5])
    report = validate(wrong, input=CROSSED)
    assert report.counts["markers"] == 4
    assert "must have 6" in report.failures[0].message
    moved = mesh.vertices.copy()
    moved[8] += [0, 4 * np.spacing(3.0)]
    report = validate(changed(mesh, vertices=moved), input=CROSSED)
    assert indices(report, "input segments") == {("input segment", 5)}
    assert "more than two ulps" in report.failures[0].message
    moved[8] = place[0] + 0.01, place[1]
    report = validate(changed(mesh, vertices=moved), input=CROSSED)
    assert indices(report, "input segments") == {("input segment", 4), ("input segment", 5)}
    assert "has no vertex of the result at the crossing at" in report.failures[0].message


def test_pieces_of_crossed_segments_keep_within_two_ulps():
    (x, y), ulp = crossing(*CROSSED.vertices[[4, 5, 6, 7]]), float(np.spacing(2.9))
    place = [float(x), float(y)]
    cut = [*CROSSED.segments[:4].tolist(), [4, 8], [8, 5], [6, 8], [8, 7]]
    mesh = meshed(CROSSED, options="p", segments=cut, crossings=[place], markers=[1, 1, 1, 1, 5, 5, 6, 6])
    a, b = map(exact, CROSSED.vertices[[4, 5]])
    dx, dy = b[0] - a[0], b[1] - a[1]
    vertex = next(
        v
        for v in range(9, len(mesh.vertices))
        if abs(float(dx * (exact(mesh.vertices[v])[1] - a[1]) - dy * (exact(mesh.vertices[v])[0] - a[0]))) < 1e-12
    )
    outcomes = set()
    for steps in range(-16, 17):
        vertices = mesh.vertices.copy()
        vertices[vertex, 1] += steps * ulp / 2
        v = exact(vertices[vertex])
        far = abs(dx * (v[1] - a[1]) - dy * (v[0] - a[0])) / (Fraction(ulp) * (abs(dx) + abs(dy)))
        report = validate(changed(mesh, vertices=vertices), input=CROSSED)
        assert indices(report, "input segments") == ({("input segment", 4)} if far > 2 else set())
        outcomes.add(min(2, int(far)))
    assert outcomes == {0, 1, 2}


def test_overlapping_segments_share_their_edges():
    """Three segments along one line, with vertices of others on them; pieces may have the marker of any of them."""
    vertices = [[0, 0], [8, 0], [8, 4], [0, 4], [1, 1], [3, 2], [5, 3], [7, 4], [3, 0], [1, 4]]
    graph = Pslg(
        vertices,
        [[0, 8], [8, 1], [1, 2], [2, 7], [7, 9], [9, 3], [3, 0], [4, 6], [5, 7], [5, 4], [5, 8], [9, 5]],
        segment_markers=[1, 1, 1, 1, 1, 1, 1, 7, 8, 9, 2, 3],
    )
    cut = [*graph.segments[:7].tolist(), [4, 5], [5, 6], [6, 7], [5, 8], [9, 5]]
    for first in (7, 9):
        for second in (7, 8):
            mesh = meshed(graph, options="p", segments=cut, markers=[*[1] * 7, first, second, 8, 2, 3])
            report = validate(mesh, input=graph)
            # A vertex has the marker of the first one that has a marker.
            assert report.counts.keys() == ({"vertex markers"} if first == 9 or second == 8 else set())
    report = validate(meshed(graph, options="p", segments=cut, markers=[*[1] * 7, 8, 7, 8, 2, 3]), input=graph)
    assert report.counts["markers"] == 4
    assert "must have 7 or 9" in report.failures[0].message
    lost = meshed(graph, options="p", segments=[s for s in cut if s != [6, 7]], markers=[*[1] * 7, 7, 7, 2, 3])
    assert indices(validate(lost, input=graph), "input segments") == {("input segment", 8)}


def test_crossings_merged_by_rounding():
    """Lines that cross within one unit in the last place: one vertex stands for several crossings."""
    # Segments of slopes 1, -1 and about 0, all through (1, 1) but for tiny shifts.
    tiny = 2.0**-54
    graph = Pslg(
        [[-1, -1], [5, -1], [5, 3], [-1, 3], [0, tiny], [2, 2], [0, 2], [2, tiny], [0, 1], [4, 1 + 4 * tiny]],
        [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [6, 7], [8, 9]],
    )
    places = {tuple(float(x) for x in crossing(*graph.vertices[[*graph.segments[i], *graph.segments[j]]]))
              for i, j in ((4, 5), (4, 6), (5, 6))}  # fmt: skip
    assert len(places) == 1
    cut = [*graph.segments[:4].tolist(), *([k, 10] for k in range(4, 10))]
    mesh = meshed(graph, options="p", segments=cut, crossings=list(places), markers=[0] * len(cut), pieces=1)
    report = validate(mesh, input=graph)
    assert report.ok, report.lines()
    broken = changed(mesh, segments=mesh.segments[(mesh.segments != 9).all(axis=1)], segment_markers=None)
    assert indices(validate(broken, input=graph), "input segments") == {("input segment", 6)}


def noisy_cells(seed, side=3):
    """Square cells that were meant to share their edges: rotated, each with separate vertices, off by an ulp or so."""
    rng = np.random.default_rng(seed)
    turn = rng.random() * 6
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    cells = [np.add(corners, [i, j]) / side @ rotation + 3 for i in range(side) for j in range(side)]
    vertices = np.concatenate([cell + rng.integers(-1, 2, cell.shape) * np.spacing(cell) for cell in cells])
    first = 4 * np.arange(side * side)
    segments = np.concatenate([np.stack([first + k, first + (k + 1) % 4], axis=1) for k in range(4)])
    return Pslg(vertices, segments)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7])
def test_cells_sharing_edges_up_to_rounding(seed):
    """Nearly all segments run along others within an ulp, and cross them somewhere."""
    graph = noisy_cells(seed)
    mesh = dmr.triangulate(graph)
    report = validate(mesh, input=graph)
    assert report.ok, report.lines()
    # Errors larger than rounding are still found.
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    middle = np.abs(centroids - graph.vertices[16:20].mean(axis=0)).max(axis=1) < 0.1
    assert middle.any()
    for wrong in (
        Mesh(mesh.vertices, mesh.triangles[~middle], segments=mesh.segments),
        Mesh(mesh.vertices, mesh.triangles, segments=mesh.segments[np.abs(lengths(mesh) - 1 / 3) > 1e-9]),
    ):
        found = validate(wrong, input=graph)
        assert not found.ok
        assert {f.element for f in found.failures} <= {"input segment", "triangle", "segment"}


def lengths(mesh):
    """The lengths of the segments of a mesh."""
    return np.hypot(*(mesh.vertices[mesh.segments[:, 0]] - mesh.vertices[mesh.segments[:, 1]]).T)


def touching_holes(overlap):
    """Two holes, circles of 32 corners, of which the second one begins `overlap` before the end of the first one."""
    first = domains.circle_points(0.25, 32, (1.5, 1.5))
    second = 2 * first[4] - first - overlap
    return domains.polygon([(-1, -1), (6, -1), (6, 6), (-1, 6)], [first, second])


@pytest.mark.parametrize("ulps", [(1, 0), (0, 1), (1, 1), (2, 0), (-1, 0), (-1, 2)])
def test_a_face_of_the_domain_that_rounding_has_closed_may_be_missing(ulps):
    """Holes that overlap by an ulp: between their two crossings, the exact domain has a face that no mesh can have."""
    graph = touching_holes(np.ldexp(np.array(ulps, float), -52))
    for mesh in (dmr.triangulate(graph), dmr.refine(graph).mesh):
        report = validate(mesh, input=graph)
        assert report.ok, report.failures


def test_a_wider_face_of_the_domain_may_not_be_missing():
    graph = touching_holes(np.full(2, 2.0**-30))
    mesh = dmr.triangulate(graph)
    assert validate(mesh, input=graph).ok
    within = np.abs(mesh.vertices[mesh.triangles] - graph.vertices[8]).max(axis=(1, 2)) < 1e-6
    assert within.sum() == 2
    edges = {frozenset(edge) for triangle in mesh.triangles[~within].tolist() for edge in combinations(triangle, 2)}
    kept = [frozenset(segment) in edges for segment in mesh.segments.tolist()]
    closed = Mesh(mesh.vertices, mesh.triangles[~within], segments=mesh.segments[kept])
    assert "input segments" in validate(closed, input=graph).counts


def test_convex_hull_as_domain():
    open_outline = Pslg([[0, 0], [4, 0], [4, 3], [2, 1], [0, 3], [2, 0]], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    hull = triangulated(open_outline.vertices.copy(), "pc", segments=open_outline.segments.copy())
    outline = meshed(open_outline, pieces=1)
    assert validate(hull, input=open_outline, convex_hull=True).ok
    report = validate(hull, input=open_outline)
    assert set(report.counts) >= {"domain", "stray segments"}
    assert indices(report, "domain") == {("input segment", 2), ("input segment", 3)}
    assert validate(outline, input=open_outline).ok
    report = validate(outline, input=open_outline, convex_hull=True)
    assert ("mesh", None) in indices(report, "input segments")
    assert "edge of the convex hull from 2 at" in " ".join(f.message for f in report.failures)
    points = Pslg(np.random.default_rng(4).random((50, 2)), np.empty((0, 2), np.int32))
    cloud = triangulated(points.vertices.copy())
    assert validate(cloud, input=points, convex_hull=True).ok
    assert validate(cloud, input=points).ok  # without segments, this is intended
    assert "input segments" in validate(without_hull_triangle(cloud), input=points).counts


def without_hull_triangle(mesh):
    """A copy without one of the triangles at the boundary."""
    return Mesh(mesh.vertices, np.delete(mesh.triangles, np.flatnonzero((mesh.neighbours < 0).any(axis=1))[0], axis=0))


def test_invalid_options_are_refused():
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    with pytest.raises(OptionError, match="convex_hull"):
        validate(mesh, input=mesh, convex_hull=True)
    with pytest.raises(OptionError, match="input must be a Mesh, a Pslg, points"):
        validate(mesh, input="domain.poly")


@pytest.mark.slow
def test_a_hundred_thousand_segments_take_seconds():
    count = 50_000
    rng = np.random.default_rng(0)
    angles = (np.arange(count) + 0.5 * rng.random(count)) * (2 * np.pi / count)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    start = np.arange(count)
    outline = np.stack([start, (start + 1) % count], axis=1)
    vertices = np.concatenate([ring * (1 + 1e-4 * rng.random((count, 1))), ring * 0.5])
    graph = Pslg(vertices, np.concatenate([outline, outline + count]), holes=[[0, 0]])
    mesh = meshed(graph, pieces=1, options="p")
    begin = process_time()
    report = validate(mesh, input=graph)
    assert process_time() - begin < 20
    assert report.ok
