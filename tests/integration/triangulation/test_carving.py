"""The domain of a triangulation: outline, holes, regions and open polylines; errors for invalid domains."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr import Pslg
from dmr.errors import InvalidMeshError
from dmr.triangulation import triangulate_noting
from tests.support.planar import area_of, edge_set, hull_area

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def square(side, center=(0, 0)):
    """The corners of a square."""
    return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * side / 2 + center


def rings(*squares):
    """Vertices and segments of squares."""
    return np.concatenate(squares), np.concatenate([RING + 4 * k for k in range(len(squares))])


def meshed(domain, convex_hull=False):
    """The mesh of a domain, after the exact checker accepted it, and the notes."""
    mesh, notes, _ = triangulate_noting(domain, on_conflict="error", convex_hull=convex_hull, mesher="dmr")
    report = dmr.validate(mesh, input=domain, convex_hull=convex_hull)
    assert report.ok, report.failures
    assert np.array_equal(mesh.holes, domain.holes) and np.array_equal(mesh.regions, domain.regions)
    return mesh, notes


def refused(domain, **options):
    """The error."""
    with pytest.raises(InvalidMeshError) as caught:
        dmr.triangulate(domain, **options)
    return caught.value


# ---- Outline and holes ---------------------------------------------------------------------------------------------


def test_a_square_is_meshed():
    mesh, notes = meshed(Pslg(square(4), RING))
    assert (len(mesh.triangles), area_of(mesh), notes) == (2, 16, [])


def test_the_outside_of_the_outline_is_removed():
    """A concave outline, in any direction; its vertices outside stay in the list."""
    bay = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4], [2, 3], [9, 9], [-5, 2]]
    for way in (1, -1):
        mesh, notes = meshed(Pslg(bay, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]][::way]))
        assert area_of(mesh) == 10
        assert notes == []
        assert np.unique(mesh.triangles).tolist() == [0, 1, 2, 3, 4]
        assert len(mesh.vertices) == 8
    assert area_of(meshed(Pslg(bay, [[0, 1]]), convex_hull=True)[0]) == hull_area(bay)


def test_a_hole_is_removed():
    mesh, notes = meshed(Pslg(*rings(square(6), square(2)), holes=[[0, 0]]))
    assert (area_of(mesh), notes) == (32, [])
    assert edge_set(mesh.segments) == edge_set(np.concatenate([RING, RING + 4]))


def test_a_ring_without_hole_point_is_meshed():
    mesh, _ = meshed(Pslg(*rings(square(6), square(2))))
    assert area_of(mesh) == 36


def test_several_points_in_one_hole():
    mesh, _ = meshed(Pslg(*rings(square(6), square(2)), holes=[[0, 0], [0.5, 0.5], [-0.5, 0]]))
    assert area_of(mesh) == 32


def test_an_island_in_a_lake_on_an_island():
    sides = (14, 10, 8, 4, 2)
    vertices, segments = rings(*map(square, sides))
    mesh, notes = meshed(Pslg(vertices, segments, holes=[[4.5, 0], [0, 1.5]]))
    assert area_of(mesh) == 196 - 100 + 64 - 16 + 4
    assert notes == []


def test_domains_side_by_side():
    mesh, notes = meshed(Pslg(*rings(square(2), square(2, (5, 0)), square(2, (0, 7)))))
    assert (area_of(mesh), notes) == (12, [])


def test_holes_touching_in_a_vertex():
    """Two lozenges with one tip in common, and one that touches the outline."""
    vertices = [*square(12), [-4, 0], [-2, -1], [0, 0], [-2, 1], [2, -1], [4, 0], [2, 1], [6, 0], [5, 1], [5, -1]]
    outline = [[0, 1], [1, 11], [11, 2], [2, 3], [3, 0]]
    first, second, third = (
        [[4, 5], [5, 6], [6, 7], [7, 4]],
        [[6, 8], [8, 9], [9, 10], [10, 6]],
        [[9, 12], [12, 11], [11, 13], [13, 9]],
    )
    mesh, _ = meshed(Pslg(vertices, [*outline, *first, *second, *third], holes=[[-2, 0], [2, 0], [5, 0]]))
    assert area_of(mesh) == 144 - 4 - 4 - 2


def test_parts_touching_in_a_vertex():
    mesh, _ = meshed(Pslg([[0, 0], [2, 0], [0, 2], [-2, 0], [0, -2]], [[0, 1], [1, 2], [2, 0], [0, 3], [3, 4], [4, 0]]))
    assert area_of(mesh) == 4


@pytest.mark.parametrize("count", [3, 50])
def test_many_holes(count):
    """A sieve."""
    places = np.array([[4 * x, 4 * y] for x in range(count) for y in range(3)])
    frame = np.array([[-3, -3], [4 * count, -3], [4 * count, 11], [-3, 11]])
    vertices, segments = rings(frame, *(square(2, place) for place in places))
    mesh, _ = meshed(Pslg(vertices, segments, holes=places))
    assert area_of(mesh) == (4 * count + 3) * 14 - 4 * 3 * count


# ---- Segments that bound nothing -----------------------------------------------------------------------------------


def test_cracks_are_kept():
    """Cracks inside, from the outline into the domain, and from the outline to a hole."""
    vertices, segments = rings(square(12), square(2))
    cracks = [[8, 9], [0, 10], [3, 7]]
    mesh, notes = meshed(Pslg([*vertices, [3, 3], [4, -2], [-4, -3]], [*segments, *cracks], holes=[[0, 0]]))
    assert edge_set(cracks) <= edge_set(mesh.segments)
    assert (area_of(mesh), notes) == (140, [])


@pytest.mark.parametrize("convex_hull", [False, True])
def test_segments_outside_the_domain_are_dropped(convex_hull):
    """Left out with a warning, but for the convex hull, to which they belong."""
    vertices, segments = rings(square(2), square(2, (6, 0)))
    domain = Pslg([*vertices, [0, 5], [1, 8]], [*segments, [2, 7], [3, 8], [8, 9]])
    mesh, notes = meshed(domain, convex_hull)
    if convex_hull:
        assert notes == []
        assert len(mesh.segments) == 11
        assert area_of(mesh) == hull_area(domain.vertices)
    else:
        assert notes == [
            "3 segments are outside of the closed outlines, in whole or in part, and left out there "
            "(the first: segment 8, from vertex 2 to vertex 7)"
        ]
        assert edge_set(mesh.segments) == edge_set(segments)
        assert area_of(mesh) == 8


def test_the_inner_part_of_a_segment_is_kept():
    domain = Pslg([*square(4), [0, 0], [0, 5]], [*RING, [4, 5]])
    mesh, notes, _ = triangulate_noting(domain, on_conflict="resolve", convex_hull=False, mesher="dmr")
    assert dmr.validate(mesh, input=domain).ok
    assert mesh.vertices[6:].tolist() == [[0, 2]]
    assert edge_set(mesh.segments) == {(0, 1), (1, 2), (2, 6), (3, 6), (0, 3), (4, 6)}
    assert notes[1] == (
        "1 segment is outside of the closed outlines, in whole or in part, and left out there "
        "(the first: segment 4, from vertex 4 to vertex 5)"
    )


def test_segments_within_holes_are_reported():
    vertices, segments = rings(square(12), square(8))
    mesh, notes = meshed(Pslg([*vertices, [0, 0], [1, 1], [2, 0]], [*segments, [8, 9], [9, 10]], holes=[[-1, 0]]))
    assert area_of(mesh) == 80
    assert notes == [
        "2 segments are within holes and carved away with them (the first: segment 8, from vertex 8 to vertex 9)"
    ]


def test_a_hole_with_a_gap_in_its_ring_removes_the_part_around_it():
    vertices, segments = rings(square(12), square(8), square(4))
    domain = Pslg(vertices, np.delete(segments, 9, axis=0), holes=[[0, 0]])
    mesh, notes = meshed(domain)
    assert area_of(mesh) == 80
    assert "3 segments are within holes" in notes[0]


# ---- Gaps ----------------------------------------------------------------------------------------------------------


def test_the_error_for_a_gap_names_its_two_ends():
    domain = Pslg([[0, 0], [8, 0], [8, 8], [0, 8], [0, 0.125]], [[0, 1], [1, 2], [2, 3], [3, 4]])
    assert str(refused(domain)) == (
        "the outline is not closed: segments end at vertex 0 at (0, 0) and vertex 4 at (0, 0.125), 0.125 apart, "
        "and enclose nothing. Close the gap, or mesh the convex hull (convex_hull=True)"
    )
    mesh, notes = meshed(domain, convex_hull=True)
    assert (area_of(mesh), notes) == (64, [])


def test_the_nearest_two_of_several_loose_ends_are_named():
    domain = Pslg([[0, 0], [8, 0], [8, 8], [0, 8], [7.5, 8.5], [3, 3]], [[3, 0], [0, 1], [1, 2], [3, 4], [0, 5]])
    message = str(refused(domain))
    assert "vertex 2 at (8, 8) and vertex 4 at (7.5, 8.5), 0.707 apart" in message


def test_one_figure_with_a_gap_beside_closed_ones_is_refused():
    vertices, segments = rings(square(2), square(2, (5, 0)))
    error = refused(Pslg(vertices, segments[:-1]))
    assert "vertex 4 at (4, -1) and vertex 7 at (4, 1), 2 apart" in str(error)


def test_a_gap_in_an_inner_figure_is_a_crack():
    vertices, segments = rings(square(8), square(2))
    mesh, notes = meshed(Pslg(vertices, segments[:-1]))
    assert (area_of(mesh), len(mesh.segments), notes) == (64, 7, [])


def test_the_figure_of_the_first_segment_is_named_among_many_with_gaps():
    vertices = np.random.default_rng(1).random((6000, 2)) * (0.9, 1) + np.arange(6000)[:, None] * (1, 0)
    message = str(refused(Pslg(vertices, np.arange(6000).reshape(3000, 2))))
    assert "segments end at vertex 0 at (" in message and "and vertex 1 at (" in message


def test_a_gap_among_thousands_of_loose_ends():
    angle = np.arange(3000) * 2 * np.pi / 3000
    vertices = [[0, 0], *np.stack([np.cos(angle), np.sin(angle)], axis=1)]
    message = str(refused(Pslg(vertices, np.stack([np.zeros(3000, int), np.arange(1, 3001)], axis=1))))
    assert "segments end at vertex 1 at (" in message and "and vertex 3000 at (" in message


def test_a_long_open_polyline_is_refused():
    """One chain of segments, whose vertices are numbered at random."""
    random = np.random.default_rng(2)
    name = random.permutation(6000)
    vertices = np.empty((6000, 2))
    vertices[name] = random.random((6000, 2)) * (0.9, 1) + np.arange(6000)[:, None] * (1, 0)
    u, v = sorted((name[0], name[-1]))
    message = str(refused(Pslg(vertices, np.stack([name[:-1], name[1:]], axis=1))))
    assert f"segments end at vertex {u} at (" in message and f"and vertex {v} at (" in message


# ---- Holes and regions in wrong places -----------------------------------------------------------------------------

CASES = {
    "outside": ([9, 9], "outside of the domain"),
    "outside, within the hull": ([0, 3.5], "outside of the domain"),
    "in the corner of the hull": ([-100, 3], "outside of the domain"),
    "on a segment": ([2, -4], "on a segment: move it to one side"),
    "on a vertex": ([4, -4], "on a segment: move it to one side"),
    "on a crack": ([1, -3], "on a segment: move it to one side"),
    "at the end of a crack": ([2, -3], "on a segment: move it to one side"),
}
# A square with a notch from above, and a crack.
NOTCHED = (
    [[-4, -4], [4, -4], [4, 4], [1, 4], [0, 0], [-1, 4], [-4, 4], [0, -3], [2, -3]],
    [*([k, (k + 1) % 7] for k in range(7)), [7, 8]],
)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["hole", "region"])
def test_invalid_hole_and_region_points_are_refused(kind, case):
    (x, y), where = CASES[case]
    good = {"hole": [[3, 3]], "region": [[3, 3, 1, 1]]}[kind]
    bad = {"hole": [[x, y]], "region": [[x, y, 1, 1]]}[kind]
    error = refused(Pslg(*NOTCHED, **{f"{kind}s": [*good, *bad]}))
    assert (error.element, error.index) == (kind, 1)
    assert str(error) == f"{kind} 1: its point ({x}, {y}) lies {where}"


def test_a_region_point_on_an_unused_vertex():
    mesh, _ = meshed(Pslg([*square(4), [1, 1]], RING, regions=[[1, 1, 7, -1]]))
    assert mesh.triangle_attributes[:, 0].tolist() == [7] * len(mesh.triangles)


def test_a_hole_point_an_ulp_beside_a_segment():
    domain = Pslg(*rings(square(4)), regions=[[0, np.nextafter(2, 0), 7, -1]])
    assert meshed(domain)[0].triangle_attributes[:, 0].tolist() == [7, 7]
    error = refused(Pslg(*rings(square(4)), regions=[[0, np.nextafter(2, 3), 7, -1]]))
    assert str(error) == "region 0: its point (0, 2) lies outside of the domain"


@pytest.mark.parametrize("kind", ["hole", "region"])
@pytest.mark.parametrize("point", [(np.nan, 0), (0, np.inf), (1e300, 1), (1e-300, 0.5), (0.5, -5e-324)])
def test_hole_and_region_points_out_of_range_are_refused(kind, point):
    """Former bug: predicates beyond their range wrote past the end of an array."""
    points = {"holes": [[0, 0], point]} if kind == "hole" else {"regions": [[0, 0, 1, 1], [*point, 1, 1]]}
    error = refused(Pslg(*rings(square(4)), **points))
    assert (error.element, error.index) == (kind, 1)
    assert "lies outside the range in which geometry is exact" in str(error)


def test_a_region_point_in_a_hole_is_reported():
    error = refused(Pslg(*rings(square(6), square(2)), holes=[[0, 0]], regions=[[2, 2, 1, 1], [0.5, 0, 2, 1]]))
    assert str(error) == "region 1: its point (0.5, 0) lies in a hole"


def test_two_region_points_in_one_part_are_reported():
    error = refused(Pslg(*rings(square(6)), regions=[[0, 0, 1, 1], [1, 1, 2, 1]]))
    assert (error.element, error.index) == ("region", 1)
    assert str(error) == "region 1: lies in the same part of the domain as region 0"


@pytest.mark.parametrize("convex_hull", [False, True])
def test_holes_that_remove_everything_are_refused(convex_hull):
    error = refused(Pslg(*rings(square(6)), holes=[[0, 0]]), convex_hull=convex_hull)
    assert "the holes leave nothing of the domain" in str(error)


def test_a_hole_point_without_segments():
    assert "the holes leave nothing" in str(refused(Pslg([[0, 0], [1, 0], [0, 1]], [], holes=[[0.2, 0.2]])))
    assert "outside of the domain" in str(refused(Pslg([[0, 0], [1, 0], [0, 1]], [], holes=[[2, 2]])))


# ---- Regions -------------------------------------------------------------------------------------------------------


def test_regions_fill_exactly_their_part():
    """Two halves and an island without a region; one half has no largest area."""
    vertices, segments = rings(square(12), square(2, (3, 3)))
    vertices = [*vertices, [0, -6], [0, 6]]
    segments = [[0, 8], [8, 1], [1, 2], [2, 9], [9, 3], [3, 0], [8, 9], *segments[4:]]
    mesh, _ = meshed(Pslg(vertices, segments, regions=[[-1, 0, 4, 0.25], [1, 0, -5, -1]]))
    x, y = mesh.vertices[mesh.triangles].mean(axis=1).T
    island = (abs(x - 3) < 1) & (abs(y - 3) < 1)
    assert mesh.triangle_attributes[:, 0].tolist() == np.where(island, 0, np.where(x < 0, 4, -5)).tolist()
    assert mesh.area_bounds.tolist() == np.where(x < 0, 0.25, 0).tolist()
    assert island.any()


def test_regions_without_area_give_no_bounds():
    mesh, _ = meshed(Pslg(*rings(square(4)), regions=[[0, 0, 4, 0]]))
    assert mesh.area_bounds is None
    assert meshed(Pslg(*rings(square(4))))[0].triangle_attributes.shape == (2, 0)


def test_cracks_do_not_divide_a_part():
    """A crack does not separate its two sides; a segment across the domain does."""
    vertices = [*square(4), [0, -2], [0, 1], [0, 2]]
    outline = [[0, 4], [4, 1], [1, 2], [2, 6], [6, 3], [3, 0]]
    regions = [[-1, 0, 1, -1], [1, 0, 2, -1]]
    error = refused(Pslg(vertices, [*outline, [4, 5]], regions=regions))
    assert "in the same part of the domain as region 0" in str(error)
    mesh, _ = meshed(Pslg(vertices, [*outline, [4, 5], [5, 6]], regions=regions))
    assert set(mesh.triangle_attributes[:, 0].tolist()) == {1, 2}


# ---- The convex hull as domain -------------------------------------------------------------------------------------


def test_convex_hull_with_holes_and_regions():
    """A hole point in a ring removes its inside, one beside it the part up to the hull."""
    vertices, segments = rings(square(2), square(2, (6, 0)))
    mesh, _ = meshed(Pslg(vertices, segments, holes=[[0, 0]], regions=[[6, 0, 3, 0.5]]), convex_hull=True)
    assert area_of(mesh) == 16 - 4
    assert set(mesh.triangle_attributes[:, 0].tolist()) == {0, 3}


def test_a_hole_point_between_the_outline_and_the_hull():
    """Edges of the hull count as segments: the outline's bay is a separate part."""
    bay = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]
    domain = Pslg(bay, [[k, (k + 1) % 5] for k in range(5)], holes=[[2, 3]])
    mesh, _ = meshed(domain, convex_hull=True)
    assert area_of(mesh) == 10
    other, _ = meshed(Pslg(bay, domain.segments, regions=[[2, 3, 9, -1]]), convex_hull=True)
    assert area_of(other) == 16
    assert sorted(other.triangle_attributes[:, 0].tolist()) == [0, 0, 0, 9]


def test_without_segments_the_hull_is_meshed_and_reported():
    mesh, notes = meshed(Pslg([[0, 0], [4, 0], [0, 4], [1, 1]], []))
    assert area_of(mesh) == 8
    assert notes == ["there are no segments: the convex hull of the vertices is meshed"]
    assert meshed(Pslg([[0, 0], [4, 0], [0, 4], [1, 1]], []), convex_hull=True)[1] == []


def test_segments_of_zero_length_bound_no_domain():
    domain = Pslg([[0, 0], [4, 0], [0, 4]], [[1, 1]])
    with pytest.raises(InvalidMeshError):
        dmr.triangulate(domain)
    assert area_of(dmr.triangulate(domain, convex_hull=True)) == 8
