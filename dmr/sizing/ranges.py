"""Concatenated integer ranges, without a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ranges(counts: NDArray[Any]) -> NDArray[np.int64]:
    """Concatenate 0, 1, ..., counts[0] - 1, then 0, 1, ..., counts[1] - 1, and so on: (counts.sum(),) int64."""
    ends = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    numbers: NDArray[np.int64] = np.arange(total) - np.repeat(ends - counts, counts)
    return numbers
