"""The squared cosine of an angle in degrees as a fraction, rounded up: fixed-point integers, no libm."""

from __future__ import annotations

from fractions import Fraction

# Binary digits of the fixed-point numbers; the result has _RESULT_DIGITS of them.
_DIGITS = 200
_ONE = 1 << _DIGITS
_RESULT_DIGITS = 80
# Every series below has fewer than 100 terms, each with an error of less than 4 units in the last digit, and the error
# of pi is multiplied by at most 4. 2^20 units are a generous bound of the total.
_ERROR = 1 << 20


def cosine_squared_above(degrees: float) -> tuple[int, int]:
    """Compute a fraction (numerator, denominator) above cos^2 of the angle by less than 2^-79, and never below it.

    A triangle whose angles satisfy the bound is therefore never rejected; one that violates it by less than about
    1e-23 degrees is accepted.

    Args:
        degrees: 0 to 90; the exact value of the float is used.
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
    """Compute pi by Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239)."""
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
    """Evaluate the Taylor series at a point of [0, pi]: its terms increase to less than 6 before they decrease."""
    square = radians * radians >> _DIGITS
    term, total, k = _ONE, _ONE, 0
    while term > 0:
        k += 2
        term = (term * square >> _DIGITS) // (k * (k - 1))
        total += -term if k % 4 == 2 else term
    return total
