"""Maps the vertex numbers of a file to 0-based indices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Numbering:
    """Consecutive numbers base, base + 1, ...; or any distinct numbers in any order.

    Attributes:
        base: the first number, if they are consecutive.
        count: how many numbers there are.
        ordered: the sorted numbers, if they are not consecutive, else None.
        places: for each number in `ordered`, its 0-based index.
        path: the file that defines the numbers, for messages.
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
        """The end of a message about a number that is not among these: states which numbers are valid."""
        where = f" in {self.path.name}" if self.path is not None else ""
        if self.count == 0:
            return f"but there is no {entity}{where}"
        if self.ordered is not None:
            return f"but no {entity}{where} has that number"
        return f"but they are numbered from {self.base} to {self.base + self.count - 1}{where}"


def is_consecutive(numbers: NDArray[np.int64]) -> bool:
    """Whether each number is one more than its predecessor."""
    return bool((np.diff(numbers) == 1).all())


def find_numbering(numbers: NDArray[np.int64], path: Path) -> tuple[Numbering, int | None]:
    """The numbering defined by a file's first column, and the row of the first repeated number, or None."""
    count = len(numbers)
    if is_consecutive(numbers):
        return Numbering(int(numbers[0]) if count else 0, count, path=path), None
    places = np.argsort(numbers, kind="stable").astype(np.int32)
    ordered = numbers[places]
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    repeated = int(places[again + 1].min()) if again.size else None
    return Numbering(int(ordered[0]), count, ordered, places, path), repeated
