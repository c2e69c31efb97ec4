"""The limit on the points that a refinement inserts."""

from __future__ import annotations

import numpy as np

from dmr.memory import bound_of
from dmr.refinement.state.ending import Ending
from dmr.refinement.steps.cavities import Cavities, count_needs


class Budget:
    """The limit on points. A run keeps it exactly: of the last winners, those of highest priority are inserted.

    Attributes:
        limit: the most points; exceeded: whether more than that were needed, so the run has to end.
        discards: whether the mesh is of no use then, so no winners have to be cut.
    """

    def __init__(self, limit: int, *, discards: bool = False) -> None:
        self.limit, self.discards = limit, discards
        self.exceeded = False

    @property
    def ending(self) -> Ending | None:
        """`Ending.BUDGET` if the limit has been exceeded."""
        return Ending.BUDGET if self.exceeded else None

    def cut(self, cavities: Cavities, most: int) -> None:
        """Keeps only the `most` winners of highest priority, of which there are more."""
        self.exceeded = True
        count, records = bound_of(cavities.count), cavities.records
        won = records.won[:count].download() == 1
        keys = np.sort(records.keys[:count].download()[won])
        lowest = int(keys[-most]) if most else 2**64 - 1
        records.won.device.launch("cut_winners", count, cavities.view, lowest)
        count_needs(cavities)
