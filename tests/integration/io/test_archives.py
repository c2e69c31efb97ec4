"""Archives that are made while they are written: the same bytes as numpy's."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

from dmr.io.archives import npz
from dmr.io.archives.columns import ArrivingColumn, Indexed, copied, gathered, numbered, translated
from dmr.io.archives.npz import UNKNOWN, begin_archive, checksum, write_first_rows, write_npz


def arriving(table, rows):
    """A table that arrives in pieces; the arrays of pieces that are done hold something else."""

    def pieces():
        buffer = np.empty_like(table[:rows])
        for first in range(0, len(table), rows):
            piece = buffer[: len(table[first : first + rows])]
            piece[:] = table[first : first + rows]
            yield piece
            buffer.fill(7)

    return ArrivingColumn(table.dtype, table.shape, pieces)


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
    stored = [np.concatenate([np.arange(3), -1 - np.arange(200_000)]), np.array([1, 2**40]), np.array([-1])]
    columns = {
        "format": copied(np.array(1)), "vertices": gathered(tables, rows), "odd": gathered(odd, rows),
        "triangles": translated(corners, places), "all": copied(*tables), "none": copied(np.empty((5, 0))),
        "names": copied(np.array(["steel", "air"])),
        "late": arriving(tables[0], 7777), "late3": arriving(tables[3], 30_000),
        "listed": copied(Indexed(tables[0], rows[:1000] % 100_000), tables[1]),
        "odd3": copied(Indexed(odd[3], places[3])), "numbers": numbered(stored, [10**10, 0, 5]),
    }  # fmt: skip
    arrays = {
        "format": np.array(1), "vertices": np.concatenate(tables)[rows], "odd": np.concatenate(odd)[rows],
        "triangles": np.concatenate([place[each] for place, each in zip(places, corners, strict=True)]),
        "all": np.concatenate(tables), "none": np.empty((5, 0)), "names": np.array(["steel", "air"]),
        "late": tables[0], "late3": tables[3],
        "listed": np.concatenate([tables[0][rows[:1000] % 100_000], tables[1]]),
        "odd3": odd[3][places[3]],
        "numbers": np.concatenate([np.arange(3), 10**10 + np.arange(200_000), [1, 2**40, 5]]),
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


@pytest.mark.parametrize("room", [0, 1, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_archives_that_are_begun_with_the_first_rows_of_arrays(threads, room, tmp_path):
    """Numpy reads them, zipfile finds no wrong checksum, and to complete one again changes nothing."""
    random = np.random.default_rng(room)
    zeros = np.zeros(900_000)
    zeros[7] = 1
    first = {
        "points": random.random((70_000, 2)),
        "zeros": zeros,
        "few": np.arange(3, dtype=np.int32),
        "none": np.empty((0, 3)),
    }
    others = {
        "points": random.random((500, 2)),
        "zeros": np.zeros(1),
        "few": np.arange(9, dtype=np.int32),
        "none": np.ones((1, 3)),
    }
    most = {name: len(first[name]) + len(others[name]) + room for name in first}
    path = tmp_path / "archive.npz"
    with path.open("xb") as file:
        begun = begin_archive(file.fileno(), first, most, threads)
    assert 512 * path.stat().st_blocks < path.stat().st_size - 5 * zeros.nbytes // 8
    for name, array in first.items():  # can be mapped
        found = np.memmap(path, array.dtype, "r", begun[name].at, array.shape) if len(array) else array
        np.testing.assert_array_equal(found, array)
    columns = {"version": copied(np.array(2)), "small": copied(np.arange(5)), "points": arriving(others["points"], 77)}
    columns |= {name: copied(others[name]) for name in ("zeros", "few", "none")}
    columns["late"] = arriving(others["points"], 500)
    written = []
    for _ in range(2):
        with path.open("r+b") as file:
            write_npz(file.fileno(), columns, threads, begun)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    with np.load(path) as archive:
        found = dict(archive)
        assert archive.zip.testzip() is None
    expected = {name: np.concatenate([first[name], others[name]]) for name in first}
    expected |= {"version": np.array(2), "small": np.arange(5), "late": others["points"]}
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("threads", [1, 3])
def test_first_rows_that_are_written_later(threads, tmp_path):
    """The bytes are those of an archive that is begun with them, also if they are written twice."""
    first = {"points": np.random.default_rng(3).random((70_000, 2)), "numbers": np.arange(-9, 200_000)}
    as_written = numbered([first["numbers"]], [1000])
    most = {"points": 80_000, "numbers": 200_100}
    others = {"points": copied(np.ones((5, 2))), "numbers": copied(np.array([7]))}
    columns = {"version": copied(np.array(2)), **others}
    whole, later = tmp_path / "whole.npz", tmp_path / "later.npz"
    with whole.open("xb") as file:
        given = {**first, "numbers": np.where(first["numbers"] < 0, 999 - first["numbers"], first["numbers"])}
        write_npz(file.fileno(), columns, threads, begin_archive(file.fileno(), given, most, threads))
    with later.open("x+b") as file:
        begun = begin_archive(file.fileno(), first, most, threads, ["numbers"])
        file.seek(begun["numbers"].at)  # half of them are there, as they will be
        file.write(given["numbers"][:100_000].tobytes())
        file.write(first["numbers"][100_000:].tobytes())
        for _ in range(2):
            in_file = np.memmap(later, np.int64, "r", begun["numbers"].at, first["numbers"].shape)
            done = write_first_rows(file.fileno(), numbered([in_file], [1000]), begun["numbers"], threads)
        assert done == write_first_rows(file.fileno(), as_written, begun["numbers"], threads)
        assert begun["numbers"].crc == UNKNOWN
        assert checksum(first["points"], threads) == begun["points"].crc
        write_npz(file.fileno(), columns, threads, {**begun, "numbers": done})
    assert whole.read_bytes() == later.read_bytes()


def test_rows_for_which_there_is_no_room(tmp_path):
    with (tmp_path / "archive.npz").open("xb") as file:
        begun = begin_archive(file.fileno(), {"one": np.zeros(4)}, {"one": 5}, 1)
        with pytest.raises(AssertionError, match="no room for 2 rows more"):
            write_npz(file.fileno(), {"version": copied(np.array(1)), "one": copied(np.ones(2))}, 1, begun)


def test_a_write_that_fails_is_an_error():
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            write_npz(descriptor, {"one": copied(np.zeros(3))}, 2)
    finally:
        os.close(descriptor)
