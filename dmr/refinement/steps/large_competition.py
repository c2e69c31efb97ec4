"""The number of cavities in a pass with large records, which depends on what earlier passes have inserted.

A record of level n has 4^n times the capacity of an ordinary one. Passes are run by the device between its rounds
(`cuda_src/refine/rounds/progress.cuh`) or by the host (`rounds/large_records.py`); both follow the same rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from dmr.memory import constant
from dmr.refinement.state.progress import UNBOUNDED, Entry
from dmr.refinement.steps.cavities import RECORD_CAPACITY

LARGE_BUDGET = 2**16  # boundary entries per pass with large records; few such cavities fit side by side
COMPETITORS, FEWEST_LARGE = constant("COMPETITORS"), constant("FEWEST_LARGE")

# The entries of the levels of which the device can run passes, in order.
LARGE_MOST = (Entry.LARGE_MOST_1, Entry.LARGE_MOST_2, Entry.LARGE_MOST_3, Entry.LARGE_MOST_4, Entry.LARGE_MOST_5)


def large_capacity(level: int) -> int:
    """Returns the boundary entries of a record of a level."""
    return RECORD_CAPACITY << 2 * level


class LargeCompetition:
    """The passes with large records of one stage, by the level of the records."""

    def __init__(self, most: int) -> None:
        """Begins a stage in which a pass takes at most `most` cavities; 0 for no such limit."""
        self._limit = most
        self._next: dict[int, int] = {}  # the most cavities of the next pass
        self._attempted: dict[int, int] = {}  # cavities of the last pass
        self._too_many: dict[int, int] = {}  # the number of cavities that was too many for one launch

    def first_most(self, level: int) -> int:
        """Returns the most cavities that the first pass takes; no later one takes more."""
        return self._limit or max(1, LARGE_BUDGET // large_capacity(level))

    def most(self, level: int) -> int:
        """Returns the most cavities that the next pass takes (`most_of_pass` of progress.cuh)."""
        first = self.first_most(level)
        return min(first, self._next.get(level, first))

    def enter(self, level: int, attempted: int, inserted: int, *, refused: bool = False) -> None:
        """Adds a pass that the host has run (`enter_large_pass` of progress.cuh), after one launch has `refused` to."""
        self._next[level] = max(FEWEST_LARGE, COMPETITORS * inserted)
        self._attempted[level] = attempted
        if refused:
            self._too_many[level] = attempted

    def fits_one_launch(self, level: int) -> bool:
        """Whether the last pass suggests that one launch can run the next one."""
        return self._attempted.get(level, 0) < self._too_many.get(level, UNBOUNDED)

    def entries(self, levels: int, by_steps: int) -> dict[Entry, int]:
        """Returns the entries of the progress with which the device runs passes of at most `levels` levels.

        Args:
            by_steps: the levels, from the lowest on, whose passes many teams can run if they are too large for one.
        """
        fitting = next((level for level in range(by_steps, levels) if not self.fits_one_launch(level + 1)), levels)
        most = {entry: self._next.get(level, 0) for level, entry in enumerate(LARGE_MOST, start=1)}
        return {Entry.LARGE_LEVELS: fitting, Entry.LARGE_STEPS: by_steps, **most}

    def resume(self, numbers: Mapping[Entry, int]) -> None:
        """Reads the entries again after a run of the device."""
        for level, entry in enumerate(LARGE_MOST, start=1):
            if numbers[entry]:
                self._next[level] = numbers[entry]
