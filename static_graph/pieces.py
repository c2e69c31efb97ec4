"""Operations on large arrays in pieces, so that Ctrl-C does not wait for a long call of numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 24  # numbers: an operation on them takes about 0.1 s


def pieces(size: int, step: int = PIECE) -> Iterator[slice]:
    """Slices that cover 0 to `size`, in order."""
    return (slice(begin, min(begin + step, size)) for begin in range(0, size, step))


def bounds(numbers: NDArray[Any]) -> tuple[int, int]:
    """The least and the largest of whole numbers; (0, -1) where there are none."""
    parts = [numbers[part] for part in pieces(len(numbers))]
    return min((int(part.min()) for part in parts), default=0), max((int(part.max()) for part in parts), default=-1)


def converted(numbers: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """A contiguous copy of one-dimensional numbers in a dtype that holds them."""
    copy = np.empty(len(numbers), dtype)
    for part in pieces(len(numbers)):
        copy[part] = numbers[part]
    return copy
