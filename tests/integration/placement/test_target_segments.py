"""`size=`: the division of segments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Pslg, domains
from dmr.memory import open_device
from dmr.refinement.placement.chains import divide
from dmr.refinement.placement.outline import Segments
from tests.support.outlines.sizes import SQUARE, smallest_angles


def test_divided_segments_are_even():
    mesh = dmr.refine(domains.polygon([(0, 0), (10.1, 0), (10.1, 3), (0, 3)]), size=1.0, device="cpu").mesh
    bottom = np.sort(mesh.vertices[mesh.vertices[:, 1] == 0, 0])
    assert np.allclose(np.diff(bottom), 1.01, rtol=1e-12)


@pytest.mark.parametrize(("width", "pieces"), [(40.3, 41), (10.3, 10)])
def test_pieces_of_long_segments_are_hardly_longer_than_the_size(width, pieces):
    mesh = dmr.refine(domains.rectangle(width, 5.0), size=1.0, device="cpu").mesh
    assert (mesh.vertices[:, 1] == 0).sum() == pieces + 1


@pytest.mark.parametrize(("place", "least"), [(0.12, 0.01), (0.24, 0.0005), (0.48, 0.01), (0.5, 0.0005), (0.5, 0.002)])
def test_segments_at_acute_corners_are_divided_in_order(place, least):
    """Where sizes fall away from the corner, the power of 2 nearest to the first vertex can exceed the second one."""
    wedge = Pslg([[0, 0], [1, 0], [1, 0.3]], [[0, 1], [1, 2], [2, 0]])
    fine = dmr.refine(wedge, size=lambda points: least + 1.5 * np.abs(points[:, 0] - place), min_angle=10, device="cpu")
    report = dmr.validate(fine.mesh, input=wedge)
    assert report.ok, report.failures


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.floats(1e-4, 0.6), min_size=5, max_size=5),
    acute=st.tuples(st.booleans(), st.booleans()),
    most=st.integers(1, 4000),
)
def test_places_on_a_segment_ascend(sizes, acute, most):
    none = np.zeros(1, bool)
    segment = Segments(np.array([[0, 1]], np.int32), 1, np.ones(1, np.int32), none, np.array(acute, np.uint8), none)
    field = dmr.SizeField.from_grid(np.linspace(0, 1, 5), [-1, 1], [sizes] * 2)
    found = divide(np.array([[0.0, 0], [1, 0]]), segment, field, open_device("cpu", 1), most, even=False)
    places = np.concatenate([[0], found.parameter, [1]])
    assert (np.diff(places) > 0).all() and len(found.parameter) <= most


def test_chains_carry_the_error_of_rounding():
    """Four collinear segments of 3.4 sizes each are 13.6 sizes long: 14 pieces, not 12."""
    outline = [(3.4 * k, 0) for k in range(5)] + [(13.6, 3), (0, 3)]
    mesh = dmr.refine(domains.polygon(outline), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) - 1 == 14


def test_chains_with_a_short_segment_elsewhere_carry_no_error():
    """Pieces of 3.3 sizes would be longer than the size in a chain, and shorter alone: then the interior is coarser."""
    outline = [(3.3 * k, 0) for k in range(5)] + [(13.2, 2), (0, 2)]
    mesh = dmr.refine(domains.polygon(outline), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) - 1 == 16


@pytest.mark.parametrize("kept", ["boundary", "all"])
def test_kept_segments_are_not_divided(kept, device_options):
    fine = dmr.refine(SQUARE, size=0.2, keep_segments=kept, **device_options)
    assert len(fine.mesh.segments) == 4 and fine.steiner["segment"] == 0 and fine.steiner["front"] > 5
    assert dmr.validate(fine.mesh, input=SQUARE, min_angle=30, unrefined=fine.unrefined_triangles).ok


@pytest.mark.parametrize(("length", "pieces"), [(1.0, 1), (1.005, 1), (1.02, 2), (2.0, 2), (2.3, 3), (7, 7)])
def test_pieces_of_short_segments_are_not_longer_than_the_size(length, pieces):
    mesh = dmr.refine(domains.polygon([(0, 0), (length, 0), (length, 4), (0, 4)]), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) == pieces + 1


@pytest.mark.parametrize(("height", "pieces"), [(4, 3), (2, 4)])
def test_pieces_are_about_as_long_as_the_size_where_all_segments_are_long(height, pieces):
    """The mean edge is within 3% of the size there; where a segment is short, pieces are no longer than the size."""
    mesh = dmr.refine(domains.rectangle(3.3, height), size=1.0, device="cpu").mesh
    assert np.count_nonzero(mesh.vertices[:, 1] == 0) == pieces + 1


def test_a_small_size_between_samples_is_seen():
    """Sizes are 0.1 where a long segment is evaluated first, and twelve times smaller between."""

    def size(points):
        return np.clip(0.01 + 0.2 * np.abs(points[:, 0] - 1.2), 0.012, 0.1)

    mesh = dmr.refine(domains.rectangle(4, 1.5), size=size, device="cpu").mesh
    places = np.sort(mesh.vertices[mesh.vertices[:, 1] == 1.5, 0])
    middles = np.stack([0.5 * (places[1:] + places[:-1]), np.full(len(places) - 1, 1.5)], axis=1)
    ratios = np.diff(places) / size(middles)
    assert ratios.min() > 0.8 and ratios.max() < 1.2
    assert smallest_angles(mesh).min() > 36


def test_a_jump_of_sizes_along_a_segment_is_integrated_exactly():
    """20 pieces of 0.02 and 2 of 0.3 on a side of length 1 whose sizes jump at 0.4."""
    square = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    mesh = dmr.refine(square, size=lambda points: np.where(points[:, 0] < 0.4, 0.02, 0.3), device="cpu").mesh
    bottom = np.sort(mesh.vertices[mesh.vertices[:, 1] == 0, 0])
    assert np.count_nonzero(bottom < 0.39) == pytest.approx(20, abs=1)
    assert np.count_nonzero(bottom > 0.45) <= 6


@pytest.mark.parametrize("turn", [0.0, 0.07])
def test_two_pieces_in_a_corner_are_about_as_long(turn, device_options):
    """They form a triangle that no step after the division could improve; 40 degrees otherwise (0.09 and 0.077)."""
    c, s = np.cos(turn), np.sin(turn)
    corners = np.array([(0, 0), (5, 0), (5, 0.23), (0, 0.23)]) @ [[c, s], [-s, c]]
    strip = domains.polygon(corners)
    fine = dmr.refine(strip, size=0.09, **device_options).mesh
    assert dmr.validate(fine, input=strip, min_angle=30).ok
    assert smallest_angles(fine).min() > 41.5
    ends = fine.vertices[fine.boundary]
    pieces = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    for corner in corners:
        one, other = np.sort(pieces[(ends == corner).all(axis=2).any(axis=1)])
        assert other / one < 1.12
    assert pieces.max() / 0.09 < 1.05  # the others hardly change


def test_pieces_beside_a_hole_keep_their_lengths(device_options):
    """There the corner of the domain has 270 degrees."""
    hole = [(1, 1), (1.5, 1), (1.5, 1.23), (1, 1.23)]
    plate = domains.polygon([(0, 0), (3, 0), (3, 3), (0, 3)], holes=[hole])
    mesh = dmr.refine(plate, size=0.09, **device_options).mesh
    on_side = np.sort(mesh.vertices[(mesh.vertices[:, 1] == 1) & (np.abs(mesh.vertices[:, 0] - 1.25) <= 0.25), 0])
    assert len(on_side) >= 6 and np.allclose(np.diff(on_side), np.diff(on_side)[0], rtol=1e-9)


@pytest.mark.parametrize("h", [0.055, 0.085, 0.1])
def test_pieces_are_alike_in_all_corners_of_a_layer(h):
    """Where an interface meets the outline, two pieces form a triangle on both of its sides."""
    corners = [(0, 0), (3, 0), (3, 1), (0, 1), (0, 1.12), (3, 1.12), (0, 2), (3, 2)]
    segments = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 2), (4, 6), (6, 7), (7, 5)]
    layers = Pslg(corners, segments)
    mesh = dmr.refine(layers, size=h, device="cpu").mesh
    assert dmr.validate(mesh, input=layers, min_angle=30).ok
    assert smallest_angles(mesh).min() > 39  # 36.5, 36.2 and 31.8 if corners on one side of a layer did not follow


def test_pieces_in_narrow_domains_are_not_longer_than_the_size():
    """Pieces of both walls of this duct are whole numbers of sizes otherwise, and face each other nearly everywhere."""
    inner = [(0.9, 0.9), (11.4, 0.9), (11.4, 11.4), (0.9, 11.4)]
    duct = domains.polygon([(0, 0), (12.3, 0), (12.3, 12.3), (0, 12.3)], holes=[inner])
    mesh = dmr.refine(duct, size=1.0, device="cpu").mesh
    for low, high in ((0, 13), (0.9, 11)):
        on_wall = (mesh.vertices[:, 1] == low) & (mesh.vertices[:, 0] >= low) & (mesh.vertices[:, 0] <= 12.3 - low)
        assert on_wall.sum() == high + 1


def with_interface(*beside, markers=None):
    """A quadrilateral with an interface from the middle of its lower side, which rounding has moved inside."""
    corners = np.array([(0.1, 0.3), (2.1, 0.2), (1.9, 1.3), (-0.2, 1.5)])
    middle = (corners[0] + corners[1]) / 2
    vertices = np.concatenate([corners, [middle, middle + np.array((-0.1, 0.5))], middle + np.reshape(beside, (-1, 2))])
    return Pslg(vertices, [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]], segment_markers=markers)


@pytest.mark.parametrize("beside", [(), ((0.03, 0.01),)])
@pytest.mark.parametrize("markers", [None, [3, 0, 0, 0, 7], [0, 0, 0, 0, 7]])
def test_a_side_passes_through_the_vertex_in_its_middle(beside, markers, device_options):
    """The new vertex there had the same coordinates: no triangle had it, and the vertex had the marker 0. Pieces that
    end in the vertex were divided in wrong places, which left angles of 11 degrees."""
    domain = with_interface(*beside, markers=markers)
    assert len(dmr.triangulate(domain).triangles) == 6 + 2 * len(beside)  # one of them is flat
    refined = dmr.refine(domain, size=0.25, **device_options)
    report = dmr.validate(refined.mesh, input=domain, min_angle=30)
    assert report.ok, report.failures
    assert refined.complete and not refined.unrefined
    assert len(np.unique(refined.mesh.triangles)) == len(refined.mesh.vertices)
    assert len(refined.mesh.vertices) == len(domain.vertices) + sum(refined.steiner.values())


@pytest.mark.parametrize("beside", [(), ((0.03, 0.01),)])
def test_a_side_of_a_mesh_gets_no_vertices_where_they_would_coincide(beside, device_options):
    """Segments of a mesh become chains of new vertices."""
    mesh = dmr.triangulate(with_interface(*beside))
    refined = dmr.refine(mesh, size=0.25, **device_options)
    report = dmr.validate(refined.mesh, input=mesh, min_angle=30, unrefined=refined.unrefined_triangles)
    assert report.ok, report.failures
    assert len(np.unique(refined.mesh.triangles)) == len(refined.mesh.vertices)


def test_segments_do_not_meet_in_new_vertices(device_options):
    """A region so narrow that rounding makes vertices on two of its sides coincide."""
    vertices = [(0, 0), (2, 0), (2, 1), (0, 1), (0.3, 0.5), (1.7, 0.6), (1.7, np.nextafter(0.6, 1))]
    domain = Pslg(vertices, [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 4]])
    refined = dmr.refine(domain, size=0.25, **device_options)
    report = dmr.validate(refined.mesh, input=domain, min_angle=30, unrefined=refined.unrefined_triangles)
    assert report.ok, report.failures
    assert len(np.unique(refined.mesh.triangles)) == len(refined.mesh.vertices)


@pytest.mark.parametrize("size", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("as_mesh", [False, True])
def test_points_on_a_side_but_for_rounding_stay_in_the_domain(size, as_mesh, device_options):
    """Vertices on the side are rounded, too, and some of its pieces passed on the wrong side of these points."""
    corners = np.array([(0.9, -0.7), (-1.1, -0.9), (-1.0, -1.9), (1.0, -1.7)])
    on_side = corners[0] + np.outer(np.arange(1, 10) / 10, corners[1] - corners[0])
    domain = Pslg(np.concatenate([corners, on_side]), [[0, 1], [1, 2], [2, 3], [3, 0]])
    given = dmr.triangulate(domain) if as_mesh else domain
    refined = dmr.refine(given, size=size, **device_options)
    report = dmr.validate(refined.mesh, input=given, min_angle=30, unrefined=refined.unrefined_triangles)
    assert report.ok, report.failures


@pytest.mark.parametrize("as_mesh", [False, True])
def test_a_segment_along_a_side_but_for_rounding_stays_in_the_domain(as_mesh, device_options):
    """Pieces of the side passed on the wrong side of it. All that surrounds the domain was then meshed, too, and the
    call ended with an IndexError, or the process with a segmentation fault."""
    corners = np.array([(-0.4, 0.6), (-0.5, 2.6), (-1.5, 2.6), (-1.4, 0.6)])
    on_side = corners[0] + np.outer((0.1, 0.8), corners[1] - corners[0])
    domain = Pslg(np.concatenate([corners, on_side]), [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]])
    given = dmr.triangulate(domain) if as_mesh else domain
    mesh = dmr.refine(given, size=0.5, **device_options).mesh
    report = dmr.validate(mesh, input=given)
    assert report.ok, report.failures
