"""Angles below the bound, and the small input corners that excuse them."""

from __future__ import annotations

from math import atan, cos, degrees, radians, sin

import numpy as np
import pytest

from dmr.mesh.types import Mesh
from dmr.validation.checker import validate
from tests.support.meshes import grid, triangulated


def shell_bound(phi):
    return degrees(atan(sin(radians(phi)) / (2 - cos(radians(phi)))))


def wedge(phi, turn=0.0, offset=0.0):
    a, b = radians(turn), radians(turn + phi)
    corners = np.array([[0, 0], [cos(a), sin(a)], [cos(b), sin(b)]]) + offset
    return {"vertices": corners, "segments": [[0, 1], [1, 2], [2, 0]]}


def refined(data, options):
    """The mesh of a domain before and after Triangle's refinement."""
    return (triangulated(switches=switches, **data) for switches in ("p", options))


@pytest.mark.parametrize("phi", [5, 10, 20, 29])
@pytest.mark.parametrize("turn", [0.0, 40.0, 200.0])
def test_a_wedge_keeps_its_shell_angle(phi, turn):
    coarse, fine = refined(wedge(phi, turn), "pq30a0.01")
    for report in (validate(fine, min_angle=30, input=coarse), validate(fine, min_angle=30)):
        assert report.counts.keys() <= {"input segments"}  # Triangle's split points may lie further off
        assert report.exceptions
        assert {e.corner for e in report.exceptions} == {0}
        assert {e.reason for e in report.exceptions} <= {"corner", "shell", "cluster"}
        for e in report.exceptions:
            assert e.corner_angle == pytest.approx(phi)
            assert e.bound in (0.0, pytest.approx(shell_bound(phi)))
            assert e.angle >= e.bound * (1 - 1e-9)
            assert e.reason == "corner" or e.bound
        text = "\n".join(report.lines())
        assert "beside the input corner" in text


def test_the_20_degree_wedge_reaches_its_bound():
    _, fine = refined(wedge(20), "pq30a0.01")
    report = validate(fine, min_angle=30)
    assert report.ok
    assert min(e.angle for e in report.exceptions) == pytest.approx(shell_bound(20))


def test_a_small_angle_without_a_small_corner_fails():
    needle = grid([0.0, 1.0, 1.1, 2.0], [0.0, 1.0])
    report = validate(needle, min_angle=30)
    assert set(report.counts) == {"angle"}
    assert not report.exceptions
    assert "has an angle of 5.71" in report.failures[0].message


def shells(phi, near, far, beyond):
    """A wedge at vertex 0, split at distance `near` on one side and `far` on the other, and again at `beyond`."""
    a = radians(phi)
    d, e = np.array([1.0, 0.0]), np.array([cos(a), sin(a)])
    return Mesh(
        [0 * d, near * d, beyond * d, far * e, 2 * e],
        [[0, 1, 3], [1, 2, 3], [2, 4, 3]],
    )


def test_the_reason_is_derived_from_the_geometry():
    def kinds(mesh):
        report = validate(mesh, min_angle=33)
        return {e.triangle: e.reason for e in report.exceptions}, {
            f.index for f in report.failures if f.check == "angle"
        }

    excused, failed = kinds(shells(25, 1, 1, 2))
    assert excused[0] == "corner"
    assert excused[1] == "shell"
    assert 1 not in failed
    # The next split lies too far out: the shell's edge is seen under less than the bound.
    excused, failed = kinds(shells(25, 1, 1, 2.2))
    assert 1 in failed
    # Not on one shell: no "shell", and the triangle in the corner has a smaller angle than the corner's own.
    excused, failed = kinds(shells(25, 1, 1.4, 2))
    assert excused.get(1) != "shell"


def test_the_message_names_the_missed_bound():
    report = validate(shells(25, 1, 1, 2.2), min_angle=33)
    assert any("the bound beside the corner at vertex 0" in f.message for f in report.failures)


def test_corners_of_60_degrees_excuse_no_angle():
    mesh = shells(65, 1, 1, 4)
    report = validate(mesh, min_angle=25)
    assert "angle" in report.counts
    assert not report.exceptions


def test_a_corner_outside_the_mesh_excuses_no_angle():
    """A notch of 20 degrees: the small angle is outside, the one inside is 340 degrees."""
    a = radians(20)
    outline = [[0, 0], [3 * cos(a), 3 * sin(a)], [3, 3], [-3, 3], [-3, -3], [3, -3], [3, 0]]
    count = len(outline)
    segments = [[i, (i + 1) % count] for i in range(count)]
    mesh = triangulated(np.array(outline, float), "p", segments=segments)
    report = validate(mesh, min_angle=30)
    assert not report.exceptions


def test_straight_chains_are_one_segment_without_the_input():
    """The wedge's sides are split often: without the input, the corner is still found, and no other."""
    data = wedge(12, 33.0)
    coarse, fine = refined(data, "pq30a0.0005")
    assert len(fine.vertices) > 150
    with_input, without = validate(fine, min_angle=30, input=coarse), validate(fine, min_angle=30)
    assert with_input.exceptions == without.exceptions
    assert with_input.exceptions


def test_a_mesh_never_refined_lists_all_its_angles():
    mesh = triangulated(np.random.default_rng(8).random((2000, 2)))
    report = validate(mesh, min_angle=30)
    assert report.counts["angle"] > 1000
    assert len([f for f in report.failures if f.check == "angle"]) == 20


def test_a_triangle_next_to_a_shell_belongs_to_its_cluster():
    """The shell's edge belongs to a triangle that is wide enough; the narrow one beside it is listed apart."""
    a = radians(25)
    d, e = np.array([1.0, 0.0]), np.array([cos(a), sin(a)])
    vertices = [0 * d, d, e, 1.5 * d, [2, 0.35], [1.6, 1.2]]
    mesh = Mesh(vertices, [[0, 1, 2], [1, 3, 2], [3, 4, 2], [2, 4, 5]])
    report = validate(mesh, min_angle=33)
    assert {small.triangle: small.reason for small in report.exceptions}[2] == "cluster"
    assert next(small for small in report.exceptions if small.triangle == 2).bound == pytest.approx(shell_bound(25))
