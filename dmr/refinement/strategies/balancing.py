"""Strategies that distribute the quality checks of new triangles, one per class (thesis, 5.2 and 5.3).

A strategy is given the winners of a step after they are retriangulated, and their new triangles, cavity by cavity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from dmr.refinement.steps.quality_check import QualityCheck
from dmr.refinement.steps.retriangulation import FreshTriangles


class Balance(ABC):
    """A way to distribute the checks of new triangles."""

    def checks_at_once(self, quality: QualityCheck) -> bool:
        """Whether retriangulation checks the triangles that it makes, so that `check` has nothing to do."""
        return False

    @abstractmethod
    def check(self, quality: QualityCheck, fresh: FreshTriangles) -> None:
        """Checks new triangles."""


class OwnTriangles(Balance):
    """One thread checks all triangles of the cavity that it retriangulated: 3 for one cavity, 15 for another."""

    def check(self, quality: QualityCheck, fresh: FreshTriangles) -> None:
        """Launches one index per cavity."""
        arguments = quality.arguments(fresh.slots, fresh.count)
        cavities = fresh.cavities
        quality.device.launch("check_by_cavity", cavities.count, *arguments, cavities.records.fresh_places)


class WorkStealing(Balance):
    """All new triangles are in one list, of which every thread takes the same share (the name is the thesis'; no thread
    takes another's work).

    On a CPU, retriangulation is shared as evenly, in pieces, and the triangles that a thread has just made are in its
    cache, so they are checked at once.
    """

    def checks_at_once(self, quality: QualityCheck) -> bool:
        """True on a CPU, unless the check needs the list as a whole."""
        return quality.device.threads > 0 and quality.by_itself

    def check(self, quality: QualityCheck, fresh: FreshTriangles) -> None:
        """Launches one index per triangle."""
        if self.checks_at_once(quality):
            return
        quality.device.launch("check_listed", fresh.count, *quality.arguments(fresh.slots, fresh.count))


class ChildLaunch(Balance):
    """The check is a kernel launched from the device, with one thread for each new triangle of a group of cavities.

    A child serves enough cavities that a step never has more children than may be pending (2,048 by default; beyond
    that a device stalls).

    Attributes:
        cavities_a_child: the fewest cavities per child; most_children: the most children per launch.
    """

    cavities_a_child = 256
    most_children = 1024

    def check(self, quality: QualityCheck, fresh: FreshTriangles) -> None:
        """Launches one index per child, in as many launches as the bound on pending children requires."""
        device, cavities = quality.device, fresh.cavities.count
        assert isinstance(cavities, int)  # the host drives the rounds
        most = min(self.most_children, device.allow_children(self.most_children))
        share = self.share(cavities)
        arguments = quality.arguments(fresh.slots, fresh.count)
        for first in range(0, cavities, most * share):
            children = min(most, -(-(cavities - first) // share))
            places = (fresh.cavities.records.fresh_places, first, share, cavities)
            device.launch("check_by_children", children, *arguments, *places, quality.counters)

    def share(self, cavities: int) -> int:
        """The number of cavities that share a child."""
        return max(self.cavities_a_child, -(-cavities // self.most_children))


class ChildLaunchPerCavity(ChildLaunch):
    """A child for each cavity, as in the thesis. The bound on pending launches is raised, but still kept."""

    most_children = 2**15

    def share(self, cavities: int) -> int:
        """One: each cavity has its own child."""
        return 1
