"""The outcomes of cavities, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Enumeration


class Outcome(Enumeration, count="OUTCOMES"):
    """The outcome of a cavity in a step."""


_OUTCOMES = tuple(Outcome)  # enumerating them takes longer than a tally
TALLIED = len(Outcome) + 1  # numbers that `close_cavities` counts: outcomes, and off-centers


@dataclass(frozen=True)
class Tally:
    """Number of cavities by outcome, and number of off-centers inserted."""

    outcomes: dict[Outcome, int]
    off_centers: int

    @classmethod
    def of(cls, numbers: NDArray[np.int64]) -> Tally:
        """Converts the (TALLIED,) numbers that `close_cavities` counts."""
        *outcomes, off_centers = numbers.tolist()
        return cls(dict(zip(_OUTCOMES, outcomes, strict=True)), off_centers)
