"""The exact predicates against integer arithmetic, where double and double-double arithmetic fail."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.memory import open_device
from dmr.refinement.state.records import POINT

SMALLEST, LARGEST = 2.0**-142, 2.0**201  # the admitted coordinates (dmr/refinement/setup/admission.py)
ULP = 2.0**-52
FEW = 3000  # rows of a family that the oracle handles with Python's integers
MANY = 250_000  # rows of a family that it handles with int64

# The kernels


def signs(device, points, *, exact=False):
    """Signs that a kernel computes for each row of `points`, shape (rows, points per row, 2)."""
    kernel = "orient2d_all" if points.shape[1] == 3 else "incircle_all"
    result = device.empty(len(points), np.int32)
    arguments = [device.array(points[:, place], POINT) for place in range(points.shape[1])]
    device.launch(kernel, len(points), *arguments, int(exact), result)
    return result.download()


def both_stages(device, points):
    """The predicate's signs, checked against those of its exact stage alone."""
    found = signs(device, points)
    assert np.array_equal(found, signs(device, points, exact=True))
    return found


# The oracle: the determinants in any arithmetic that is exact


def as_integers(points):
    """The coordinates as Python integers, all multiplied by one power of two, which no sign depends on."""
    mantissas, exponents = np.frexp(points)
    exponents = np.where(points == 0, exponents.max(), exponents)
    shifts = (exponents - exponents.min()).astype(object)
    return (mantissas * 2.0**53).astype(np.int64).astype(object) << shifts


def expand(corners):
    """The determinant of orient2d (two corners) or incircle (three), each as (x, y) seen from the last point."""
    if len(corners) == 2:
        (ax, ay), (bx, by) = corners
        return ax * by - ay * bx
    (ax, ay), (bx, by), (cx, cy) = corners
    return (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        + (bx * bx + by * by) * (cx * ay - cy * ax)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )


def determinant(points):
    """The determinant of each row, in the arithmetic of the coordinates."""
    return expand([(corner[:, 0], corner[:, 1]) for corner in (points[:, :-1] - points[:, -1:]).swapaxes(0, 1)])


def oracle(points):
    """The true signs."""
    exact = points if points.dtype == np.int64 else as_integers(points)
    return np.sign(determinant(exact)).astype(np.int32)


# Families of hard inputs; each returns (rows, 3 or 4, 2)


def random_points(random, rows, corners):
    return random.random((rows, corners, 2)) - 0.5


def on_a_line_or_circle(random, rows, corners):
    """Rounded points of one line or circle per row, most of them moved by a few ulps."""
    if corners == 3:
        start, direction = random.random((2, rows, 1, 2)) + 0.5
        points = start + random.random((rows, 3, 1)) * direction
    else:
        angle = random.random((rows, 4)) * 2 * np.pi
        radius, center = random.random((rows, 1, 1)) + 0.5, random.random((rows, 1, 2))
        points = center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return points + random.integers(-2, 3, points.shape) * np.spacing(points)


def small_integers(random, rows, corners):
    """Most rows are degenerate."""
    return random.integers(-3, 4, (rows, corners, 2)).astype(float)


def pythagorean(random, rows, corners):
    """Integer points of a circle of radius 5 * 13 * 17, half of the rows with one coordinate moved by 1; of a line."""
    radius = 5 * 13 * 17
    axis = np.arange(-radius, radius + 1)
    x, y = np.meshgrid(axis, axis)
    on_it = np.argwhere(x**2 + y**2 == radius**2) - radius
    points = on_it[random.integers(0, len(on_it), (rows, corners))].astype(float)
    if corners == 3:
        points = points[:, :1] * random.integers(-9, 10, (rows, 3, 1))
    points[::2, random.integers(corners), random.integers(2)] += random.choice([-1.0, 1.0])
    return points


def mixed_exponents(random, rows, corners):
    shape = (rows, corners, 2)
    return np.ldexp(random.random(shape) + 1.0, random.integers(-142, 201, shape)) * random.choice([-1, 1], shape)


def offset(random, rows, corners):
    """Rounded small grids far from the origin."""
    return 10.0 ** random.integers(6, 16, (rows, 1, 1)) + 0.1 * random.integers(0, 5, (rows, corners, 2))


def at_the_limits(random, rows, corners):
    """Coordinates from the ends of the admitted range, and an ulp away from them."""
    ends = np.array([0.0, SMALLEST, SMALLEST * (1 + ULP), SMALLEST * (1 + 2 * ULP), LARGEST, LARGEST * (1 - ULP)])
    shape = (rows, corners, 2)
    points = ends[random.integers(0, 6, shape)] * random.choice([-1, 1], shape)
    points[: rows // 2] = ends[random.integers(1, 4, (rows // 2, corners, 2))]  # all within two of the smallest units
    return points


def far_smaller_last_point(random, rows, corners):
    """On one line or circle through the origin, the last point 2^-50 to 2^-70 as far away as the others."""
    scale = np.ldexp(1.0, -random.integers(50, 71, rows))
    p, q = random.integers(1, 2**20, (2, rows)).astype(float)
    direction, normal = np.stack([p, q], axis=-1), np.stack([-q, p], axis=-1)
    if corners == 3:
        points = direction[:, None] * random.integers(2**20, 2**26, (rows, 3, 1))
        nudge = random.integers(-2, 3, (rows, 2)) * np.spacing(points[:, 2])
    else:
        # normal is the center: the corners are reflections of the origin, the last point lies on the tangent.
        turns = np.array([[3, 4], [5, 12], [8, 15], [-7, 24], [20, -21], [-12, 35]])
        cos, sin = turns[np.argsort(random.random((rows, 6)))[:, :3]].transpose(2, 0, 1).astype(float)
        scaled = np.hypot(cos, sin)
        turned = np.stack(
            [scaled * normal[:, :1] + cos * -normal[:, :1] + sin * normal[:, 1:],
             scaled * normal[:, 1:] - sin * normal[:, :1] - cos * normal[:, 1:]], axis=-1,
        )  # fmt: skip
        common = 5.0 * 13 * 17 * 29 * 37
        points = np.concatenate([turned * (common / scaled)[..., None], direction[:, None] * common], axis=1)
        nudge = random.integers(-1, 2, (rows, 2)) * np.spacing(points[:, 3])
    points[:, -1] = (points[:, -1] + nudge) * scale[:, None]
    return points


def rectangles(random, rows, corners):
    """Corners of rectangles parallel to the axes, from any of them, or two equal; half moved by up to an ulp."""
    low, high = random.random((2, rows, 2)) - [[[0.5, 0.5]], [[2.0, 2.0]]]
    x, y = (np.stack([low[:, k], high[:, k], high[:, k], low[:, k]], axis=1) for k in (0, 1))
    points = np.stack([x, np.roll(y, 1, axis=1)], axis=-1)[:, :corners]
    points[::9] = points[::9, random.integers(0, corners, corners)]
    points[::2] += random.integers(-1, 2, points[::2].shape) * np.spacing(points[::2])
    return points[:, random.permutation(corners)]


def about_thirty_bits(random, rows, corners):
    """Differences of 28 to 32 bits: points of a circle or a line through the last one, or a unit off it."""
    p, q = random.integers(1, 2**13, (2, rows, corners))
    unit = 2 ** random.integers(0, 5, (rows, 1))
    turn = np.stack([p * p - q * q, 2 * p * q], axis=-1) * unit[..., None]  # at p^2 + q^2 from the origin
    if corners == 3:
        turn = turn[:, :1] * np.array([1, -1, 3])[:, None]
    else:
        turn[:, 1:] = np.stack([turn[:, 0] * [1, -1], turn[:, 0] * -1, turn[:, 0, ::-1]], axis=1)
    turn[::2, random.integers(corners), random.integers(2)] += random.choice([-1, 1])
    return turn * np.ldexp(1.0, random.integers(-60, 60, (rows, 1, 1)))


FAMILIES = (
    random_points, on_a_line_or_circle, small_integers, pythagorean, mixed_exponents, offset, at_the_limits,
    far_smaller_last_point, rectangles, about_thirty_bits,
)  # fmt: skip


@cache
def family(name, corners, rows=FEW):
    """(points, true signs) of a family, cached for all devices."""
    make = next(make for make in FAMILIES if make.__name__ == name)
    points = make(np.random.default_rng(corners), rows, corners)
    magnitude = np.abs(points[points != 0])
    assert magnitude.min() >= SMALLEST and magnitude.max() <= LARGEST
    return points, oracle(points)


every_family = pytest.mark.parametrize("name", [make.__name__ for make in FAMILIES])
both_predicates = pytest.mark.parametrize("corners", [3, 4], ids=["orient2d", "incircle"])


@every_family
@both_predicates
def test_signs_are_exact(device, name, corners):
    points, expected = family(name, corners)
    assert np.array_equal(both_stages(device, points), expected)


@pytest.mark.slow
@every_family
@both_predicates
def test_exchanging_two_points_flips_the_sign(device, name, corners):
    points, expected = family(name, corners)
    for order in permutations(range(corners)):
        parity = round(np.linalg.det(np.eye(corners)[list(order)]))
        assert np.array_equal(both_stages(device, points[:, order]), parity * expected), order


@every_family
@both_predicates
def test_a_reflection_flips_the_sign_and_a_half_turn_keeps_it(device, name, corners):
    points, expected = family(name, corners)
    assert np.array_equal(both_stages(device, points * [-1, 1]), -expected)
    assert np.array_equal(both_stages(device, points[..., ::-1]), -expected)
    assert np.array_equal(both_stages(device, -points), expected)


@cache
def integer_grid(corners, rows=MANY):
    """(integer points, true signs): half of the rows from a small grid, full of ties, half from a wide one."""
    random = np.random.default_rng(5)
    small, wide = random.integers(0, 8, (rows // 2, corners, 2)), random.integers(0, 4096, (rows // 2, corners, 2))
    points = np.concatenate([small, wide])
    return points, oracle(points)


@pytest.mark.slow
@pytest.mark.parametrize("away", [0.0, 1e6, -1e9, 1e15])
@both_predicates
def test_a_quarter_of_a_million_integer_rows(device, corners, away):
    points, expected = integer_grid(corners)
    assert (expected == 0).mean() > 0.02
    assert np.array_equal(both_stages(device, points + away), expected)


@both_predicates
def test_scaling_by_a_power_of_two_keeps_the_sign(device, corners):
    points, expected = integer_grid(corners)
    exponents = np.random.default_rng(6).integers(-142, 201 - 12, (len(points), 1, 1))
    assert np.array_equal(both_stages(device, np.ldexp(points.astype(float), exponents)), expected)


coordinates = st.integers(-4, 4).map(float) | st.floats(SMALLEST, LARGEST) | st.floats(-LARGEST, -SMALLEST)


@settings(max_examples=100)
@given(st.lists(coordinates, min_size=8, max_size=8))
def test_signs_of_any_admitted_coordinates(device, numbers):
    points = np.array(numbers).reshape(1, 4, 2)
    assert np.array_equal(both_stages(device, points), oracle(points))
    assert np.array_equal(both_stages(device, points[:, :3]), oracle(points[:, :3]))


def test_signs_of_known_configurations(device):
    left, line = [[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]
    assert both_stages(device, np.array([left, left[::-1], line], float)).tolist() == [1, -1, 0]
    rows = np.array([[*left, [0.5, 0.5]], [*left, [2, 2]], [*left, [1, 1]]])
    assert both_stages(device, rows).tolist() == [1, -1, 0]


def test_the_oracle_on_known_determinants():
    assert determinant(as_integers(np.array([[[0.5, 0.0], [0.0, 0.25], [0.0, 0.0]]]))).tolist() == [2**53 * 2**52]
    assert oracle(np.array([[[0, 0], [3, 0], [0, 3], [1, 1]]])).tolist() == [1]


# Cases that less exact arithmetic gets wrong


def in_doubles(points):
    """The sign that plain double arithmetic gives."""
    return np.sign(determinant(points)).astype(np.int32)


class DoubleDouble:
    """About 106 bits as an unevaluated sum of two doubles (Dekker 1971; the accurate addition of the QD library)."""

    def __init__(self, high, low):
        self.high, self.low = high, low

    @staticmethod
    def two_sum(a, b):
        total = a + b
        shadow = total - a
        return total, (a - (total - shadow)) + (b - shadow)

    @staticmethod
    def two_product(a, b):
        (ah, al), (bh, bl) = ((high := (134217729.0 * x) - (134217729.0 * x - x), x - high) for x in (a, b))
        product = a * b
        return product, al * bl - (((product - ah * bh) - al * bh) - ah * bl)

    @classmethod
    def normalised(cls, high, low):
        total = high + low
        return cls(total, low - (total - high))

    def __add__(self, other):
        high, error = self.two_sum(self.high, other.high)
        low, rest = self.two_sum(self.low, other.low)
        first = self.normalised(high, error + low)
        return self.normalised(first.high, first.low + rest)

    def __neg__(self):
        return DoubleDouble(-self.high, -self.low)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        product, error = self.two_product(self.high, other.high)
        return self.normalised(product, error + (self.high * other.low + self.low * other.high))

    def sign(self):
        return np.where(self.high != 0, np.sign(self.high), np.sign(self.low)).astype(np.int32)


def in_double_doubles(points):
    """The sign that double-double arithmetic gives; even its differences of coordinates are exact."""
    differences = [
        [DoubleDouble(*DoubleDouble.two_sum(points[:, corner, axis], -points[:, -1, axis])) for axis in (0, 1)]
        for corner in range(points.shape[1] - 1)
    ]
    return expand(differences).sign()


# The corners (39, 13), (60, 90), (-25, 125) lie on the circle x^2 + (y - 65)^2 = 65^2, whose tangent at the origin is
# the x axis: at x = 2^-60 the circle is 2^-127 above it, which takes 134 bits to see.
CIRCLE = ((39, 13), (60, 90), (-25, 125))
TINY = 2.0**-60
HARD = {
    "a point of the tangent is outside": ((*CIRCLE, (TINY, 0)), -1),
    "just below the circle": ((*CIRCLE, (TINY, 2.0**-128)), -1),
    "just above the circle": ((*CIRCLE, (TINY, 2.0**-126)), 1),
    "over the whole admitted range": ((*((x * 2.0**190, y * 2.0**190) for x, y in CIRCLE), (SMALLEST, 0)), -1),
    "a tie on a grid of step 0.1, far away": (
        ((1e6 + 0.2, 1e6 + 0.4), (1e6 + 0.1, 1e6 + 0.3), (1e6 + 0.4, 1e6 + 0.2), (1e6 + 0.3, 1e6 + 0.4)), 0,
    ),
    "an ulp off the line y = 13/7 x": (((84, 156), (91, 169), (210 * TINY, 390 * TINY * (1 + ULP))), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_double_and_double_double_arithmetic_fail_where_predicates_do_not(device, name):
    row, expected = HARD[name]
    points = np.array([row], float)
    assert oracle(points) == expected
    assert both_stages(device, points) == expected
    assert in_doubles(points) != expected
    assert in_double_doubles(points) != expected


@both_predicates
def test_double_doubles_give_opposite_signs(device, corners):
    points, expected = family("far_smaller_last_point", corners)
    wrong = in_double_doubles(points) == -expected
    assert np.count_nonzero(wrong & (expected != 0)) > 0.005 * len(points)
    assert np.array_equal(both_stages(device, points), expected)


def test_double_doubles_are_right_where_106_bits_are_enough():
    for name in ("on_a_line_or_circle", "small_integers", "pythagorean"):
        for corners in (3, 4):
            points, expected = family(name, corners)
            assert np.array_equal(in_double_doubles(points), expected)


def test_plain_doubles_fail_beside_a_diagonal(device):
    """Kettner et al., "Classroom examples of robustness problems in geometric computations" (2008), figure 2."""
    steps = np.stack(np.meshgrid(np.arange(64), np.arange(64)), axis=-1).reshape(-1, 2)
    points = np.empty((len(steps), 3, 2))
    points[:, 0], points[:, 1], points[:, 2] = 0.5 + steps * ULP, 12.0, 24.0
    expected = oracle(points)
    assert np.count_nonzero(in_doubles(points) != expected) > 1000
    assert np.array_equal(both_stages(device, points), expected)


def test_smallest_possible_differences():
    """One ulp of the smallest coordinate: products of four are 2^-776, the end of the exact stage's accumulator."""
    grid = SMALLEST * (1 + ULP * np.stack(np.meshgrid(np.arange(3), np.arange(3)), axis=-1).reshape(-1, 2))
    points = grid[np.array(list(permutations(range(9), 4)))]
    device = open_device("cpu", 1)
    assert np.array_equal(both_stages(device, points), oracle(points))
    assert np.array_equal(both_stages(device, points[:, :3]), oracle(points[:, :3]))


@pytest.mark.gpu
@both_predicates
def test_millions_of_signs_agree_on_the_gpu(gpu, corners):
    points, expected = integer_grid(corners, 2_000_000)
    assert np.array_equal(both_stages(gpu, points.astype(float)), expected)
    cpu = open_device("cpu")
    for make in FAMILIES:
        points = make(np.random.default_rng(7), 500_000, corners)
        assert np.array_equal(both_stages(gpu, points), both_stages(cpu, points)), make.__name__
