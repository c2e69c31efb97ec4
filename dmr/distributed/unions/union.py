"""Unites ascending lists of numbers, and finds numbers in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.errors import OptionError
from dmr.distributed.unions.native import NumberedList, library

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]

UNNUMBERED = 2**62  # stands for the first vertex without a number: above all numbers
MOST_VERTICES = np.iinfo(np.int32).max  # of a union


@dataclass(frozen=True, eq=False)
class Numbers:
    """An ascending list of numbers without duplicates.

    Attributes:
        entries: (n,) int64; an entry v < 0 stands for the number first - 1 - v.
        first: what -1 stands for.
    """

    entries: Int64
    first: int = 0

    @property
    def highest(self) -> int:
        """The highest number, -1 if there is none."""
        if not len(self.entries):
            return -1
        last = int(self.entries[-1])
        return last if last >= 0 else self.first - 1 - last

    def native(self, places: Int32 | None = None) -> NumberedList:
        """Returns the list for the library; the caller keeps the arrays alive."""
        return NumberedList(
            self.entries.ctypes.data, len(self.entries), self.first, None if places is None else places.ctypes.data
        )

    def find(self, wanted: Int64, threads: int = 1) -> Int32:
        """Returns (k,) the places of numbers in the list, -1 for those that are not in it; `threads` search.

        If a number occurs several times in the list, its place is that of the first one.
        """
        entries = np.ascontiguousarray(self.entries)
        wanted, found = np.ascontiguousarray(wanted, np.int64), np.empty(len(wanted), np.int32)
        library().dmr_find_numbers(
            Numbers(entries, self.first).native(), wanted.ctypes.data, len(wanted), threads, found.ctypes.data
        )
        return found


@dataclass(frozen=True, eq=False)
class United:
    """The union of lists.

    Attributes:
        numbers: (n,) int64, ascending.
        origins: (n,) int32, the entry that a number comes from, counted over all lists: of several that have it, that
            of the first list.
        places: for each list, (k,) int32, the places of its entries in the union.
    """

    numbers: Int64
    origins: Int32
    places: list[Int32]


def unite(lists: Sequence[Numbers], threads: int) -> United:
    """Unites lists; raises OptionError if they have more than 2^31 - 1 entries together, and MemoryError."""
    arrays = [np.ascontiguousarray(each.entries, np.int64) for each in lists]
    total = sum(len(each) for each in arrays)
    check_length(total)
    numbers, origins = np.empty(total, np.int64), np.empty(total, np.int32)
    places = [np.empty(len(each), np.int32) for each in arrays]
    given = (NumberedList * len(arrays))(
        *(Numbers(array, each.first).native(place) for array, each, place in zip(arrays, lists, places, strict=True))
    )
    length = library().dmr_unite(given, len(arrays), threads, numbers.ctypes.data, origins.ctypes.data)
    if length < 0:
        raise MemoryError
    return United(numbers[:length], origins[:length], places)


def check_length(vertices: int) -> None:
    """Raises OptionError if a part would have too many vertices."""
    if vertices > MOST_VERTICES:
        raise OptionError(f"a part has at most {MOST_VERTICES:,} vertices: use smaller tiles")
