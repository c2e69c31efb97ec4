"""The kernels' thresholds against decimal arithmetic of fifty digits."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext

import pytest

from dmr.refinement.options import RefineOptions
from dmr.refinement.steps.thresholds import FOR_TINY_MESHES, MARGIN, cosine_and_sine, thresholds

getcontext().prec = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def decimal_cosine(degrees: float) -> Decimal:
    x = Decimal(degrees) * PI / 180
    total = term = Decimal(1)
    for k in range(1, 60):
        term *= -x * x / ((2 * k - 1) * (2 * k))
        total += term
    return total


@pytest.mark.parametrize("degrees", [1e-9, 1, 20, 20.7, 25, 28, 30, 33, 45, 59.999, 90, 150])
def test_cosines_and_sines_are_exact_far_beyond_a_double(degrees):
    cosine, sine = cosine_and_sine(degrees)
    expected = decimal_cosine(degrees)
    assert abs(Decimal(cosine.numerator) / Decimal(cosine.denominator) - expected) < Decimal("1e-45")
    assert abs(Decimal(sine.numerator) / Decimal(sine.denominator) - (1 - expected**2).sqrt()) < Decimal("1e-35")


@pytest.mark.parametrize("degrees", [10, 20, 30, 33, 50])
def test_the_angle_bound_is_stricter_by_its_margin_only(degrees):
    got = Decimal(thresholds(RefineOptions(min_angle=degrees)).cosine_squared)
    exact = decimal_cosine(degrees) ** 2
    assert exact * (1 - Decimal(2) ** -39) < got < exact * (1 - Decimal(2) ** -41)


def test_an_off_center_lies_a_little_inside_the_bound():
    limit = thresholds(RefineOptions(min_angle=30)).off_center_limit
    tip = 2 * math.degrees(math.atan(0.5 / limit))  # the angle under which it sees the shortest edge
    assert 30 < tip < 32
    assert thresholds(RefineOptions(steiner="circumcenter")).off_center_limit == math.inf


def test_the_lens_is_seen_under_180_less_twice_the_bound():
    assert thresholds(RefineOptions(min_angle=30)).lens == pytest.approx(math.cos(math.radians(120)) ** 2)
    assert thresholds(RefineOptions(min_angle=50)).lens == 0  # larger than the circle: the circle
    assert thresholds(RefineOptions(conforming=True)).lens == 0


def test_disabled_bounds_never_fail():
    none = thresholds(RefineOptions(min_angle=0))
    assert none.cosine_squared > 1 and none.doubled_area == math.inf
    assert thresholds(RefineOptions(max_area=3)).doubled_area == 6 * (1 - MARGIN)


def test_strategies_for_tiny_meshes_differ_only_below_the_bounds():
    for options in (RefineOptions(), RefineOptions(min_angle=20, max_area=1.0)):
        made = [thresholds(options, recipe) for recipe in FOR_TINY_MESHES]
        assert len(set(made)) == len(made)
        assert len({(one.cosine_squared, one.doubled_area) for one in made}) == 1
