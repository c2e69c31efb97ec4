"""Checks that rounds make progress: therefore every run ends without a limit on the number of rounds."""

from __future__ import annotations

from collections.abc import Sequence

from dmr.errors import InternalError
from dmr.refinement.results import Round


class StallCheck:
    """Checks the rounds of one refinement, several at a time.

    The cavity of highest priority is always decided. A round that inserts no point gives up a bad triangle, requests a
    split of a subsegment, or gives up a requested split: between two insertions that happens at most once per triangle
    and twice per subsegment.
    """

    def __init__(self) -> None:
        self._checked = 0  # rounds of the history checked so far
        self._idle = 0  # consecutive rounds without an insertion, up to the last one

    def start_again(self) -> None:
        """Resets the count of rounds without an insertion, since triangles that were given up are tried again."""
        self._idle = 0

    def check(self, history: Sequence[Round], triangles: int, subsegments: int) -> None:
        """Checks the rounds since the last call.

        Args:
            history: all rounds; triangles, subsegments: sizes of the mesh.

        Raises:
            InternalError: a round changed nothing, or too many consecutive rounds inserted nothing.
        """
        new, self._checked = history[self._checked :], len(history)
        if any(each.attempted == each.lost for each in new):
            raise InternalError(f"one of the rounds up to {len(history)} changed nothing: all its cavities lost")
        self._idle = 0 if any(each.inserted for each in new) else self._idle + len(new)
        if self._idle > triangles + 2 * subsegments:
            raise InternalError(f"the last {self._idle} of {len(history)} rounds inserted nothing")
