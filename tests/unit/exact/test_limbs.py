"""Vectorised long integers against Python's."""

from __future__ import annotations

import random
from fractions import Fraction
from math import cos, isqrt, radians

import numpy as np
import pytest

from dmr.exact.limbs import LIMB, Limbs
from dmr.exact.trigonometry import cosine_squared_above


def limbs(values, shifts):
    bits = max(max(abs(v) << s for v, s in zip(values, shifts, strict=True)).bit_length(), 1)
    return Limbs.shifted(np.array(values, np.int64), np.array(shifts, np.int64), bits)


def integers(number):
    total = [0] * len(number.limbs[0])
    for i, limb in enumerate(number.limbs):
        total = [t + (int(v) << (LIMB * i)) for t, v in zip(total, limb, strict=True)]
    return total


def draw(rng, count, bits, shift):
    values = [rng.choice((-1, 1)) * rng.getrandbits(rng.randint(1, bits)) for _ in range(count)]
    values[:6] = [0, 1, -1, (1 << bits) - 1, -(1 << bits) + 1, 1 << (bits - 1)]
    shifts = [rng.randint(0, shift) for _ in values]
    return values, shifts, [v << s for v, s in zip(values, shifts, strict=True)]


@pytest.mark.parametrize("bits", [1, 14, 27, 28, 29, 55, 56, 62])
@pytest.mark.parametrize("shift", [0, 1, 27, 28, 100, 260])
def test_arithmetic_agrees_with_python(bits, shift):
    rng = random.Random(bits * 1000 + shift)
    va, sa, a = draw(rng, 60, bits, shift)
    vb, sb, b = draw(rng, 60, bits, shift)
    x, y = limbs(va, sa), limbs(vb, sb)
    assert integers(x) == a
    assert integers(x + y) == [p + q for p, q in zip(a, b, strict=True)]
    assert integers(x - y) == [p - q for p, q in zip(a, b, strict=True)]
    assert integers(x * y) == [p * q for p, q in zip(a, b, strict=True)]
    assert integers((x + y) * (x - y) - x * x) == [-q * q for q in b]
    factor = (1 << 80) - 12345
    assert integers(factor * (x * y)) == [factor * p * q for p, q in zip(a, b, strict=True)]
    expected = [(p > q) - (p < q) for p, q in zip(a, b, strict=True)]
    assert (x - y).sign().tolist() == expected
    assert (x - x).sign().tolist() == [0] * 60


def test_long_sums_stay_within_their_limbs():
    """Sums of many products of the largest limbs: what the tracked slack is for."""
    big = [(1 << 62) - 1, -(1 << 62) + 1]
    x = limbs(big, [210, 210])
    total, expected = x * x, [v * v << 420 for v in big]
    for _ in range(50):
        total = total + x * x
    assert integers(total) == [51 * v for v in expected]
    assert integers(total * total) == [(51 * v) ** 2 for v in expected]


@pytest.mark.parametrize("degrees", [0.0, 1e-9, 5.0, 20.0, 28.6, 30.0, 33.0, 45.0, 59.999, 60.0, 90.0])
def test_squared_cosine_is_rounded_outward(degrees):
    numerator, denominator = cosine_squared_above(degrees)
    assert numerator / denominator == pytest.approx(cos(radians(degrees)) ** 2, abs=1e-15)
    exact = {0.0: Fraction(1), 30.0: Fraction(3, 4), 45.0: Fraction(1, 2), 60.0: Fraction(1, 4), 90.0: Fraction(0)}
    if degrees in exact:
        assert exact[degrees] <= Fraction(numerator, denominator) < exact[degrees] + Fraction(1, 2**79)


def test_squared_cosine_of_15_degrees():
    """cos^2 15 = (2 + sqrt 3) / 4."""
    numerator, denominator = cosine_squared_above(15.0)
    root = isqrt(3 << 400)
    assert ((2 << 200) + root) * denominator <= 4 * numerator << 200
    assert ((2 << 200) + root + 1) * denominator > (4 * numerator - 8) << 200


@pytest.mark.parametrize("degrees", [-1.0, 91.0, float("nan")])
def test_squared_cosine_refuses_other_angles(degrees):
    with pytest.raises(ValueError, match="0 to 90"):
        cosine_squared_above(degrees)
