"""Who checks the quality of new triangles: one strategy a class, all used alike in a round (thesis, 5.2 and 5.3).

A strategy is given the winners of a step after they are retriangulated, and their new triangles, cavity by cavity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from dmr.memory import DeviceArray
from dmr.pipeline.cavities import Cavities, Needs
from dmr.pipeline.checking import QualityCheck


class Balance(ABC):
    """A way to share out the checks of new triangles."""

    def checks_at_once(self, quality: QualityCheck) -> bool:
        """Whether retriangulation checks what it makes, and nothing is left to `check`."""
        return False

    @abstractmethod
    def check(self, quality: QualityCheck, cavities: Cavities, needs: Needs, fresh: DeviceArray) -> None:
        """Checks the `needs.fresh` triangles in the slots of `fresh`."""


class OwnTriangles(Balance):
    """One thread checks all triangles that a cavity made, as it retriangulated it: 3 for one, 15 for another."""

    def check(self, quality: QualityCheck, cavities: Cavities, needs: Needs, fresh: DeviceArray) -> None:
        """One index a cavity."""
        arguments = quality.arguments(fresh, needs.fresh)
        quality.device.launch("check_by_cavity", cavities.count, *arguments, cavities.fresh_places)


class WorkStealing(Balance):
    """All new triangles are in one list, of which every thread takes the same share (the thesis' name: no thread takes
    another's work).

    A CPU's threads share retriangulation as evenly, in pieces, and what a thread has just made is in its cache: it is
    checked at once there.
    """

    def checks_at_once(self, quality: QualityCheck) -> bool:
        """On a CPU, where nothing is asked that concerns the list as a whole."""
        return quality.device.threads > 0 and quality.by_itself

    def check(self, quality: QualityCheck, cavities: Cavities, needs: Needs, fresh: DeviceArray) -> None:
        """One index a triangle."""
        if self.checks_at_once(quality):
            return
        quality.device.launch("check_listed", needs.fresh, *quality.arguments(fresh, needs.fresh))


class ChildLaunch(Balance):
    """The check is a kernel launched from the device, with a thread for each new triangle of some cavities.

    One child for so many cavities that a step never has more children than may be pending (2,048 by default; beyond
    that a device stalls).

    Attributes:
        cavities_a_child: at least so many share a child; most_children: so many a launch.
    """

    cavities_a_child = 256
    most_children = 1024

    def check(self, quality: QualityCheck, cavities: Cavities, needs: Needs, fresh: DeviceArray) -> None:
        """One index a child; as many launches as the bound on pending children asks for."""
        assert isinstance(cavities.count, int)
        device = quality.device
        most = min(self.most_children, device.allow_children(self.most_children))
        share = self.share(cavities.count)
        arguments = quality.arguments(fresh, needs.fresh)
        for first in range(0, cavities.count, most * share):
            children = min(most, -(-(cavities.count - first) // share))
            shared = (cavities.fresh_places, first, share, cavities.count)
            device.launch("check_by_children", children, *arguments, *shared, quality.counters)

    def share(self, cavities: int) -> int:
        """How many cavities share a child."""
        return max(self.cavities_a_child, -(-cavities // self.most_children))


class ChildLaunchPerCavity(ChildLaunch):
    """As the thesis has it: a child for each cavity. The bound on pending launches is raised, and kept all the same."""

    most_children = 2**15

    def share(self, cavities: int) -> int:
        """Each cavity has its own."""
        return 1


BALANCES: dict[str, type[Balance]] = {
    "work-stealing": WorkStealing,
    "none": OwnTriangles,
    "child-launch": ChildLaunch,
    "child-launch-per-cavity": ChildLaunchPerCavity,
}
