"""Unions of lists, and archives that are made while they are written: the same as numpy's."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.distributed.archives import npz
from dmr.distributed.archives.npz import copied, gathered, translated, write_npz
from dmr.distributed.archives.union import Numbers, unite

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


def lists_index(numbers, wanted):
    found = np.flatnonzero(numbers == wanted)
    return found[0] if len(found) else -1


@pytest.mark.parametrize("most", [npz.MOST, 100])
@pytest.mark.parametrize("threads", [1, 3])
def test_archives_have_the_bytes_of_numpy(threads, most, tmp_path, monkeypatch):
    """With a lower limit from which on sizes have 64 bits, zipfile's are lowered, too."""
    monkeypatch.setattr("zipfile.ZIP64_LIMIT", most)
    monkeypatch.setattr(npz, "MOST", most)
    random = np.random.default_rng(1)
    counts = (100_000, 7, 0, 30_000)  # the first makes several chunks
    tables = [random.random((count, 2)) for count in counts]
    corners = [random.integers(0, max(count, 1), (count, 3), np.int32) for count in counts]
    places = [random.permutation(max(count, 1)).astype(np.int32) for count in counts]
    rows = random.integers(0, sum(counts), 50_000).astype(np.int32)
    odd = [random.integers(0, 9, (count, 5), np.int8) for count in counts]
    columns = {
        "format": copied(np.array(1)), "vertices": gathered(tables, rows), "odd": gathered(odd, rows),
        "triangles": translated(corners, places), "all": copied(*tables), "none": copied(np.empty((5, 0))),
        "names": copied(np.array(["steel", "air"])),
    }  # fmt: skip
    arrays = {
        "format": np.array(1), "vertices": np.concatenate(tables)[rows], "odd": np.concatenate(odd)[rows],
        "triangles": np.concatenate([place[each] for place, each in zip(places, corners, strict=True)]),
        "all": np.concatenate(tables), "none": np.empty((5, 0)), "names": np.array(["steel", "air"]),
    }  # fmt: skip
    path = tmp_path / "archive.npz"
    with path.open("wb") as file:
        write_npz(file.fileno(), columns, threads)
    expected = io.BytesIO()
    np.savez(expected, **arrays)
    assert path.read_bytes() == expected.getvalue()


def test_a_write_that_fails_is_an_error():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            write_npz(descriptor, {"one": copied(np.zeros(3))}, 2)
    finally:
        os.close(descriptor)
