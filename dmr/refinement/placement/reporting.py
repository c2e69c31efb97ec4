"""The part of a placement by size that is done, for a progress bar: shares of the time, measured on one CPU thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Report: TypeAlias = Callable[[float], object]


class Shares(NamedTuple):
    """The parts that are done after the steps of a placement.

    Attributes:
        front: after the front; filled: when the mesh of all points is made; admitted: after the admission. Smoothing is
            the rest.
    """

    front: float
    filled: float
    admitted: float

    @property
    def triangulated(self) -> float:
        """The part after the triangulation, before its mesh is made."""
        return self.front + TRIANGULATED * (self.filled - self.front)


EVEN, UNEVEN = Shares(0.11, 0.55, 0.65), Shares(0.46, 0.65, 0.72)  # with a lattice, most points are placed at once
PARTLY_EVEN = Shares(0.28, 0.6, 0.68)  # where an outline finer than the one size leaves less room for the lattice
TRIANGULATED = 0.65  # of the time between the front and the mesh
AVERAGED = 0.7  # of the smoothing, after the rounds of Laplace's


def shares_of(*, even: bool, finer: bool) -> Shares:
    """Returns the shares where one size is wanted everywhere, and where the outline is finer in parts."""
    return (PARTLY_EVEN if finer else EVEN) if even else UNEVEN


def part_of(report: Report | None, begin: float, end: float) -> Report | None:
    """Returns a function that reports the progress within a part, from 0 to 1; None without `report`."""
    if report is None:
        return None
    whole = report
    return lambda done: whole(begin + (end - begin) * done)
