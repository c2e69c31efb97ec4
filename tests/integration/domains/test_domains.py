"""Builders of domains: coordinates, interior points (proved by rational arithmetic), and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import domains
from dmr.domains.interior import BOUNDARY, INSIDE, OUTSIDE, side_of_rings
from dmr.errors import InvalidMeshError, OptionError
from tests.support.planar import strictly_inside, winding

SQUARE = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
SMALL = [(1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0)]


def edges(pslg):
    return {frozenset(ends) for ends in pslg.segments.tolist()}


# ---- Sides of rings -------------------------------------------------------------------------------------------------

whole = st.integers(-6, 6)
wild = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(st.tuples(whole, whole), min_size=3, max_size=12), st.tuples(whole, whole))
def test_side_of_rings_on_a_grid_is_exact(ring, point):
    expected = winding(ring, point)
    side = side_of_rings([np.array(ring, float)], np.array(point, float))
    assert side == (BOUNDARY if expected is None else INSIDE if expected % 2 else OUTSIDE)


@given(st.lists(st.tuples(wild, wild), min_size=3, max_size=8), st.floats(0, 1), st.integers(0, 7))
def test_side_of_rings_near_an_edge_is_exact(ring, part, k):
    table = np.array(ring)
    a, b = table[k % len(table)], table[(k + 1) % len(table)]
    for point in (a * (1 - part) + b * part, a, np.nextafter(a, b)):
        expected = winding(ring, point)
        side = side_of_rings([table], point)
        assert side == (BOUNDARY if expected is None else INSIDE if expected % 2 else OUTSIDE)


# ---- A point inside -------------------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(
    st.integers(3, 60),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-9, 1e-3, 1.0]),
    st.sampled_from([0.0, 1e6, -3e9]),
    st.booleans(),
)
def test_interior_point_of_stars(n, seed, thinnest, offset, reverse):
    rng = np.random.default_rng(seed)
    radii = np.exp(rng.uniform(np.log(thinnest), 0, n))
    radii[rng.integers(n)] = 1.0
    turn = 2 * np.pi * (np.arange(n) + 0.8 * rng.random(n)) / n
    star = np.column_stack((radii * np.cos(turn), radii * np.sin(turn))) + offset
    star = star[::-1] if reverse else star
    try:
        point = domains.interior_point(star)
    except InvalidMeshError as error:  # far from the origin a thin star may have no double inside, or no area at all
        known = ("too thin", "three corners", "one line", "repeats")
        assert offset and any(words in str(error) for words in known)
        return
    assert strictly_inside(star, point)


def spiral(turns, points, width):
    turn = np.linspace(0, 2 * np.pi * turns, points)
    outward = np.column_stack((np.cos(turn), np.sin(turn)))
    return np.concatenate((outward * (1 + turn)[:, None], (outward * (1 + turn + width)[:, None])[::-1]))


def comb(teeth, thickness):
    corners = [(0.0, -1.0), (0.0, 1.0)]
    for k in range(teeth):
        corners += [(k, 1.0), (k, 0.0), (k + thickness, 0.0), (k + thickness, 1.0)][2 * (k == 0) :]
    bottom = 1.0 - 1e-7
    return [*corners, (teeth, 1.0), (teeth, bottom), (1e-7, bottom - 1e-9), (1e-7, -1.0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "ring",
    [
        spiral(8, 3000, 0.02),
        spiral(3, 200, 1e-9),
        [(0, 0), (1, 0), (1, 1e-12), (1e-12, 1e-12), (1e-12, 1), (0, 1)],
        [(0, 0), (1e-300, 0), (0, 1e-300)],
        [(0, 0), (1e60, 1e60), (1e60, 1e60 + 1e45)],
        [(1e8, 1e8), (1e8 + 1, 1e8), (1e8 + 1, 1e8 + 4.5e-8), (1e8, 1e8 + 4.5e-8)],
        np.column_stack((np.r_[0:100, 99:-1:-1], np.r_[np.arange(100) % 2, (np.arange(100) % 2 + 1e-9)[::-1]])),
        [(0, 0), (3, 1), (2, 1), (3, 2), (0, 2), (1, 1)],
        # A bow tie: nothing is between its corners' heights but its two halves.
        [(0, 0), (1, 1), (1, 0), (0, 1)],
    ],
    ids=["spiral", "hair", "thin L", "tiny", "huge", "few ulps", "zigzag", "dents", "bow tie"],
)
def test_interior_point_of_spirals_and_combs(ring):
    for turned in (np.array(ring, float), np.array(ring, float)[::-1], np.array(ring, float)[:, ::-1]):
        assert strictly_inside(turned, domains.interior_point(turned))


def test_interior_point_keeps_away_from_the_boundary():
    """The distance to the boundary is at least a tenth of the largest inscribed circle's radius."""
    shapely = pytest.importorskip("shapely")
    for ring in (SQUARE, spiral(4, 800, 2.0), spiral(2, 300, 0.1), domains.circle_points(2, 50, (7, 1))):
        outline = shapely.Polygon(ring)
        widest = shapely.maximum_inscribed_circle(outline).length
        assert outline.exterior.distance(shapely.Point(domains.interior_point(ring))) > 0.1 * widest


def test_interior_point_avoids_holes():
    holes = [domains.circle_points(0.45, 40, (i + 0.5, j + 0.5)) for i in range(4) for j in range(4)]
    point = domains.interior_point(SQUARE, holes)
    assert strictly_inside(SQUARE, point)
    assert not any(winding(hole, point) for hole in holes)
    frame = domains.interior_point(SQUARE, [[(1e-9, 1e-9), (4 - 1e-9, 1e-9), (4 - 1e-9, 4 - 1e-9), (1e-9, 4 - 1e-9)]])
    assert min(frame.min(), 4 - frame.max()) < 1e-9
    assert strictly_inside(SQUARE, frame)


def test_a_ring_without_a_double_inside_is_refused():
    ulp = np.spacing(1.0)
    with pytest.raises(InvalidMeshError, match="too thin"):
        domains.interior_point([(1, 1), (1 + ulp, 1), (1, 1 + ulp)])


# ---- Polygons -------------------------------------------------------------------------------------------------------


def test_polygon_keeps_order_and_bits_of_corners():
    rng = np.random.default_rng(0)
    outline = np.column_stack((np.cos(np.arange(9) * 0.69), np.sin(np.arange(9) * 0.69))) * (
        1 + 1e-9 * rng.random((9, 1))
    )
    outline[3, 0] = np.nextafter(outline[3, 0], 2)
    hole = [(-0.1, -0.0), (0.1, 0.0), (0.0, 0.2), (-0.1, -0.0)]
    for given_outline in (outline, outline.tolist(), np.concatenate((outline, outline[:1]))):
        made = domains.polygon(given_outline, [hole])
        assert made.vertices[:9].tobytes() == outline.tobytes()
        assert made.vertices[9:].tobytes() == np.array(hole[:3]).tobytes(), "a minus before zero stays, too"
        assert made.segments.tolist() == [[k, (k + 1) % 9] for k in range(9)] + [[9, 10], [10, 11], [11, 9]]
        assert strictly_inside(hole[:3], made.holes[0])
        assert made.segment_markers.tolist() == [0] * 12


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_every_hole_gets_its_point(count, seed):
    rng = np.random.default_rng(seed)
    holes = []
    for k in range(count):
        turn = np.sort(rng.random(rng.integers(8, 20))) * 2 * np.pi
        radii = rng.uniform(0.05, 0.45, len(turn))
        ring = np.column_stack((k + 0.5 + radii * np.cos(turn), 0.5 + radii * np.sin(turn)))
        holes.append(ring if k % 2 else ring[::-1])
    made = domains.polygon([(0, 0), (count, 0), (count, 1), (0, 1)], holes)
    for k, point in enumerate(made.holes):
        assert [strictly_inside(hole, point) for hole in holes] == [j == k for j in range(count)]


def test_holes_may_touch_the_outline_and_each_other():
    touching = [[(0, 0), (1, 1), (2, 0.5)], [(1, 1), (2, 2), (1, 2)], [(2, 2), (4, 2), (3, 3)]]
    made = domains.polygon(SQUARE, touching)
    assert len(made.holes) == 3


@pytest.mark.parametrize(
    ("markers", "expected"),
    [
        (None, [0] * 8),
        (7, [7] * 8),
        ([1, 2], [1] * 4 + [2] * 4),
        ([[1, 2, 3, 4], 9], [1, 2, 3, 4, 9, 9, 9, 9]),
        ([np.int64(5), np.array([-1, 0, 2**31 - 1, 3])], [5] * 4 + [-1, 0, 2**31 - 1, 3]),
    ],
)
def test_markers_of_polygons(markers, expected):
    assert domains.polygon(SQUARE, [SMALL], markers=markers).segment_markers.tolist() == expected


def test_markers_of_a_single_ring_may_be_those_of_its_segments():
    assert domains.polygon(SQUARE, markers=[1, 2, 3, 4]).segment_markers.tolist() == [1, 2, 3, 4]
    assert domains.rectangle(2, 1, markers=(4, 3, 2, 1)).segment_markers.tolist() == [4, 3, 2, 1]
    assert domains.polygon(SQUARE, markers=[[1, 2, 3, 4]]).segment_markers.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("outline", "element"),
    [
        ([(0, 0), (1, 0)], "the outline "),
        ([], "the outline "),
        ([(0, 0), (1, 0), (0, 0)], "the outline "),
        ([(0, 0), (1, 0), (1, float("nan"))], "the outline: vertex 2 "),
        ([(0, 0), (1, 0), (1, 0), (1, 1)], "the outline: vertex 2 "),
        ([(0, 0), (1, 1), (3, 3), (2, 2)], "the outline "),
        ([(0, 0), (0.1, 0.3), (0.2, 0.6)], "the outline "),
        ([(0, 0, 0), (1, 0, 0), (1, 1, 0)], "the outline "),
        ([(0, 0), (1, 0), (1, 1j)], "the outline "),
        ([("0", "1"), ("1", "1"), ("2", "0")], "the outline "),
        ([(0, 0), (1, 0), (1,)], "the outline "),
    ],
)
def test_invalid_outlines_are_refused(outline, element):
    with pytest.raises(InvalidMeshError, match=f"^{element}"):
        domains.polygon(outline)


@pytest.mark.parametrize(
    ("holes", "element"),
    [
        (SMALL, "hole 0 "),
        ([SMALL, [(1, 1), (2, 2)]], "hole 1 "),
        ([[(5, 5), (6, 5), (6, 6)]], "hole 0 "),
        ([[(1, 1.2), (3, 1), (2, 1.8)], SMALL], "hole . overlaps hole ."),
        ([[(0.5, 0.5), (3, 0.5), (3, 3), (0.5, 3)], SMALL], "hole 0 overlaps hole 1.*island"),
    ],
)
def test_invalid_holes_are_refused(holes, element):
    with pytest.raises(InvalidMeshError, match=f"^{element}"):
        domains.polygon(SQUARE, holes)


def test_sentences_about_rings_say_what_is_wrong():
    with pytest.raises(InvalidMeshError, match=r"must be a table \(n, 2\) of points, not of shape \(3, 3\)"):
        domains.polygon([(0, 0, 0), (1, 0, 0), (1, 1, 0)])
    with pytest.raises(InvalidMeshError, match=r"vertex 2 at \(1.0, nan\)"):
        domains.polygon([(0, 0), (1, 0), (1, float("nan"))])
    with pytest.raises(InvalidMeshError, match="hole 0 does not lie in the outline"):
        domains.polygon(SQUARE, [[(5, 5), (6, 5), (6, 6)]])


def test_rounding_makes_no_ring_collinear():
    """0.1, 0.3 and 0.2, 0.6 lie on one line with the origin as decimals and as doubles; a last digit more does not."""
    assert len(domains.polygon([(0, 0), (0.1, 0.3), (0.2, np.nextafter(0.6, 1))]).segments) == 3


@pytest.mark.parametrize(
    "markers", [[1, 2, 3], [1, [2, 3]], 1.5, "ab", [1.0, 2.0], 2**31, [[[1]], 2], [[1, [2], 3, 4], 2]]
)
def test_invalid_markers_are_refused(markers):
    with pytest.raises(InvalidMeshError, match="markers"):
        domains.polygon(SQUARE, [SMALL], markers=markers)


# ---- Other shapes ---------------------------------------------------------------------------------------------------


def test_rectangle_corners():
    made = domains.rectangle(2, 0.5, (10, -3))
    assert made.vertices.tolist() == [[10, -3], [12, -3], [12, -2.5], [10, -2.5]]
    assert edges(made) == {frozenset(pair) for pair in ((0, 1), (1, 2), (2, 3), (3, 0))}
    for wrong in ((0, 1), (1, -1), (float("inf"), 1), ("wide", 1), (1, None)):
        with pytest.raises(OptionError, match=r"width|height"):
            domains.rectangle(*wrong)
    with pytest.raises(OptionError, match="corner"):
        domains.rectangle(1, 1, (1, 2, 3))


@given(st.integers(3, 200))
def test_circles_are_even_and_symmetric(n):
    points = domains.circle_points(1.0, n)
    turn = np.unwrap(np.arctan2(points[:, 1], points[:, 0]))
    assert np.allclose(turn, 2 * np.pi * np.arange(n) / n, atol=1e-12)
    assert np.allclose(np.hypot(*points.T), 1, atol=1e-15)
    if n % 4 == 0:
        quarter = n // 4
        assert np.array_equal(points[quarter:], np.column_stack((-points[:-quarter, 1], points[:-quarter, 0])))
    if n % 2 == 0:
        assert points[n // 2].tolist() == [-1, 0]
    assert not np.signbit(points[points == 0]).any()


def test_circles_and_regular_polygons():
    made = domains.circle(2, 12, (5, 6), markers=3)
    assert np.array_equal(made.vertices, domains.circle_points(2, 12, (5, 6)))
    assert set(made.segment_markers.tolist()) == {3}
    hexagon = domains.regular_polygon(6, 2, angle=90)
    assert np.allclose(hexagon.vertices[0], (0, 2))
    assert np.allclose(np.hypot(*np.diff(hexagon.vertices, axis=0).T), 2)
    assert np.array_equal(domains.regular_polygon(5).vertices, domains.circle_points(1, 5))
    for wrong in ((1, 2), (1, 2.5), (0, 5), (float("nan"), 5)):
        with pytest.raises(OptionError):
            domains.circle_points(*wrong)


def test_polylines_are_closed_only_if_they_return():
    crack = domains.polyline([(0, 0), (1, 1), (2, 1)], markers=[5, 6])
    assert crack.segments.tolist() == [[0, 1], [1, 2]]
    assert crack.segment_markers.tolist() == [5, 6]
    loop = domains.polyline([(0, 0), (1, 0), (1, 1), (0, 0)], markers=2)
    assert loop.segments.tolist() == [[0, 1], [1, 2], [2, 0]]
    assert len(loop.vertices) == 3
    assert loop.segment_markers.tolist() == [2, 2, 2]
    assert len(domains.polyline([(0, 0), (1, 0)]).segments) == 1
    with pytest.raises(InvalidMeshError, match="vertex 2 repeats vertex 1"):
        domains.polyline([(0, 0), (1, 0), (1, 0)])
    with pytest.raises(InvalidMeshError, match="two points or more"):
        domains.polyline([(0, 0)])


# ---- Composing ------------------------------------------------------------------------------------------------------


def test_merge_joins_equal_vertices_and_segments():
    left = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)], markers=[1, 0, 3, 4])
    right = domains.polygon([(1, 1), (1, 0), (2, 0), (2, 1)], markers=[5, 6, 7, 8])
    both = domains.merge(left, right, domains.polyline([(0, 0), (0.5, 0.5)], markers=9))
    assert both.vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1], [0.5, 0.5]]
    assert both.segments.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0], [1, 4], [4, 5], [5, 2], [0, 6]]
    assert both.segment_markers.tolist() == [1, 5, 3, 4, 6, 7, 8, 9]
    assert both.vertex_markers is None


@given(
    st.lists(
        st.tuples(st.lists(st.tuples(whole, whole), min_size=1, max_size=6), st.integers(0, 3)), min_size=1, max_size=5
    )
)
def test_merge_equals_a_dictionary(tables):
    parts, expected_vertices, expected_segments = [], {}, {}
    for points, marker in tables:
        ends = [(k, (k + 1) % len(points)) for k in range(len(points) - 1)]
        parts.append(
            dmr.Pslg(
                np.array(points, float),
                np.array(ends, np.int32).reshape(-1, 2),
                segment_markers=np.full(len(ends), marker),
                vertex_markers=np.full(len(points), marker),
            )
        )
        numbers = []
        for point in points:
            number, old = expected_vertices.get(point, (len(expected_vertices), 0))
            expected_vertices[point] = (number, old or marker)
            numbers.append(number)
        for a, b in ends:
            key = frozenset((numbers[a], numbers[b]))
            expected_segments[key] = expected_segments.get(key, 0) or marker
    made = domains.merge(*parts)
    assert made.vertices.tolist() == [list(point) for point in expected_vertices]
    assert made.vertex_markers.tolist() == [marker for _, marker in expected_vertices.values()]
    assert [frozenset(ends) for ends in made.segments.tolist()] == list(expected_segments)
    assert made.segment_markers.tolist() == list(expected_segments.values())


def test_merge_keeps_attributes():
    plain = domains.polyline([(0, 0), (1, 0)])
    weighted = dmr.Pslg([[1, 0], [2, 0]], [[0, 1]], vertex_attributes=[[3.0], [4.0]])
    assert domains.merge(plain, weighted).vertex_attributes.tolist() == [[0], [0], [4]]
    assert domains.merge(weighted, plain).vertex_attributes.tolist() == [[3], [4], [0]]
    other = dmr.Pslg([[5, 0]], [], vertex_attributes=[[1.0, 2.0]])
    with pytest.raises(InvalidMeshError, match="vertex attributes: 1 and 2"):
        domains.merge(weighted, other)
    with pytest.raises(InvalidMeshError, match="nothing to merge"):
        domains.merge()


def test_merge_adds_holes_and_regions():
    made = domains.polygon(SQUARE, [SMALL], markers=2)
    more = domains.with_regions(domains.with_holes(made, [(3, 3)]), [(0.5, 0.5, 7), (3.5, 3.5, 8, 0.1)])
    assert more.holes.tolist() == [*made.holes.tolist(), [3, 3]]
    assert more.regions.tolist() == [[0.5, 0.5, 7, 0], [3.5, 3.5, 8, 0.1]]
    assert len(domains.with_regions(more, [(1, 2, 3)]).regions) == 3
    assert np.array_equal(more.segment_markers, made.segment_markers)
    assert len(domains.with_holes(made, []).holes) == 1
    assert len(domains.with_regions(made, []).regions) == 0
    for wrong in ((1, 2), (1, 2, 3, 4, 5), 7, "abc"):
        with pytest.raises(InvalidMeshError, match="region 1 must be"):
            domains.with_regions(made, [(1, 2, 3), wrong])
    with pytest.raises(InvalidMeshError, match="region 0 "):
        domains.with_regions(made, [(1, float("nan"), 3)])
    with pytest.raises(InvalidMeshError, match="holes: vertex 0"):
        domains.with_holes(made, [(float("inf"), 0)])


def test_public_names():
    assert dmr.domains is domains
    for name in domains.__all__:
        assert callable(getattr(domains, name))


# ---- Markers by conditions -----------------------------------------------------------------------------------------


def test_conditions_mark_segments_and_the_last_one_counts():
    box = domains.rectangle(4, 2, markers=9)
    made = domains.with_markers(
        box,
        {1: lambda middle: middle[:, 1] == 0, 2: [False, False, True, False], 3: lambda middle: middle[:, 0] > 3.9},
    )
    assert made.segment_markers.tolist() == [1, 3, 2, 9]
    assert box.segment_markers.tolist() == [9] * 4
    mesh = dmr.refine(made, max_area=0.1, device="cpu", threads=1).mesh
    right = mesh.segments[mesh.segment_markers == 3]
    assert (mesh.vertices[right, 0] == 4).all()


@pytest.mark.parametrize(
    ("markers", "text"),
    [
        ({5: lambda middle: middle[:, 0] > 9}, "no segment satisfies the condition of marker 5"),
        ({5: lambda middle: True}, "marker 5 must give 4 truth values, one for each segment, not bool of shape"),
        ({5: [0, 1, 0, 1]}, "must give 4 truth values.* not int64"),
        ({2**40: [True] * 4}, "markers does not fit in 32 bits"),
    ],
)
def test_conditions_that_fit_no_segment_are_refused(markers, text):
    with pytest.raises(InvalidMeshError, match=text):
        domains.with_markers(domains.rectangle(1, 1), markers)


def test_markers_are_whole_numbers_in_a_dictionary():
    with pytest.raises(OptionError, match="markers must be a dictionary"):
        domains.with_markers(domains.rectangle(1, 1), [1, 2])
    with pytest.raises(OptionError, match=r"a marker must be a whole number, not 2\.5"):
        domains.with_markers(domains.rectangle(1, 1), {2.5: [True] * 4})


def test_conditions_of_names_get_their_numbers_or_new_ones():
    box = domains.with_names(domains.rectangle(4, 2, markers=[3, 9, 9, 3]), markers={3: "wall"})
    left, top = [False, False, False, True], [False, False, True, False]
    made = domains.with_markers(box, {"wall": top, "inlet": left, 4: [False] * 3 + [True], "outlet": left})
    assert made.names["markers"] == {2: "inlet", 3: "wall", 5: "outlet"}
    assert made.segment_markers.tolist() == [3, 9, 3, 5]
    assert box.names["markers"] == {3: "wall"}
    mesh = dmr.triangulate(made)
    assert mesh.names == made.names and sorted(mesh.segment_markers) == [3, 3, 5, 9]
    with pytest.raises(InvalidMeshError, match="no segment satisfies the condition of marker 'lid'"):
        domains.with_markers(box, {"lid": [False] * 4})
    with pytest.raises(InvalidMeshError, match="name"):
        domains.with_markers(box, {'a"b': top})
