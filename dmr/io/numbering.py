"""How the numbers that a file gives its vertices become 0-based indices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Numbering:
    """Numbers base, base + 1, ...; or any distinct numbers, in any order.

    Attributes:
        base: the first number, where they run on without a gap.
        count: how many there are.
        ordered: else the numbers, sorted; places: the index that each of them stands for.
        path: the file that gives the numbers, for messages.
    """

    base: int
    count: int
    ordered: NDArray[np.int64] | None = None
    places: NDArray[np.int32] | None = None
    path: Path | None = None

    @property
    def consecutive(self) -> bool:
        """Whether index k has the number base + k."""
        return self.ordered is None

    def describe(self, entity: str) -> str:
        """What the numbers are, as the end of a sentence that says that one is not among them."""
        where = f" in {self.path.name}" if self.path is not None else ""
        if self.count == 0:
            return f"but there is no {entity}{where}"
        if self.ordered is not None:
            return f"but no {entity}{where} has that number"
        return f"but they are numbered from {self.base} to {self.base + self.count - 1}{where}"


def is_consecutive(numbers: NDArray[np.int64]) -> bool:
    """Whether each number is one more than the number before it."""
    return bool((np.diff(numbers) == 1).all())


def find_numbering(numbers: NDArray[np.int64], path: Path) -> tuple[Numbering, int | None]:
    """The numbering that a file's first column gives; and the row of the first number that was given before."""
    count = len(numbers)
    if is_consecutive(numbers):
        return Numbering(int(numbers[0]) if count else 0, count, path=path), None
    places = np.argsort(numbers, kind="stable").astype(np.int32)
    ordered = numbers[places]
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    repeated = int(places[again + 1].min()) if again.size else None
    return Numbering(int(ordered[0]), count, ordered, places, path), repeated
