"""Retries of triangles that were given up."""

from __future__ import annotations

import numpy as np

from dmr.memory import flagged_indices
from dmr.refinement.rounds.work import Work

MOST_RETRIES = 8  # the second one seldom inserts anything


class Retries:
    """Retries what was given up, when nothing else is left: what was in the way may be gone."""

    def __init__(self) -> None:
        self._left = MOST_RETRIES
        self._inserted = 0  # points at the last retry

    def are_due(self, work: Work) -> bool:
        """Whether something was given up, and points have been inserted since the last retry."""
        statistics = work.statistics
        return statistics.given_up > 0 and statistics.inserted != self._inserted and self._left > 0

    def begin(self, work: Work) -> bool:
        """Lists again what was given up; returns whether there is any such triangle."""
        self._inserted = work.statistics.inserted
        self._left -= 1
        state = work.state
        with work.clock.phase("check"):
            flags = work.space.array("given_up_flags", state.slots, np.int32)
            state.device.launch("flag_given_up", state.slots, state.quality, flags)
            if flagged_indices(flags, state.slots)[1] == 0 and state.cuts == 0:  # in a tile, segments may wait alone
                return False
            state.device.launch("clear_set_aside", state.subsegments_count, state.split_states)
        work.check_all()
        return True
