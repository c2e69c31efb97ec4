"""Triangles between long kept segments: the routes by which they are confirmed give what searches one by one give."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.validation.bounds import routes, unrefined
from dmr.validation.bounds.routes import Disks
from dmr.validation.checker import validate


def ring(*corners):
    """An outline."""
    ends = np.arange(len(corners), dtype=np.int32)
    return dmr.Pslg(np.array(corners, float), np.column_stack((ends, np.roll(ends, -1))))


NEEDLE = ring((0, 0), (200, 0), (100, 1))
STRIP = ring((0, 0), (200, 0), (200, 1), (0, 1))
SLANTED = ring((0, 0), (90, 3), (160, 40), (158, 41.5), (89, 4.5), (-0.5, 1))


@pytest.fixture
def met(monkeypatch):
    """The disks that searches compare with a path, one by one."""
    seen, meets = [], unrefined._meets
    monkeypatch.setattr(unrefined, "_meets", lambda *arguments: seen.append(1) or meets(*arguments))
    return seen


def kept(domain, size):
    return dmr.refine(domain, size=size, keep_segments="all", device="cpu")


@pytest.mark.parametrize("domain", [STRIP, SLANTED])
def test_long_kept_walls_take_few_steps_per_triangle(domain, met):
    fine = kept(domain, 0.3)
    listed = len(fine.unrefined_triangles["kept_segment"])
    assert listed > 500
    assert validate(fine.mesh, input=domain, min_angle=30, unrefined=fine.unrefined_triangles).ok
    assert len(met) < 4 * listed  # one by one, hundreds each


@pytest.mark.parametrize("size", [0.3, 0.6])
@pytest.mark.parametrize("domain", [NEEDLE, STRIP, SLANTED])
def test_routes_confirm_what_searches_confirm(domain, size, monkeypatch):
    fine = kept(domain, size)
    every = {"kept_segment": np.arange(len(fine.mesh.triangles)), "precision": np.arange(len(fine.mesh.triangles))}
    confirmed = []
    for fewest in (0, 10**9):
        monkeypatch.setattr(unrefined, "_FEWEST_ON_ROUTES", fewest)
        confirmed.append(validate(fine.mesh, input=domain, min_angle=30, unrefined=every).unrefined)
    assert confirmed[0] == confirmed[1]
    assert 0 < len(confirmed[0]["kept_segment"]) < len(fine.mesh.triangles)


def test_the_common_disk_lies_in_both():
    rng = np.random.default_rng(1)
    first, second = (Disks(rng.normal(size=(1000, 2)), 10 ** rng.uniform(-1, 1, 1000)) for _ in range(2))
    common = first.common(second)
    exists = common.radii > 0
    assert 200 < exists.sum() < 1000
    for disks in (first, second):
        away = np.hypot(*(disks.centers - common.centers).T)[exists]
        assert np.all(away + common.radii[exists] <= disks.radii[exists] + 1e-12)
    apart = np.hypot(*(first.centers - second.centers).T) > first.radii + second.radii
    assert apart.any() and not exists[apart].any()


def test_a_route_ends_before_a_circle_that_the_path_does_not_meet():
    """Disks in a row, of which the last one, the target, and all but one lie on the path."""

    class Row:
        def circle_of(self, t):
            return (float(t), 5.0 if t == 4 else 0.0), 1.0

        def beside(self, t):
            return [other for other in (t - 1, t + 1) if 0 <= other < 10]

    start, stop = np.array([[-1.0, 0.0]]), np.array([[10.0, 0.0]])
    for shortest in (False, True):
        found = routes.Routes(Row(), [9], range(10), shortest=shortest)
        starts, stops = np.repeat(start, 10, axis=0), np.repeat(stop, 10, axis=0)
        assert found.follow(list(range(10)), starts, stops) == [-1, -1, -1, -1, *[9] * 6]
