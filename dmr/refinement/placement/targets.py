"""Sizes derived from others: the smallest of several, and multiples."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dmr.memory import Device
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.sizing.functions import EqualSizes
from dmr.sizing.segment_sizes import SmallestSizes
from dmr.sizing.source import DeviceSizes, Scaling, SizeSource


@dataclass(frozen=True, eq=False)
class Multiple(SizeSource):
    """The sizes of a source, times a factor."""

    source: SizeSource
    factor: float

    def limited(self, gradient: float) -> Multiple:
        """Implements `SizeSource.limited`."""
        return Multiple(self.source.limited(gradient / self.factor), self.factor)

    def _upload(self, device: Device) -> DeviceSizes:
        steps = self.source.on(device).steps  # sizes are lowered in units of the factor
        return DeviceSizes((Scaling(1.0 / self.factor), *steps, Scaling(self.factor)))


def multiple(source: SizeSource, factor: float) -> SizeSource:
    """Returns the sizes of a source times a factor."""
    if isinstance(source, Multiple):
        return Multiple(source.source, source.factor * factor)
    return Multiple(source, factor) if source.number is None else EqualSizes(source.number * factor)


def smallest(*sources: SizeSource | None) -> SizeSource | None:
    """Returns the smallest of the sizes of sources; None if all are None."""
    given = [source for source in sources if source is not None]
    numbers = [source.number for source in given if source.number is not None]
    others = [source for source in given if source.number is None]
    if numbers:
        others.append(EqualSizes(min(numbers)))
    return (others[0] if len(others) == 1 else SmallestSizes(tuple(others))) if others else None


TOO_LONG = 2.0  # an edge of this many sizes is split by refinement
SPACED = 0.98  # sizes with which points are placed, so that edges are about as long: voids of the front are longer
SPACED_UNEVENLY = 0.985  # the same where sizes vary: edges would be shorter there
CLOSER = 0.975  # factor of the latter if some segment is short: then there are as many triangles as in Gmsh
BELOW_MAX_EDGE = 0.7  # sizes for which few edges exceed a bound, in units of the bound
BELOW_MAX_AREA = 1.2  # the same, in units of the square root of the bound on areas


def target(
    size: SizeSource, bounds: LocalBounds[SizeSource], max_area: float | None, *, even: bool = True
) -> SizeSource:
    """Returns the sizes with which points are placed: not much larger than bounds allow.

    Args:
        size: the wanted edge lengths; bounds, max_area: the others; even: whether one size is wanted everywhere.
    """
    by_edge = None if bounds.max_edge is None else multiple(bounds.max_edge, BELOW_MAX_EDGE)
    by_place = None if bounds.area_root is None else multiple(bounds.area_root, BELOW_MAX_AREA)
    by_area = None if max_area is None else EqualSizes(BELOW_MAX_AREA * math.sqrt(max_area))
    found = smallest(multiple(size, SPACED if even else SPACED_UNEVENLY), by_edge, by_area, by_place)
    assert found is not None
    return found
