"""The exact signs against determinants in Python integers and fractions."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr.exact
from dmr.exact import Points, integer_signs, polynomials, signs
from dmr.exact.bounded import Bounded


def whole(values, scale):
    """Floats times a power of two as an array of Python integers; they must be whole."""
    scaled = values * scale
    assert (np.floor(scaled) == scaled).all()
    assert np.isfinite(scaled).all()
    return np.array([int(v) for v in scaled.ravel().tolist()], object).reshape(values.shape)


def sign(values):
    return (values > 0).astype(int) - (values < 0).astype(int)


def lifted_determinant(p):
    """The 4 x 4 determinant of rows (x, y, x^2 + y^2, 1): another formula than that of differences."""
    rows = [(x, y, x * x + y * y) for x, y in p]

    def minor(i, j, k):
        (a, b, c), (d, e, f), (g, h, m) = rows[i], rows[j], rows[k]
        return a * (e * m - f * h) - b * (d * m - f * g) + c * (d * h - e * g)

    return -minor(1, 2, 3) + minor(0, 2, 3) - minor(0, 1, 3) + minor(0, 1, 2)


def by_integers(points, scale):
    """In-circle signs of (k, 4, 2) points."""
    p = whole(points, scale)
    return sign(lifted_determinant([(p[:, i, 0], p[:, i, 1]) for i in range(4)]))


def in_circle(points):
    vertices = points.reshape(-1, 2)
    index = np.arange(len(vertices)).reshape(-1, 4)
    return Points(vertices).in_circle(*index.T)


def cocircular(rng, count):
    """Integer points on circles: rotations of lattice vectors of the same length, moved about."""
    x, y = rng.integers(1, 1 << 20, (2, count))
    turns = np.stack([np.stack([x, y]), np.stack([-y, x]), np.stack([-x, -y]), np.stack([y, -x])])
    points = turns.transpose(2, 0, 1).astype(float)
    return points + rng.integers(-(1 << 20), 1 << 20, (count, 1, 2))


def nudged(rng, points):
    """About half of the points moved by one ulp in one coordinate."""
    moved = points.copy()
    chosen = rng.random(points.shape) < 0.25
    moved[chosen] = np.nextafter(points[chosen], np.where(rng.random(chosen.sum()) < 0.5, -np.inf, np.inf))
    return moved


COUNT = 15_000


SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])


def corners(rng):
    return rng.integers(1, 1000, (COUNT, 1, 2)) + SQUARE


# Points by family, and a power of two that makes all of their coordinates whole.
FAMILIES = {
    "random": (lambda rng: rng.random((COUNT, 4, 2)), 60),
    "cocircular": (lambda rng: cocircular(rng, COUNT), 0),
    "cocircular, one ulp off": (lambda rng: nudged(rng, cocircular(rng, COUNT) + 0.5), 60),
    "small integers": (lambda rng: rng.integers(0, 6, (COUNT, 4, 2)).astype(float), 0),
    "grid of decimal spacing": (lambda rng: corners(rng) * 0.001, 70),
    "grid, one ulp off": (lambda rng: nudged(rng, corners(rng) * 0.001), 70),
    "grid far off": (lambda rng: corners(rng) * 0.001 + 1e6, 60),
    "grid at 1e15": (lambda rng: corners(rng) + 1e15, 3),
    "grid at 1e15, one ulp off": (lambda rng: nudged(rng, corners(rng) + 1e15), 3),
    "grid of 1e-40": (lambda rng: corners(rng) * 1e-40, 200),
    "grid of 1e60": (lambda rng: corners(rng) * 1e60, 0),
    "flat grid": (lambda rng: corners(rng) * np.array([1.0, 1e-9]), 100),
    "very flat grid": (lambda rng: corners(rng)[: COUNT // 5] * np.array([1.0, 1e-70]), 300),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_in_circle_agrees_with_python_integers(name):
    make, exponent = FAMILIES[name]
    points = make(np.random.default_rng(5))
    expected = by_integers(points, 2.0**exponent)
    assert (in_circle(points) == expected).all()
    vertices = points.transpose(1, 2, 0)
    pairs = [(vertices[i, k], vertices[3, k]) for i in range(3) for k in range(2)]
    assert (integer_signs(polynomials.in_circle, pairs) == expected).all()


def test_rounded_signs_are_wrong_for_these_points():
    """The families above do need the exact stage."""
    points = nudged(np.random.default_rng(6), cocircular(np.random.default_rng(6), COUNT) + 0.5)
    a, b, c, d = points.transpose(1, 2, 0)
    rounded = np.sign(polynomials.in_circle(*(a - d), *(b - d), *(c - d)))
    assert (rounded != in_circle(points)).mean() > 0.01


def test_orientation_agrees_with_python_integers_near_a_line():
    rng = np.random.default_rng(7)
    a = rng.integers(1, 1 << 10, (COUNT, 2)).astype(float)
    step = rng.integers(1, 1 << 10, (COUNT, 2)) / 3
    points = nudged(rng, np.stack([a, a + step, a + 2 * step], axis=1))
    p = whole(points, 2.0**64)
    expected = sign(
        p[:, 0, 0] * (p[:, 1, 1] - p[:, 2, 1])
        + p[:, 1, 0] * (p[:, 2, 1] - p[:, 0, 1])
        + p[:, 2, 0] * (p[:, 0, 1] - p[:, 1, 1])
    )
    index = np.arange(3 * COUNT).reshape(-1, 3)
    assert (Points(points.reshape(-1, 2)).orientation(*index.T) == expected).all()
    assert len(set(expected)) == 3


any_float = st.floats(allow_nan=False, allow_infinity=False)
near_float = st.sampled_from([0.0, 1.0, -1.0, 5e-324, 2.0**-1022, 1.7e308, -1.7e308, 1e-160, 1e160, 1 + 2.0**-52])


@settings(max_examples=150)
@given(st.lists(any_float | near_float, min_size=8, max_size=8))
def test_in_circle_on_any_floats(coordinates):
    points = np.array(coordinates).reshape(1, 4, 2)
    exact = [(Fraction(x), Fraction(y)) for x, y in points[0].tolist()]
    determinant = lifted_determinant(exact)
    assert in_circle(points)[0] == (determinant > 0) - (determinant < 0)


@settings(max_examples=150)
@given(st.lists(any_float | near_float, min_size=6, max_size=6))
def test_orientation_on_any_floats(coordinates):
    points = np.array(coordinates).reshape(3, 2)
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in points.tolist())
    exact = ax * (by - cy) + bx * (cy - ay) + cx * (ay - by)
    found = Points(points).orientation(*np.arange(3)[:, None])
    assert found[0] == (exact > 0) - (exact < 0)


@settings(max_examples=100)
@given(st.lists(st.integers(-4, 4), min_size=8, max_size=8), st.sampled_from([1.0, 1e-40, 1e60, 0.1]))
def test_in_circle_on_small_integers(coordinates, unit):
    points = np.array(coordinates).reshape(1, 4, 2) * unit
    determinant = lifted_determinant([(Fraction(x), Fraction(y)) for x, y in points[0].tolist()])
    assert in_circle(points)[0] == (determinant > 0) - (determinant < 0)


@settings(max_examples=100)
@given(st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=12))
def test_the_filter_bound_holds(coordinates):
    p = np.array(coordinates).reshape(2, 6, 1)
    found = polynomials.in_circle(*(Bounded.difference(d) for d in p[0] - p[1]))
    exact = polynomials.in_circle(
        *(Fraction(x) - Fraction(y) for x, y in zip(p[0, :, 0].tolist(), p[1, :, 0].tolist(), strict=True))
    )
    assert abs(Fraction(float(found.value[0])) - exact) <= Fraction(float(found.error()[0]))


def test_off_line_is_exact():
    """On the x axis, a square of half-width u reaches the line from height u, and not from the next float above."""
    u = 2.0**-52
    v = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, u], [0.5, np.nextafter(u, 1)], [0.5, -u], [0.5, np.nextafter(-u, -1)]])
    count = 4
    found = Points(v).off_line(*np.tile([[0], [1]], count), np.arange(2, 6), np.full(count, u))
    assert found.tolist() == [False, True, False, True]


def test_signs_of_no_points():
    points = Points(np.zeros((0, 2)))
    none = np.zeros(0, np.int32)
    assert points.orientation(none, none, none).shape == (0,)
    assert signs(polynomials.cross, [(np.zeros(0), np.zeros(0))] * 4).shape == (0,)


def test_the_checker_imports_nothing_native():
    """The checker shares no code with the kernels."""
    folder = Path(dmr.exact.__file__).parents[1]
    allowed = {
        "dmr.exact",
        "dmr.errors",
        "dmr.mesh.arguments",
        "dmr.mesh.types",
        "dmr.exact.sweep",
        "dmr.validation",
        "numpy",
    }
    allowed |= {
        "dmr.mesh.edges",
        "dmr.mesh.naming",
        "dmr.common.arguments",
        "dmr.common.text",
        "dmr.common.number_arrays",
        "dmr.meshing.conversion",
    }  # words of its sentences, the edges that it measures, and checks and conversion of its arguments
    allowed |= {
        "dmr.common.threads",
        "dmr.common.available",
        "dmr.common.pooling",
        "dmr.common.lazy",
    }  # cores, memory, a pool of threads
    allowed |= {"dmr.common.cached"}  # a property that is computed once
    own = [*folder.glob("exact/*.py"), *folder.glob("validation/**/*.py")]
    assert len(own) > 10
    standard = {"__future__", "collections", "dataclasses", "fractions", "functools", "heapq", "itertools", "math"}
    standard |= {"numbers", "typing", "threading", "concurrent"}
    for path in own:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in names:
                known = any(name == a or name.startswith(f"{a}.") for a in allowed)
                assert known or name.startswith("dmr.validation") or name.split(".")[0] in standard, (
                    f"{path.name}: {name}"
                )
