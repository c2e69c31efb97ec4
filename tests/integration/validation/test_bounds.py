"""Bounds of area and size, and triangles left unrefined, whose reasons the checker derives from the geometry."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr.distributed.tiles.patch import REASONS as PART_REASONS
from dmr.errors import OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.state.ending import Ending
from dmr.validation.bounds import unrefined
from dmr.validation.checker import validate
from dmr.validation.report import GIVEN_REASONS, REASONS
from tests.support.meshes import grid, triangulated

SQUARE = [[0, 1], [1, 2], [2, 3], [3, 0]]
BOX = Pslg([[0, 0], [1, 0], [1, 1], [0, 1]], SQUARE)


def failed(report, check):
    return {f.index for f in report.failures if f.check == check}


# ---- Areas and sizes ------------------------------------------------------------------------------------------------


def test_area_bounds_of_triangles_hold_exactly():
    mesh = Mesh(np.array([[0, 0], [3, 0], [3, 1], [0, 1]]) * 0.1, [[0, 1, 2], [0, 2, 3]])
    a, b, c = ([Fraction(float(x)) for x in mesh.vertices[v]] for v in mesh.triangles[0])
    area = ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2
    above = float(area) if float(area) >= area else float(np.nextafter(float(area), 1))
    for bound, wrong in ((above, set()), (np.nextafter(above, 0), {0}), (0.0, set()), (-1.0, set())):
        own = Mesh(mesh.vertices, mesh.triangles, area_bounds=[bound, 1.0])
        report = validate(own, min_angle=0)
        assert failed(report, "area bounds") == wrong
        assert report.ok == (not wrong)
        assert "area bounds" in validate(own).skipped
    report = validate(Mesh(mesh.vertices, mesh.triangles, area_bounds=[0.01, 0.1]), max_area=1)
    assert "at most 0.01 is allowed" in report.failures[0].message


@pytest.mark.parametrize("unit", [1e-140, 1e150])
def test_area_bounds_of_tiny_and_huge_meshes(unit):
    mesh = grid(np.arange(3.0) * unit)
    for factor, ok in ((0.5001, True), (0.4999, False)):
        bounds = np.full(len(mesh.triangles), factor * unit**2)
        assert validate(Mesh(mesh.vertices, mesh.triangles, area_bounds=bounds), min_angle=0).ok == ok


def test_a_refined_mesh_keeps_its_area_bounds():
    coarse = Mesh(BOX.vertices, [[0, 1, 2], [0, 2, 3]], area_bounds=[0.01, 0.0])
    fine = dmr.refine(coarse, device="cpu").mesh
    assert validate(fine, input=coarse, min_angle=30).ok
    merged = Mesh(fine.vertices, fine.triangles, area_bounds=np.full(len(fine.triangles), 0.01))
    assert "area bounds" in validate(merged, input=coarse, min_angle=30).counts
    lost = Mesh(fine.vertices, fine.triangles)
    assert validate(lost, input=coarse, min_angle=30).counts == {"area bounds": 1}
    assert validate(lost, min_angle=30).ok


def test_the_longest_edge_is_measured_against_the_size_at_the_centroid():
    mesh = grid(np.arange(5.0))
    longest = float(np.hypot(1, 1))
    assert validate(mesh, max_edge=lambda points: np.full(len(points), longest)).ok
    report = validate(mesh, max_edge=lambda points: np.full(len(points), longest * (1 - 1e-9)))
    assert report.counts == {"max edge": len(mesh.triangles)}
    assert "has an edge of length 1.414213562373" in report.failures[0].message
    # Small on the right only: centroids lie at 1/3 and 2/3 of the squares.
    report = validate(mesh, max_edge=lambda points: np.where(points[:, 0] > 2.5, 1.0, 2.0))
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    assert report.counts == {"max edge": int((centroids[:, 0] > 2.5).sum())}
    assert failed(report, "max edge") <= set(np.flatnonzero(centroids[:, 0] > 2.5).tolist())


def test_a_size_jump_at_a_centroid_is_evaluated_on_both_sides():
    mesh = Mesh([[0, 0], [0.3, 0], [0, 0.3]], [[0, 1, 2]])
    x = float((mesh.vertices[1, 0] - 0) / 3)
    for edge in (np.nextafter(x, 0), x, np.nextafter(x, 1)):
        assert validate(mesh, max_edge=lambda points, edge=edge: np.where(points[:, 0] < edge, 1.0, 0.1)).ok
        assert validate(mesh, max_edge=lambda points, edge=edge: np.where(points[:, 0] > edge, 1.0, 0.1)).ok
    assert not validate(mesh, max_edge=lambda points: np.where(points[:, 0] < x - 1e-9, 1.0, 0.1)).ok


def test_refinements_keep_their_size_bound():
    def size(points):
        return 0.05 + 0.2 * np.hypot(points[:, 0] - 0.5, points[:, 1])

    fine = dmr.refine(BOX, max_edge=size, device="cpu").mesh
    assert validate(fine, input=BOX, min_angle=30, max_edge=size).ok
    assert not validate(fine, input=BOX, max_edge=lambda points: 0.8 * size(points)).ok


def test_an_invalid_size_is_refused():
    mesh = grid(np.arange(2.0))
    functions = ((lambda p: -p[:, 0], "above 0"), (lambda p: p[:1, 0], "each of 2"))
    for wrong, sentence in (*functions, ("x", "function"), (-1, "above 0")):
        with pytest.raises(OptionError, match=sentence):
            validate(mesh, max_edge=wrong)
    assert validate(mesh, max_edge=lambda points: 1.5).ok


# ---- What refinement leaves -----------------------------------------------------------------------------------------

STRIP = Pslg([[0, 0], [10, 0], [10, 1], [0, 1], [7, 0.5], [8, 0.5]], [*SQUARE, [4, 5]])
# Two vertices one unit in the last place apart, and two triangles on the edge between them.
CLOSE = Pslg([*BOX.vertices.tolist(), [0.5, 0.5], [0.5 + 2.0**-53, 0.5]], SQUARE)


@pytest.mark.parametrize(
    ("pslg", "reason", "options"),
    [
        (STRIP, "kept_segment", {"keep_segments": "all"}),
        (STRIP, "kept_segment", {"keep_segments": "boundary"}),
        (CLOSE, "precision", {}),
    ],
)
def test_confirmed_reasons_excuse_unrefined_triangles(pslg, reason, options):
    result = dmr.refine(pslg, device="cpu", **options)
    assert result.complete
    listed = result.unrefined_triangles[reason]
    assert len(listed)
    report = validate(result.mesh, input=pslg, min_angle=30, unrefined=result.unrefined_triangles)
    assert report.ok, report.lines()
    assert report.unrefined[reason] == tuple(listed.tolist())
    assert f"{len(listed)} triangles may violate a bound" in "\n".join(report.lines())
    assert report.to_json()["unrefined"] == {reason: listed.tolist()}
    # The mesh alone is sufficient.
    assert validate(result.mesh, min_angle=30, unrefined=result.unrefined_triangles).ok
    below = failed(validate(result.mesh, input=pslg, min_angle=30), "angle")
    assert below
    # A triangle that is not listed, or under another reason, fails.
    lost = next(t for t in listed.tolist() if t in below)
    rest = {reason: [t for t in listed.tolist() if t != lost]}
    report = validate(result.mesh, input=pslg, min_angle=30, unrefined=rest)
    assert report.counts == {"angle": 1, "unrefined": 1}
    assert failed(report, "angle") == failed(report, "unrefined") == {lost}
    other = {"kept_segment": "precision", "precision": "budget"}[reason]
    report = validate(result.mesh, input=pslg, min_angle=30, unrefined={other: listed})
    assert failed(report, "angle") == below
    assert "unrefined" not in report.counts


def test_the_circles_beside_long_kept_walls_are_computed_once(monkeypatch):
    """The searches for a wall from hundreds of triangles pass the same ones."""
    width = 1.6 / 400
    strip = Pslg([[0, 0], [1, 0], [1, width], [0.3, 1.4 * width]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    fine = dmr.refine(strip, size=1 / 400, keep_segments="boundary", device="cpu")
    computed, circle = [], unrefined._circle
    monkeypatch.setattr(unrefined, "_circle", lambda corners: computed.append(1) or circle(corners))
    assert validate(fine.mesh, input=strip, min_angle=30, unrefined=fine.unrefined_triangles).ok
    assert len(fine.unrefined_triangles["kept_segment"]) > 400
    assert len(computed) <= len(fine.mesh.triangles)


def test_confirmed_reasons_excuse_areas_and_sizes():
    options = {"keep_segments": "all", "max_area": 0.05, "max_edge": lambda points: np.full(len(points), 0.4)}
    result = dmr.refine(STRIP, device="cpu", **options)
    bounds = {"max_area": 0.05, "max_edge": options["max_edge"], "min_angle": 30}
    assert validate(result.mesh, input=STRIP, unrefined=result.unrefined_triangles, **bounds).ok
    assert {"max edge", "max area"} <= set(validate(result.mesh, input=STRIP, **bounds).counts)


@pytest.mark.parametrize("reason", ["precision", "kept_segment", "budget"])
def test_no_reason_excuses_a_skinny_triangle_at_ordinary_coordinates(reason):
    """An unrefined mesh far from any kept segment: no claimed reason excuses it."""
    points = np.random.default_rng(5).random((400, 2)) * 0.5 + 0.25
    ring = np.linspace(0, 1, 41)[:-1]
    frame = [*([t, 0] for t in ring), *([1, t] for t in ring), *([1 - t, 1] for t in ring), *([0, 1 - t] for t in ring)]
    split = triangulated(np.array([*frame, *points.tolist()]))
    report = validate(split, min_angle=30)
    below = report.counts["angle"]
    assert below > 100
    everything = {reason: np.arange(len(split.triangles))}
    report = validate(split, min_angle=30, unrefined=everything)
    assert report.counts == {"angle": below}
    assert not report.unrefined.get(reason)


@pytest.mark.parametrize(("right", "most"), [(1.5, 12), (1.9, 15)])
def test_needles_are_excused_by_precision(right, most):
    """An altitude of 2^-49 of the largest coordinate excuses (8 to 16 units in the last place), larger ones do not."""
    for units, excused in ((4, True), (most, True), (most + 1, False), (40, False)):
        mesh = Mesh([[1, 1], [right, 1], [1.2, 1 + units * 2.0**-52], [1.2, 1.4]], [[0, 1, 2], [0, 2, 3], [1, 3, 2]])
        assert validate(mesh).counts.keys() <= {"delaunay"}
        report = validate(mesh, min_angle=1, unrefined={"precision": [0]})
        assert ("angle" not in report.counts) == excused


STEINER = ["petal", "off-center", "circumcenter"]


def nothing_is_unexplained(mesh, **options):
    """Refines, and checks all unrefined triangles. Returns the number left for lack of precision."""
    result = dmr.refine(mesh, min_angle=30, device="cpu", **options)
    assert result.complete
    report = validate(result.mesh, input=mesh, min_angle=30, unrefined=result.unrefined_triangles)
    assert report.ok, report.lines()
    return result.unrefined.get("precision", 0)


@pytest.mark.slow
@pytest.mark.parametrize("steiner", STEINER)
@pytest.mark.parametrize("side", [1.0, 1.5, 1.9])
def test_refinement_and_checker_agree_on_what_is_flat(side, steiner):
    """A vertex some units above the middle of a side: the triangle below is left where they are 2^-49 of the side."""
    for units in range(1, 24, 1 if side == 1.0 else 3):
        box = Pslg([*(BOX.vertices * side).tolist(), [side / 2, units * np.spacing(side)]], SQUARE)
        left = nothing_is_unexplained(box, steiner=steiner)
        assert left or units * np.spacing(side) >= 2.0**-49 * side
        assert not left or units * np.spacing(side) < 2.0**-48 * side


@pytest.mark.slow
@pytest.mark.parametrize("steiner", STEINER)
@pytest.mark.parametrize("offset", [1e9, 1e10, 1e11, 1e12, 1e13, -1.9e11])
def test_unrefined_triangles_far_from_the_origin_are_explained(offset, steiner):
    left = 0
    for seed, count in enumerate([8, 30, 60, 150, 400] * 2):
        points = np.random.default_rng(seed).random((count, 2)) * abs(offset) * 1e-13
        left += nothing_is_unexplained(
            dmr.triangulate(Pslg(points + offset, np.zeros((0, 2), int)), convex_hull=True), steiner=steiner
        )
    assert left


@pytest.mark.parametrize("steiner", STEINER)
def test_shortness_of_a_piece_follows_from_its_whole_segment(steiner):
    """Points near the far end of a segment are no nearer to each other than the coordinates of the near end allow."""
    graph = Pslg([*(BOX.vertices * 100).tolist(), [1e-17, 1e-12]], SQUARE)
    assert nothing_is_unexplained(graph, steiner=steiner)


def test_a_needle_s_neighbours_reach_the_segment_behind_it():
    """This needs precise circumcircles of needles."""
    box = [[0, 0], [1226.0779491549772, 305.5152962806355], [920.5626528743417, 1531.5932454356127]]
    box += [[-305.5152962806355, 1226.0779491549772]]
    close = [[1.5354517067328876e-15, 2.38313309336301e-15], [2.4873324028391623e-13, 6.378802478178764e-14]]
    close += [[-5.3986905524424286e-14, 2.2315367421515465e-13], [6.070180990983605e-16, 1.5447895019750288e-16]]
    assert nothing_is_unexplained(Pslg([*box, *close], SQUARE), steiner="off-center")


def test_lists_with_invalid_triangles_are_refused():
    mesh = grid(np.arange(3.0))
    for wrong in ([8], [-1], [0.5]):
        with pytest.raises(OptionError, match="8 triangles"):
            validate(mesh, unrefined={"precision": wrong})
    assert validate(mesh, min_angle=30, unrefined={}).ok
    assert validate(mesh, unrefined={"precision": []}).ok


def test_unknown_reasons_are_refused():
    mesh = grid(np.arange(3.0))
    for wrong in ("accuracy", None, 1):
        with pytest.raises(OptionError, match=f"no reason {wrong!r}; refinements give 'small_input_angle'"):
            validate(mesh, unrefined={wrong: [0]})
    lasting = {ending.value for ending in Ending if ending not in (Ending.COMPLETE, Ending.STRICT_ROUNDS_OVER)}
    given = {*lasting, *REASONS, *PART_REASONS}
    assert set(GIVEN_REASONS) == given and validate(mesh, unrefined={key: [0] for key in given}).ok


# ---- Small corners of outlines ---------------------------------------------------------------------------------------


def test_spokes_excuse_by_the_angle_between_adjacent_segments():
    angles = np.radians([0, 12, 30, 75, 140, 155, 230, 300])
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    graph = Pslg(
        [[0, 0], *circle, [-2, -2], [2, -2], [2, 2], [-2, 2]],
        [*([0, i] for i in range(1, 9)), [9, 10], [10, 11], [11, 12], [12, 9]],
    )
    result = dmr.refine(graph, device="cpu")
    report = validate(result.mesh, input=graph, min_angle=30, unrefined=result.unrefined_triangles)
    assert report.ok, report.lines()
    assert {small.corner for small in report.exceptions} == {0}
    assert {round(small.corner_angle) for small in report.exceptions} == {12, 18, 15}
    assert validate(result.mesh, input=graph, min_angle=30).ok


def test_a_straight_continuation_is_not_a_corner():
    """Vertices on a side of a wedge: the corner is the wedge's, and none is at the vertices."""
    phi = np.radians(20)
    tip = np.array([np.cos(phi), np.sin(phi)])
    graph = Pslg(
        [[0, 0], [4, 0], 4 * tip, [1, 0], [2.5, 0], [3.5, 0]],
        [[0, 1], [1, 2], [2, 0]],
    )
    result = dmr.refine(graph, device="cpu")
    report = validate(result.mesh, input=graph, min_angle=30, unrefined=result.unrefined_triangles)
    assert report.ok, report.lines()
    assert {small.corner for small in report.exceptions} == {0}
    assert report.exceptions[0].corner_angle == pytest.approx(20)


def test_small_corners_at_crossings_excuse_small_angles():
    graph = Pslg(
        [[-2, -2], [2, -2], [2, 2], [-2, 2], [-1, -0.1], [1, 0.12], [-1, 0.11], [1, -0.1]], [*SQUARE, [4, 5], [6, 7]]
    )
    result = dmr.refine(graph, device="cpu")
    report = validate(result.mesh, input=graph, min_angle=30, unrefined=result.unrefined_triangles)
    assert report.ok, report.lines()
    assert {small.corner for small in report.exceptions} == {8}
    skinny = Mesh(result.mesh.vertices, result.mesh.triangles)  # the crossing's segments are forgotten
    assert "angle" in validate(skinny, min_angle=30).counts


@pytest.mark.parametrize("scale", [1e-200, 1, 1e200, 1e300])
def test_scale_excuses_only_needles(scale):
    """Overflow and underflow of products of coordinates are no excuse."""
    square = Mesh(scale * np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]]), [[0, 1, 2], [0, 2, 3]])
    report = validate(square, min_angle=50, unrefined={"precision": [0, 1]})
    assert report.counts["angle"] == 2
