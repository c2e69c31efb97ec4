"""First points: refinement for small angles first, where needles cross a nearly empty interior."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr.memory import open_device
from dmr.refinement.options import RefineOptions
from dmr.refinement.rounds import team_rounds
from dmr.refinement.setup.admission import admit
from dmr.refinement.steps.selection import Choice, Competition
from dmr.refinement.steps.thresholds import thresholds
from dmr.refinement.strategies.first_points import FEWEST, RUNGS, SHARE, count_needles, rungs
from tests.support.digests import result_summary
from tests.support.meshes import circle_outline
from tests.support.refinements import TEAMS


def climbed(mesh: dmr.Mesh, **options) -> list[float]:
    """Angle bounds of the first points, in degrees."""
    device = open_device("cpu", 1)
    with device.lock, device.current:
        state = admit(mesh, device)[0]
        found = rungs(state, RefineOptions(**options), count_needles(state))
    of = {thresholds(RefineOptions(min_angle=angle)).cosine_squared: angle for angle in RUNGS}
    return [of[limits.cosine_squared] for limits in found]


def smallest_angles_below(mesh: dmr.Mesh, degrees: float) -> int:
    """Number of triangles with an angle below a bound, by exact arithmetic except for the bound."""
    bound, count = Fraction(float(np.cos(np.radians(degrees)) ** 2)), 0
    for triangle in mesh.triangles:
        corners = [tuple(Fraction(x) for x in mesh.vertices[v].tolist()) for v in triangle]
        for k in range(3):
            (ox, oy), (ux, uy), (vx, vy) = corners[k], corners[k - 1], corners[k - 2]
            dot = (ux - ox) * (vx - ox) + (uy - oy) * (vy - oy)
            lengths = ((ux - ox) ** 2 + (uy - oy) ** 2) * ((vx - ox) ** 2 + (vy - oy) ** 2)
            if dot > 0 and dot * dot > bound * lengths:
                count += 1
                break
    return count


@pytest.mark.slow
def test_the_number_of_needles_decides_the_first_angles():
    mesh = dmr.triangulate(circle_outline(4000))
    counts = [smallest_angles_below(mesh, angle) for angle in RUNGS]
    assert counts == sorted(counts) and counts[0] > FEWEST
    assert climbed(mesh) == list(RUNGS)
    few = dmr.triangulate(circle_outline(FEWEST - 10))
    assert climbed(few) == []


@pytest.mark.slow
def test_random_points_have_no_first_angles():
    mesh = dmr.generate("random", 7000, seed=1)
    assert smallest_angles_below(mesh, RUNGS[-1]) < len(mesh.triangles) / SHARE
    assert climbed(mesh) == []


def test_first_angles_are_far_below_the_bound():
    mesh = dmr.triangulate(circle_outline(4000))
    assert climbed(mesh, min_angle=1.9) == list(RUNGS[:2])
    assert climbed(mesh, min_angle=0.2) == list(RUNGS[:1])
    assert climbed(mesh, min_angle=0) == []


@pytest.mark.parametrize(
    "options", [{}, {"steiner": "circumcenter", "min_angle": 20}, {"conforming": True, "min_angle": 20}]
)
def test_a_circle_needs_few_rounds_and_few_cavities(options):
    domain = circle_outline(3000)
    fine = dmr.refine(domain, device="cpu", **options)
    assert fine.complete
    assert dmr.validate(fine.mesh, input=domain, min_angle=options.get("min_angle", 30)).ok
    assert fine.rounds < 400  # thousands, without first points
    assert fine.acceptance > 0.2  # 0.06


@pytest.mark.parametrize("loop", ["host", "device"])
def test_host_and_device_rounds_give_the_same_result(loop, device_options):
    domain = circle_outline(1200)
    expected = dmr.refine(domain, device="cpu", threads=1, loop="host")
    assert result_summary(dmr.refine(domain, loop=loop, **device_options)) == result_summary(expected)


def test_team_sizes_do_not_change_the_result_where_most_cavities_lose(device_options, monkeypatch):
    """The rounds of this circle switch to competition in larger neighbourhoods, and back."""
    owners = []
    update = Competition.update

    def noted(self, competed, won):
        update(self, competed, won)
        owners.append(self.choice)

    domain = circle_outline(5000)
    with monkeypatch.context() as patched:
        patched.setattr(Competition, "update", noted)
        expected = dmr.refine(domain, device="cpu", threads=1, loop="host")
    assert {Choice.UNBEATEN, Choice.UNBEATEN_FAR} == set(owners) and owners[-1] == Choice.UNBEATEN
    small, middle = TEAMS["all in turn"]
    assert result_summary(dmr.refine(domain, **device_options)) == result_summary(expected)
    for who in ("SINGLE_BLOCK_ON_GPU", "SINGLE_BLOCK_ON_ONE_THREAD", "SINGLE_BLOCK_ON_THREADS"):
        monkeypatch.setattr(team_rounds, who, small)
    for who in ("PERSISTENT_ON_GPU", "PERSISTENT_ON_CPU"):
        monkeypatch.setattr(team_rounds, who, middle)
    assert result_summary(dmr.refine(domain, **device_options)) == result_summary(expected)


@pytest.mark.parametrize("marking", ["two-stage", "atomic", "three-phase"])
def test_first_points_with_every_marking(marking, device_options):
    domain = circle_outline(1200)
    fine = dmr.refine(domain, marking=marking, **device_options)
    assert fine.complete and fine.rounds < 400
    assert dmr.validate(fine.mesh, input=domain, min_angle=30).ok


def test_area_and_size_bounds_hold_after_first_points():
    mesh = dmr.triangulate(circle_outline(1200))
    bounded = dmr.Mesh(mesh.vertices, mesh.triangles, mesh.segments, area_bounds=np.full(len(mesh.triangles), 1e-4))
    assert climbed(bounded)
    fine = dmr.refine(bounded, device="cpu")
    assert dmr.validate(fine.mesh, input=bounded, min_angle=30).ok
    x, y = fine.mesh.vertices[fine.mesh.triangles].transpose(2, 1, 0)
    assert np.abs((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])).max() <= 2e-4
    asked = []

    def size(points):
        asked.append(len(points))
        return np.full(len(points), 0.05)

    sized = dmr.refine(mesh, max_edge=size, device="cpu")
    assert sized.complete and asked
    edges = sized.mesh.vertices[sized.mesh.triangles] - np.roll(sized.mesh.vertices[sized.mesh.triangles], 1, axis=1)
    assert np.hypot(*edges.reshape(-1, 2).T).max() <= 0.05


@pytest.mark.parametrize("limit", [0, 10, 300])
def test_a_limit_on_points_ends_the_run_at_any_first_angle(limit, device_options):
    domain = circle_outline(1200)
    fine = dmr.refine(domain, max_steiner=limit, **device_options)
    assert not fine.complete and fine.unrefined["budget"] > 0
    assert len(fine.mesh.vertices) == len(domain.vertices) + limit
    assert dmr.validate(fine.mesh, input=domain, min_angle=0).ok
    assert result_summary(fine) == result_summary(
        dmr.refine(domain, max_steiner=limit, device="cpu", threads=1, loop="host")
    )


def test_a_progress_callback_ends_the_run_at_the_first_angle():
    fine = dmr.refine(circle_outline(1200), device="cpu", progress=lambda *numbers: False)
    assert fine.rounds == 1 and not fine.complete and fine.unrefined["stopped"] > 0


# ---- Pieces of one length --------------------------------------------------------------------------------------------


def pieces(fine: dmr.Refinement, below: float) -> np.ndarray:
    """Lengths of the subsegments whose ends lie below a height, from left to right."""
    ends = fine.mesh.vertices[fine.mesh.segments]
    low = ends[(ends[:, :, 1] < below).all(axis=1)]
    return np.sort(np.abs(low[:, 0, 0] - low[:, 1, 0]))


@pytest.mark.slow
@pytest.mark.parametrize("length", [37.0, 100.0, 1237.0, 30_011.0])
@pytest.mark.parametrize("angle", [15.0, 20.0, 30.0])
def test_long_segments_are_split_into_equal_pieces(length, angle):
    """A straight channel: no piece is much shorter than the longest that the angle allows, whatever its length is."""
    corners = [(0, 0), (length, 0), (length, 1), (0, 1)]
    domain = dmr.Pslg(corners, [(0, 1), (1, 2), (2, 3), (3, 0)])
    fine = dmr.refine(domain, min_angle=angle, device="cpu")
    assert dmr.validate(fine.mesh, input=domain, min_angle=angle).ok
    allowed = 1 / np.tan(np.radians(angle))
    assert np.median(pieces(fine, 0.5)) > 0.6 * allowed
    assert len(fine.mesh.triangles) < 3.2 * length / allowed + 40


def test_large_cavities_are_tried_far_apart():
    """Beside each other they overlap: one or two of a pass would win, and this polygon would take 300 rounds."""
    result = dmr.refine(dmr.domains.regular_polygon(20_000), min_angle=20)
    assert result.complete and result.rounds < 100
