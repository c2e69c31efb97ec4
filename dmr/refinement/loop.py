"""Algorithm 2 of the thesis (section 5.4): rounds of parallel cavity insertions.

    thesis                                      here
    ------------------------------------------  ---------------------------------------------------------------
    while changed do                            run_rounds: while something is bad or encroached
        markCavity_kernel()                         run_pass: select, grow
        re-markCavity_kernel()                      next_winners, by the marking (strategies/marking.py)
        retriangulation_kernel()                    retriangulate, and check the new triangles
        while there is a non-processed cavity       while next_winners finds some:
            checkCavity_kernel()                        the marking rebuilds damaged cavities
            markCavityAtomic_kernel()                   and marks them again
            retriangulation_kernel()                    retriangulate, check
        end                                         close
        transfer changed                        the driver reads how many candidates there were

Departures from the thesis: the marking decides whether there is a second stage, and the default has none; encroached
subsegments are candidates, too; cavities that do not fit an ordinary record are inserted by further passes of the round
(rounds/large_records.py). One text of a pass serves both drivers: the host runs it, and waits for the numbers that it
needs (rounds/host_steps.py); the device repeats a recording of it without the host (rounds/recorded_steps.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from dmr.refinement.state.ending import Ending
from dmr.refinement.steps.cavities import Cavities, Winners
from dmr.refinement.steps.retriangulation import FreshTriangles
from dmr.refinement.steps.selection import Candidates, Selection


def run_rounds(driver: Driver, supervisor: Supervisor) -> Ending:
    """Runs rounds while something is bad or encroached, and no limit ends them."""
    ending = supervisor.before_round()
    while ending is None:
        ending = supervisor.after_round(driver.run_round()) or supervisor.before_round()
    return ending


def run_pass(steps: Steps, selection: Selection) -> None:
    """Inserts points for the candidates of a pass."""
    candidates = steps.select(selection)
    if candidates is None:
        return
    cavities = steps.grow(candidates)
    while winners := steps.next_winners():
        fresh = steps.retriangulate(winners)
        steps.check(fresh)
    steps.close(cavities)


class Steps(ABC):
    """The steps of a pass."""

    @abstractmethod
    def select(self, selection: Selection) -> Candidates | None:
        """Chooses subsegments and bad triangles to grow cavities around; None if there are none."""

    @abstractmethod
    def grow(self, candidates: Candidates) -> Cavities:
        """Places a Steiner point for each candidate, and grows its cavity."""

    @abstractmethod
    def next_winners(self) -> Winners | None:
        """Returns grown cavities that can be retriangulated at the same time; None if the pass is over."""

    @abstractmethod
    def retriangulate(self, winners: Winners) -> FreshTriangles:
        """Inserts the winners' points."""

    @abstractmethod
    def check(self, fresh: FreshTriangles) -> None:
        """Checks new triangles against the bounds, and lists the bad ones."""

    @abstractmethod
    def close(self, cavities: Cavities) -> None:
        """Counts the outcomes of the pass, and gives up what cannot be resolved."""


class Driver(ABC):
    """Runs the rounds: by the host, or by the device with the host's help."""

    @abstractmethod
    def run_round(self) -> Ending | None:
        """Runs one round, or several if the device drives them; returns why there is no further one, or None."""


class Supervisor(ABC):
    """The checks between two rounds."""

    @abstractmethod
    def before_round(self) -> Ending | None:
        """Returns why no round may begin, or None."""

    @abstractmethod
    def after_round(self, ending: Ending | None) -> Ending | None:
        """Returns why the rounds end, or None, after a round for which the driver returned `ending`."""
