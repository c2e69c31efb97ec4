"""The steps of a pass, launched with numbers that the host knows, or only the device.

Each step launches the same kernels with the same arguments for both drivers. Drivers differ in where the numbers come
from: `HostSteps` waits for them, and makes room for the results; `RecordedSteps` passes on the places where the
device keeps them.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from dataclasses import replace

from dmr.memory import DeviceArray, Number
from dmr.refinement.loop import Steps
from dmr.refinement.rounds.work import Work
from dmr.refinement.state.progress import Capacity, RoundInput
from dmr.refinement.steps.cavities import Cavities, Winners, grow
from dmr.refinement.steps.retriangulation import FreshTriangles, Insertion, retriangulate
from dmr.refinement.steps.selection import Candidates, Selection, select


class RoundSteps(Steps):
    """The launches of each step; subclasses supply numbers and arrays.

    Attributes:
        work: the data and settings of the rounds.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self._marking = work.marking(work.state, work.space, work.epochs, work.limits)

    def select(self, selection: Selection) -> Candidates | None:
        """Implements `Steps.select`."""
        work = self.work
        with self._phase("select"):
            before, capacity, roots = self._before_selection(selection)
            select(
                work.state, work.space, work.bad, before, selection.choice, work.small_mesh, capacity, work.progress,
                roots,
            )  # fmt: skip
            return self._candidates(roots, selection)

    @abstractmethod
    def _before_selection(self, selection: Selection) -> tuple[RoundInput, Capacity, DeviceArray]:
        """Returns the sizes at the start of the pass, the capacities that limit it, and the array for the roots."""

    @abstractmethod
    def _candidates(self, roots: DeviceArray, selection: Selection) -> Candidates | None:
        """Returns the candidates, after `select`; None if there are none."""

    def grow(self, candidates: Candidates) -> Cavities:
        """Implements `Steps.grow`."""
        work = self.work
        with self._phase("grow"):
            cavities = self._records(candidates)
            if work.marking.claims:
                cavities = replace(cavities, epoch=self._next_epoch())
            grow(work.state, cavities, work.limits)
        self._marking.begin(cavities)
        return cavities

    @abstractmethod
    def _records(self, candidates: Candidates) -> Cavities:
        """Returns empty records for the cavities."""

    @abstractmethod
    def _next_epoch(self) -> Number:
        """Returns the epoch in which the cavities claim their triangles."""

    def next_winners(self) -> Winners | None:
        """Implements `Steps.next_winners`; there are none once the limit on points has been reached."""
        if self.work.budget.exceeded:
            return None
        with self._phase("mark"):
            return self._marking.next()

    @abstractmethod
    def _fit(self, winners: Winners) -> Insertion:
        """Returns the winners that are inserted, and arrays with room for what they need."""

    def retriangulate(self, winners: Winners) -> FreshTriangles:
        """Implements `Steps.retriangulate`."""
        work = self.work
        with self._phase("retriangulate"):
            insertion = self._fit(winners)
            checks = work.balance.checks_at_once(work.quality)
            fresh = retriangulate(work.state, work.space, insertion, work.limits, check=checks)
            self._count_inserted(insertion)
        return fresh

    @abstractmethod
    def _count_inserted(self, insertion: Insertion) -> None:
        """Adds what was inserted to the sizes of the mesh."""

    def check(self, fresh: FreshTriangles) -> None:
        """Implements `Steps.check`."""
        work = self.work
        with self._phase("check"):
            work.balance.check(work.quality, fresh)
        with self._phase("list"):
            self._list(fresh)

    @abstractmethod
    def _list(self, fresh: FreshTriangles) -> None:
        """Appends the bad ones of the new triangles to the list."""

    @abstractmethod
    def _phase(self, name: str) -> AbstractContextManager[None]:
        """Returns a block whose time counts to a phase."""
