"""What a method of list ranking gives."""

from __future__ import annotations

from dataclasses import dataclass, field

from dmr.memory import DeviceArray


@dataclass(frozen=True)
class Ranked:
    """Ranks on a device. A method is a function

        run(successors, heads, lists, **options) -> Ranked

    of (n,) int32 successors, which it may use up: of (k,) int32 heads, the first elements of the lists; and of an array
    (n,) int32 for the number of each element's list, or None where nobody asks for it. No element may have two
    predecessors, and no index be out of range (`list_checking`). Elements of cycles get any rank, and are not counted.

    Attributes:
        ranks: (n,) int32: how many elements come before each one on its list.
        lengths: (k,) int32: how many elements each list has.
        figures: the method's own: rounds, levels, splitters, ...
    """

    ranks: DeviceArray
    lengths: DeviceArray
    figures: dict[str, int] = field(default_factory=dict)
