"""`size=`: small domains with fine parts are filled by the front from which sizes are extended."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

import dmr
from dmr import domains
from dmr.refinement.placement.coarse_front import extension
from dmr.refinement.placement.coarse_front.extension import FEW, extended
from tests.support.digests import mesh_digest

PLATE = [(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (0.0, 3.0)]
HOLES = [(0.011, 12, (3.0, 1.2)), (0.07, 10, (2.2, 0.7)), (0.083, 9, (1.9, 2.5))]  # radius, corners, center


def ring(outer, inner, radius):
    """The domain between two regular polygons with that many corners; the outer one has a radius of 1."""
    return domains.polygon(domains.circle_points(1.0, outer), [domains.circle_points(radius, inner, (0.0, 0.0))])


def plate(*, mirrored=False):
    """A plate with holes that are much finer than it is large."""
    rings = [np.array(PLATE), *(domains.circle_points(*hole) for hole in HOLES)]
    if mirrored:
        rings = [(ring * (-1.0, 1.0))[::-1] for ring in rings]
    return domains.polygon(rings[0], rings[1:])


def extension_of(domain, size, *, outer, whole=True):
    """The sizes that are extended from the segments of a domain, which are its pieces; `outer` of them are first."""
    pieces = domain.segments.copy()
    pieces[outer:] = pieces[outer:, ::-1]  # with the domain on the left
    return extended(domain.vertices, pieces, np.zeros(len(pieces), bool), size, size, smaller=True, whole=whole)


@pytest.mark.parametrize(
    ("outer", "inner", "radius", "size", "in_gmsh"),
    [
        (55, 79, 0.917, 0.1268, 186),
        (16, 5, 0.55, 0.3623, 134),
        (123, 114, 0.975, 0.033, 510),
        (21, 6, 0.2, 0.2258, 276),
    ],
)
def test_thin_rings_have_as_many_triangles_as_in_gmsh(outer, inner, radius, size, in_gmsh, device_options):
    """Fronts of rounds from both sides meet somewhere else: there were 254, 98, 630 and 316 triangles."""
    domain = ring(outer, inner, radius)
    mesh = dmr.refine(domain, size=size, **device_options).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(in_gmsh, rel=0.05)


@pytest.mark.parametrize(("mirrored", "in_gmsh"), [(False, 5055), (True, 4493)])
def test_a_mirrored_outline_has_another_number_of_triangles_as_in_gmsh(mirrored, in_gmsh, device_options):
    """Where the front could advance from two edges of a triangle, their order around new points decides. In another
    order, the mesh of each outline has about as many triangles as Gmsh's mesh of the other one."""
    domain = plate(mirrored=mirrored)
    mesh = dmr.refine(domain, size=0.15, **device_options).mesh
    assert dmr.validate(mesh, input=domain, min_angle=30).ok
    assert len(mesh.triangles) == pytest.approx(in_gmsh, rel=0.03)


def test_the_mesh_has_the_points_of_the_front_and_few_others():
    """Smoothing moves them; the angles of this ring need none."""
    domain = ring(40, 40, 0.5)
    filling = extension_of(domain, 0.2, outer=40).filling
    mesh = dmr.refine(domain, size=0.2, device="cpu").mesh
    assert len(mesh.vertices) == 80 + len(filling)


def test_points_keep_about_half_a_size_from_each_other_and_from_the_outline():
    """Half of the mean of three sizes is compared."""
    domain = plate()
    sizes, filling = extension_of(domain, 0.15, outer=4)
    points = np.concatenate([domain.vertices, filling])
    nearest = cKDTree(points).query(filling, k=2)[0][:, 1]
    assert (nearest > 0.4 * sizes.values[len(domain.vertices) :]).all()


def test_only_domains_that_need_few_points_are_filled():
    thin, wide = ring(1000, 1000, 0.975), ring(1000, 1000, 0.9)  # about 3,500 and 16,000 points
    for domain, size, filled in ((thin, 1.0, True), (wide, 1.0, False), (wide, 0.006, False)):
        filling = extension_of(domain, size, outer=1000).filling
        assert (filling is not None) == filled and (filling is None or 2000 < len(filling) <= FEW)
    assert extension_of(thin, 1.0, outer=1000, whole=False).filling is None


def test_a_limit_on_points_takes_the_first_ones():
    domain = plate()
    some = dmr.refine(domain, size=0.15, max_steiner=500, device="cpu")
    assert sum(some.steiner.values()) == 500 and not some.complete
    assert dmr.validate(some.mesh, input=domain).ok


def test_points_inside_the_outline_stay():
    domain = plate()
    inside = np.random.default_rng(0).uniform((0.2, 0.2), (1.5, 2.8), (20, 2))
    with_points = dmr.Pslg(np.concatenate([domain.vertices, inside]), domain.segments, holes=domain.holes)
    mesh = dmr.refine(with_points, size=0.15, device="cpu").mesh
    assert dmr.validate(mesh, input=with_points, min_angle=30).ok
    np.testing.assert_array_equal(mesh.vertices[: len(with_points.vertices)], with_points.vertices)


@pytest.mark.parametrize("kept", ["all", "boundary"])
def test_kept_segments_stay_whole(kept):
    domain = plate()
    refined = dmr.refine(domain, size=0.15, keep_segments=kept, device="cpu")
    assert len(refined.mesh.segments) == len(domain.segments)
    assert dmr.validate(refined.mesh, input=domain).ok


def test_more_points_than_a_small_domain_has_come_from_the_rounds_of_the_front(monkeypatch, device_options):
    """Both ways give about the same number of triangles."""
    few = dmr.refine(plate(), size=0.15, **device_options).mesh
    monkeypatch.setattr(extension, "FEW", 0)
    by_rounds = dmr.refine(plate(), size=0.15, **device_options).mesh
    assert mesh_digest(few) != mesh_digest(by_rounds)
    assert len(few.triangles) == pytest.approx(len(by_rounds.triangles), rel=0.06)
