"""The outcomes of cavities, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Outcome(IntEnum):
    """The outcome of a cavity (`Outcome` of cuda_src/refine/cavity/cavity.cuh)."""

    INSERTED = 0
    LOST = 1
    YIELDED = 2
    ENCROACHED = 3
    PRECISION = 4
    OVERFLOWED = 5
    BUDGET = 6
    OWNER = 7
    UNDECIDED = 8
    DAMAGED = 9
    DEAD = 10
    BLOCKED = 11
    DEFERRED = 12


TALLIED = len(Outcome) + 1  # numbers that `close_cavities` counts: outcomes, and off-centers


@dataclass(frozen=True)
class Tally:
    """Number of cavities by outcome, and number of off-centers inserted."""

    outcomes: dict[Outcome, int]
    off_centers: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64]) -> Tally:
        """Converts the (TALLIED,) numbers that `close_cavities` counts."""
        return cls({outcome: int(numbers[outcome]) for outcome in Outcome}, int(numbers[-1]))
