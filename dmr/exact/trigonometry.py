"""The squared cosine of an angle in degrees as a fraction, rounded outward: fixed-point integers, no libm."""

from __future__ import annotations

from fractions import Fraction

# Fixed point with this many binary digits; the result keeps half of them.
_DIGITS = 200
_ONE = 1 << _DIGITS
_RESULT_DIGITS = 80
# Every series below has under 100 terms, each off by less than 4 units of the last digit, and pi's error is
# multiplied by at most 4: 2^20 units bound all of it generously.
_ERROR = 1 << 20


def cosine_squared_above(degrees: float) -> tuple[int, int]:
    """A fraction (numerator, denominator) just above cos^2 of the angle: by less than 2^-79, never below.

    A triangle whose angles truly satisfy the bound is therefore never refused; one that misses it by less than about
    1e-23 degrees is accepted.

    Args:
        degrees: 0 to 90; taken as the exact value of the float.
    """
    if not 0 <= degrees <= 90:
        raise ValueError(f"an angle of 0 to 90 degrees is needed, not {degrees}")
    # cos^2 a = (1 + cos 2a) / 2.
    doubled = Fraction(degrees) * 2 / 180
    radians = _pi() * doubled.numerator // doubled.denominator
    above = (_ONE + _cosine(radians)) // 2 + _ERROR
    numerator = -(-above >> (_DIGITS - _RESULT_DIGITS))  # rounded up
    return min(numerator, 1 << _RESULT_DIGITS), 1 << _RESULT_DIGITS


def _pi() -> int:
    """Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239)."""
    return 16 * _arctan_of_inverse(5) - 4 * _arctan_of_inverse(239)


def _arctan_of_inverse(n: int) -> int:
    power, total, k, sign = _ONE // n, 0, 1, 1
    while power:
        total += sign * (power // k)
        power //= n * n
        k += 2
        sign = -sign
    return total


def _cosine(radians: int) -> int:
    """The Taylor series at a point of [0, pi]: its terms grow to less than 6 before they fall."""
    square = radians * radians >> _DIGITS
    term, total, k = _ONE, _ONE, 0
    while term > 0:
        k += 2
        term = (term * square >> _DIGITS) // (k * (k - 1))
        total += -term if k % 4 == 2 else term
    return total
