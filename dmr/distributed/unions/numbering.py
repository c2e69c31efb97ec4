"""Unites numbered lists, of which the first is by far the longest, and finds numbers in lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Int

Int64 = NDArray[np.int64]


def is_among(wanted: Int64, ascending: Int64) -> NDArray[np.bool_]:
    """Returns which of some numbers are in an ascending list; `numpy.isin` would sort both."""
    if not len(ascending):
        return np.zeros(len(wanted), np.bool_)
    found: NDArray[np.bool_] = ascending[np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)] == wanted
    return found


class Union:
    """The union of lists of numbers, in ascending order.

    Only the first list is not sorted: the others are merged into it.

    Args:
        lists: one or more, each without duplicates; the first ascends.

    Attributes:
        numbers: the union; places: the place of each entry of each list in it.
    """

    def __init__(self, lists: Sequence[Int64]) -> None:
        first = lists[0]
        others, rows, inverse = np.unique(
            np.concatenate([np.empty(0, np.int64), *lists[1:]]), return_index=True, return_inverse=True
        )
        before = np.searchsorted(first, others)
        is_new = np.ones(len(others), np.bool_)
        within = before < len(first)
        is_new[within] = first[before[within]] != others[within]
        self._rows = rows[is_new]
        self._new = before[is_new] + np.arange(len(self._rows))  # the places of what only others have
        shift = np.cumsum(np.bincount(before[is_new], minlength=len(first) + 1), dtype=np.int32)[:-1]
        place = (before + np.cumsum(is_new) - is_new).astype(np.int32)[inverse.reshape(-1)]
        ends = np.cumsum([len(each) for each in lists[1:]])[:-1]
        self.places: list[Int] = [np.arange(len(first), dtype=np.int32) + shift]
        self.places += np.split(place, ends) if len(lists) > 1 else []
        self.numbers: Int64 = self.rows(lists)

    def rows(self, tables: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Returns the rows of the union from those of the lists; of a number in several, those of the first one."""
        if not len(self._rows):
            return tables[0]
        found = np.empty((len(tables[0]) + len(self._rows), *tables[0].shape[1:]), tables[0].dtype)
        found[self.places[0]] = tables[0]
        found[self._new] = np.concatenate(tables[1:])[self._rows]
        return found
