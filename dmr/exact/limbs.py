"""Vectorised integers of any fixed length: arrays of signed 28-bit limbs.

An integer is the sum of limb i times 2^(28 i), least significant limb first. Limbs are int64 and may exceed 28 bits
until `normalised` propagates carries, so a sum of products needs only one pass of carries. Two bounds per array ensure
that nothing overflows:

* `bits`: every integer is smaller in magnitude than 2^bits;
* `slack`: every limb is at most slack * 2^28 in magnitude.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LIMB = 28
_MASK = np.int64((1 << LIMB) - 1)

Int64 = NDArray[np.int64]


class Limbs:
    """An array of integers, stored as limbs (each an int64 array of the same shape)."""

    __slots__ = ("bits", "limbs", "slack")

    def __init__(self, limbs: Sequence[Int64], bits: int, slack: int = 1) -> None:
        self.limbs = list(limbs)
        self.bits = bits
        self.slack = slack

    @classmethod
    def shifted(cls, values: Int64, shifts: Int64, bits: int) -> Limbs:
        """Create the integers values * 2^shifts, all smaller in magnitude than 2^bits; shifts >= 0."""
        if bits <= 62:
            return cls([values << np.where(values != 0, shifts, 0)], bits, 1 << 35).normalised()
        count = _count(bits)
        whole, rest = np.divmod(shifts, LIMB)
        # Split the unshifted magnitude into limbs, so that none lies above its highest bit, and apply the sign to each.
        # Shifted by the remainder, they stay below 2^56, so the slack of three of them in one position is 3 * 2^28.
        magnitude, sign = np.abs(values), np.sign(values)
        parts = [(((magnitude >> (LIMB * i)) & _MASK) * sign) << rest for i in range(3)]
        limbs: list[Int64] = []
        for place in range(count):
            limb = np.zeros_like(values)
            for i, part in enumerate(parts):
                limb += np.where(whole == place - i, part, 0)
            limbs.append(limb)
        return cls(limbs, bits, 3 << LIMB).normalised()

    @classmethod
    def constant(cls, value: int) -> Limbs:
        """Create a constant integer, as a factor for arrays."""
        bits = abs(value).bit_length()
        sign = -1 if value < 0 else 1
        digits = [sign * ((abs(value) >> (LIMB * i)) & int(_MASK)) for i in range(_count(bits))]
        return cls([np.array(digit, dtype=np.int64) for digit in digits], bits)

    def normalised(self) -> Limbs:
        """Return the same integers with every limb except the last in [0, 2^28); the last limb carries the sign."""
        count = max(_count(self.bits), len(self.limbs))
        limbs: list[Int64] = []
        carry: Int64 | None = None
        for limb in self.limbs:
            full = limb if carry is None else limb + carry
            if len(limbs) == count - 1:
                limbs.append(full)
                break
            limbs.append(full & _MASK)
            carry = full >> LIMB
        while len(limbs) < count:
            assert carry is not None
            last = len(limbs) == count - 1
            limbs.append(carry if last else carry & _MASK)
            carry = carry >> LIMB
        # |integer| < 2^bits, and the lower limbs are not negative, so the last one is
        # floor(integer / 2^(28 (count - 1))), at most 2^28 in magnitude.
        return Limbs(limbs, self.bits)

    def __add__(self, other: Limbs) -> Limbs:
        return self._sum(other, np.add)

    def __sub__(self, other: Limbs) -> Limbs:
        return self._sum(other, np.subtract)

    def _sum(self, other: Limbs, operation: np.ufunc) -> Limbs:
        a, b = self.limbs, other.limbs
        shared = min(len(a), len(b))
        limbs = [operation(x, y) for x, y in zip(a, b, strict=False)]
        limbs += a[shared:]
        limbs += b[shared:] if operation is np.add else [-limb for limb in b[shared:]]
        return Limbs(limbs, max(self.bits, other.bits) + 1, self.slack + other.slack)

    def __mul__(self, other: Limbs) -> Limbs:
        a, b = self, other
        # A limb of the product is a sum of at most `terms` products, each at most a.slack * b.slack * 2^56: below 2^63.
        terms = min(len(a.limbs), len(b.limbs))
        if a.slack * b.slack * terms > 64:
            a, b = a.normalised(), b.normalised()
            assert terms <= 64, "integers of more than 64 limbs go to Python"
        limbs: list[Int64] = []
        for place in range(len(a.limbs) + len(b.limbs) - 1):
            first = max(0, place - len(b.limbs) + 1)
            last = min(place, len(a.limbs) - 1)
            total = a.limbs[first] * b.limbs[place - first]
            for i in range(first + 1, last + 1):
                total += a.limbs[i] * b.limbs[place - i]
            limbs.append(total)
        return Limbs(limbs, a.bits + b.bits, terms * a.slack * b.slack << LIMB).normalised()

    def __rmul__(self, factor: int) -> Limbs:
        return self * Limbs.constant(factor)

    def sign(self) -> NDArray[np.int8]:
        """Return the signs of the integers: -1, 0, 1."""
        limbs = self.normalised().limbs
        some = limbs[0] != 0
        for limb in limbs[1:]:
            some = some | (limb != 0)
        result: NDArray[np.int8] = np.where(limbs[-1] < 0, np.int8(-1), some.astype(np.int8))
        return result


def _count(bits: int) -> int:
    """Return the number of limbs for signed integers below 2^bits in magnitude."""
    return bits // LIMB + 1
