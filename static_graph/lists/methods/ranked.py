"""Interface of the list ranking methods, and their result."""

from __future__ import annotations

from dataclasses import dataclass, field

from dmr.memory import DeviceArray


@dataclass(frozen=True)
class Ranked:
    """Ranks on a device. A method is a function

        run(successors, heads, lists, **options) -> Ranked

    Its arguments are (n,) int32 successors, which it may overwrite; (k,) int32 heads, the first elements of the lists;
    and an (n,) int32 array that receives the number of each element's list, or None if that is not needed. No element
    may have two predecessors, and no index may be out of range (`list_checking`). Elements on cycles get arbitrary
    ranks, and are not counted.

    Attributes:
        ranks: (n,) int32: the number of elements before each one on its list.
        lengths: (k,) int32: the number of elements of each list.
        figures: method-specific numbers: rounds, levels, splitters, ...
    """

    ranks: DeviceArray
    lengths: DeviceArray
    figures: dict[str, int] = field(default_factory=dict)
