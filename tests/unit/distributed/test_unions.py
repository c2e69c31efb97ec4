"""Unions of lists, and lookups in them: the same as numpy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.distributed.unions.numbering import is_among
from dmr.distributed.unions.union import Numbers, unite, unite_after

ascending = st.lists(st.integers(0, 40), unique=True, max_size=30).map(sorted)


@settings(max_examples=40)
@given(st.lists(ascending, min_size=1, max_size=6), st.integers(0, 41), st.sampled_from([1, 3]))
def test_unions(lists, first, threads):
    """Entries from `first` on have no number yet, and are stored as -1, -2, ..."""
    arrays = [np.array(each, np.int64) for each in lists]
    stored = [Numbers(np.where(each < first, each, first - 1 - each), first) for each in arrays]
    union = unite(stored, threads)
    together = np.concatenate(arrays)
    numbers, where = np.unique(together, return_index=True)  # the first occurrence
    np.testing.assert_array_equal(union.numbers, numbers)
    np.testing.assert_array_equal(union.origins, where)
    for own, given_numbers, places in zip(stored, arrays, union.places, strict=True):
        np.testing.assert_array_equal(union.numbers[places], given_numbers)
        expected = [lists_index(given_numbers, number) for number in range(42)]
        np.testing.assert_array_equal(own.find(np.arange(42)), expected)
        assert own.highest == max(given_numbers.tolist(), default=-1)


@settings(max_examples=40)
@given(ascending, st.lists(ascending, min_size=1, max_size=4), st.integers(0, 41))
def test_unions_after_a_list(before, lists, first):
    arrays = [np.array(each, np.int64) for each in (before, *lists)]
    stored = [Numbers(np.where(each < first, each, first - 1 - each), first) for each in arrays]
    union = unite_after(stored[0], stored[1:], 1)
    together = np.concatenate(arrays[1:])
    assert union.numbers.tolist() == sorted(set(together.tolist()) - set(before))
    np.testing.assert_array_equal(together[union.origins], union.numbers)
    numbers = np.concatenate([arrays[0], union.numbers])
    for given_numbers, places in zip(arrays[1:], union.places, strict=True):
        np.testing.assert_array_equal(numbers[places], given_numbers)


@given(ascending, st.lists(st.integers(-1, 42), max_size=30))
def test_numbers_in_any_order_are_found(numbers, wanted):
    found = Numbers(np.array(numbers, np.int64)).find(np.array(wanted, np.int64))
    assert found.tolist() == [numbers.index(each) if each in numbers else -1 for each in wanted]


def lists_index(numbers, wanted):
    found = np.flatnonzero(numbers == wanted)
    return found[0] if len(found) else -1


@given(ascending, st.lists(st.integers(-1, 42)))
def test_numbers_among_a_list(numbers, wanted):
    found = is_among(np.array(wanted, np.int64), np.array(numbers, np.int64))
    np.testing.assert_array_equal(found, np.isin(wanted, numbers))
