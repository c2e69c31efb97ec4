"""The option `area`: a number, an area per triangle of the mesh, or a function of position."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.errors import OptionError, WrongTypeError
from tests.support.digests import mesh_digest

PLATE = domains.rectangle(4, 2)
COARSE = dmr.refine(PLATE, max_area=0.2, device="cpu").mesh


def growing(points):
    """Areas that grow from left to right; not above 0 outside of the plate."""
    return 0.002 + 0.02 * points[:, 0]


def exact_excess(mesh, area):
    """The largest area over the bound at the centroid, of exact areas and centroids."""
    worst = Fraction(0)
    for corners in mesh.triangles:
        (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(x)) for x in mesh.vertices[v]] for v in corners)
        bound = area(np.array([[float((ax + bx + cx) / 3), float((ay + by + cy) / 3)]]))[0]
        worst = max(worst, ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2 / Fraction(float(bound)))
    return float(worst)


@pytest.mark.parametrize(
    "options",
    [{}, {"max_edge": lambda points: 0.1 + 0.1 * points[:, 1]}, {"size": 0.3}, {"optimize": True}],
    ids=["alone", "max_edge", "size", "optimize"],
)
def test_a_function_of_the_place_bounds_areas_on_every_device(options, device_options):
    fine = dmr.refine(PLATE, area=growing, **options, **device_options)
    bounds = {name: options[name] for name in ("max_edge",) if name in options}
    assert dmr.validate(fine.mesh, input=PLATE, min_angle=30, area=growing, **bounds).ok
    assert 0.6 < exact_excess(fine.mesh, growing) < 1 + 1e-12
    reference = dmr.refine(PLATE, area=growing, **options, device="cpu", threads=1)
    assert mesh_digest(fine.mesh) == mesh_digest(reference.mesh)


def test_a_function_is_called_few_times_and_decides_in_the_end():
    calls = []

    def stepped(points):
        calls.append(len(points))
        return np.where(points[:, 0] < 1.37, 0.001, 0.05)

    fine = dmr.refine(PLATE, area=stepped, device="cpu").mesh
    assert len(calls) < 60 and sum(calls) < 10 * len(fine.triangles)
    assert exact_excess(fine, stepped) < 1 + 1e-12


def test_infinity_is_no_bound():
    free = dmr.refine(PLATE, area=lambda points: np.full(len(points), np.inf), device="cpu").mesh
    assert len(free.triangles) <= 2 * len(dmr.refine(PLATE, device="cpu").mesh.triangles)


def test_an_area_per_triangle_is_a_bound_within_it():
    areas = np.where(np.arange(len(COARSE.triangles)) % 3, np.inf, 0.003)
    fine = dmr.refine(COARSE, area=areas, device="cpu")
    parent = fine.parents
    corners = fine.mesh.vertices[fine.mesh.triangles]
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    bounded = np.isfinite(areas[parent])
    assert (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])[bounded].max() <= 2 * 0.0031
    assert dmr.validate(fine.mesh, input=COARSE, min_angle=30).ok
    assert len(dmr.outline(fine.mesh).vertices) == 4  # the origin of the mesh is still known
    assert COARSE.area_bounds is None


def test_the_smallest_bound_applies():
    mesh = dmr.Mesh(COARSE.vertices, COARSE.triangles, area_bounds=np.full(len(COARSE.triangles), 0.01))
    expected = mesh_digest(dmr.refine(mesh, device="cpu").mesh)
    for options in ({"area": 0.02}, {"area": np.full(len(COARSE.triangles), 0.5)}, {"max_area": 1, "area": 0.2}):
        assert mesh_digest(dmr.refine(mesh, device="cpu", **options).mesh) == expected
    number = dmr.refine(PLATE, max_area=0.01, device="cpu").mesh
    for options in ({"area": 0.01}, {"area": 0.01, "max_area": 1}, {"area": 1, "max_area": 0.01}):
        assert mesh_digest(dmr.refine(PLATE, device="cpu", **options).mesh) == mesh_digest(number)


def test_a_mesh_beyond_a_bound_by_place_is_refused():
    report = dmr.validate(COARSE, area=growing)
    assert {failure.check for failure in report.failures} == {"area"}
    assert report.counts["area"] == sum(
        exact_excess(dmr.Mesh(COARSE.vertices, [corners]), growing) > 1 for corners in COARSE.triangles
    )


@pytest.mark.parametrize(
    ("domain", "area", "error", "text"),
    [
        (PLATE, [1.0, 2.0], WrongTypeError, "area is a list, which has an area per triangle, and an outline has no"),
        (COARSE, [1.0, 2.0], OptionError, f"area must have shape ({len(COARSE.triangles)},), one area per triangle"),
        (COARSE, np.zeros(len(COARSE.triangles)), OptionError, "area: triangle 0 has 0, but areas must be above 0"),
        (PLATE, "small", WrongTypeError, "area must be a number, not 'small'"),
        (PLATE, 0, OptionError, "area must be a finite number above 0, not 0"),
        (PLATE, lambda points: -2 - points[:, 0], OptionError, "area is -3 at (1, 1): it must be above 0 everywhere"),
        (PLATE, lambda points: points, OptionError, "area must return one number for each of 155 points"),
    ],
)
def test_areas_that_cannot_be_used_are_named(domain, area, error, text):
    with pytest.raises(error, match=re.escape(text)):
        dmr.refine(domain, area=area)
