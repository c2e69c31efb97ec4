"""Archives that are made while they are written: the same bytes as numpy's."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

from dmr.io.archives import npz
from dmr.io.archives.npz import Arriving, Indexed, copied, gathered, translated, write_npz


def arriving(table, rows):
    """A table that arrives in pieces; the arrays of pieces that are done hold something else."""

    def pieces():
        buffer = np.empty_like(table[:rows])
        for first in range(0, len(table), rows):
            piece = buffer[: len(table[first : first + rows])]
            piece[:] = table[first : first + rows]
            yield piece
            buffer.fill(7)

    return Arriving(table.dtype, table.shape, pieces)


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
        "late": arriving(tables[0], 7777), "late3": arriving(tables[3], 30_000),
        "listed": copied(Indexed(tables[0], rows[:1000] % 100_000), tables[1]),
        "odd3": copied(Indexed(odd[3], places[3])),
    }  # fmt: skip
    arrays = {
        "format": np.array(1), "vertices": np.concatenate(tables)[rows], "odd": np.concatenate(odd)[rows],
        "triangles": np.concatenate([place[each] for place, each in zip(places, corners, strict=True)]),
        "all": np.concatenate(tables), "none": np.empty((5, 0)), "names": np.array(["steel", "air"]),
        "late": tables[0], "late3": tables[3],
        "listed": np.concatenate([tables[0][rows[:1000] % 100_000], tables[1]]),
        "odd3": odd[3][places[3]],
    }  # fmt: skip
    path = tmp_path / "archive.npz"
    with path.open("wb") as file:
        write_npz(file.fileno(), columns, threads)
    expected = io.BytesIO()
    np.savez(expected, **arrays)
    assert path.read_bytes() == expected.getvalue()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, *(2**14 + shift for shift in (-1, 0, 1, 9, 31, 33)), 50_000])
def test_check_sums_of_any_length(size, tmp_path):
    """From some length on, several parts of the bytes are summed up in turn."""
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    path = tmp_path / "archive.npz"
    with path.open("wb") as file:
        write_npz(file.fileno(), {"a": arriving(content, 20_000), "b": copied(content)}, 1)
    expected = io.BytesIO()
    np.savez(expected, a=content, b=content)
    assert path.read_bytes() == expected.getvalue()


def test_a_write_that_fails_is_an_error():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            write_npz(descriptor, {"one": copied(np.zeros(3))}, 2)
    finally:
        os.close(descriptor)
