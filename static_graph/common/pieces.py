"""Operations on large arrays in pieces, so that Ctrl-C need not wait for a long numpy call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 24  # numbers per piece: an operation on them takes about 0.1 s


def pieces(size: int, step: int = PIECE) -> Iterator[slice]:
    """Returns slices that cover the range from 0 to `size`, in order."""
    return (slice(begin, min(begin + step, size)) for begin in range(0, size, step))


def bounds(numbers: NDArray[Any]) -> tuple[int, int]:
    """Returns the minimum and maximum of integers; (0, -1) for an empty array."""
    parts = [numbers[part] for part in pieces(len(numbers))]
    return min((int(part.min()) for part in parts), default=0), max((int(part.max()) for part in parts), default=-1)


def converted(numbers: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Returns a contiguous copy of a one-dimensional array in a dtype that can represent its values."""
    copy = np.empty(len(numbers), dtype)
    for part in pieces(len(numbers)):
        copy[part] = numbers[part]
    return copy
