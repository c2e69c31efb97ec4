"""Writes an uncompressed .npz whose arrays are made, or arrive in pieces, while they are written by several threads.

The bytes are those of `numpy.savez`: a zip archive (APPNOTE.TXT, version 6.3) of .npy files. Arrays are written one
after the other; the headers and the directory, which contain the checksums, follow at the end.

An archive can also be begun with the first rows of some arrays, and room for further ones, whose number becomes known
later. What is left of the room stays a hole in the file: readers follow the directory. The first page is for the first
of the other arrays, which is small: readers recognise an archive by what it begins with.
"""

from __future__ import annotations

import ctypes
import io
import math
import os
import struct
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dmr.io.archives.columns import Array, ArrivingColumn, Column, copied
from dmr.io.archives.native import COPIED, MOST_WRITERS, NO_FILE, NativeColumn, Source, library

# Fields of zip headers, as Python's zipfile sets them for a stream of unknown length.
VERSION, UNIX, EARLIEST_DAY = 45, 3, 1 << 5 | 1
OWNER_READS_AND_WRITES = 0o600 << 16
PAGE = 4096  # bytes: arrays with room begin on a page, so that they can be mapped, and share none
IN_EXTRA, MOST = 0xFFFFFFFF, 2**31 - 1
LOCAL, CENTRAL, EXTRA = struct.Struct("<4s2B4HL2L2H"), struct.Struct("<4s4B4HL2L5H2L"), struct.Struct("<HHQQ")
END, END_64, LOCATOR_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")


class Begun(NamedTuple):
    """The first rows of an array, which are in an archive before the others are known.

    Attributes:
        at: where they begin in the file; rows: how many there are.
        crc: their checksum, or `UNKNOWN`.
        end: where the room ends.
    """

    at: int
    rows: int
    crc: int
    end: int


UNKNOWN = -1
NONE_BEGUN: Mapping[str, Begun] = {}


@dataclass(eq=False)
class _Member:
    """An array in the archive: its place, its headers, and what the library writes."""

    name: bytes
    offset: int
    head: bytes
    size: int
    native: NativeColumn
    kept: tuple[Any, ...] = field(repr=False)

    @property
    def end(self) -> int:
        return self.offset + LOCAL.size + len(self.name) + EXTRA.size + self.size

    def local(self) -> bytes:
        """Returns all bytes before the content of the array."""
        return (
            LOCAL.pack(b"PK\3\4", VERSION, 0, 0, 0, 0, EARLIEST_DAY, self.native.crc, IN_EXTRA, IN_EXTRA,
                       len(self.name), EXTRA.size)
            + self.name + EXTRA.pack(1, EXTRA.size - 4, self.size, self.size) + self.head
        )  # fmt: skip

    def central(self) -> bytes:
        """Returns the member's entry in the directory of the archive."""
        large = [self.size, self.size] if self.size > MOST else []
        size = IN_EXTRA if large else self.size
        offset = self.offset
        if offset > MOST:
            large, offset = [*large, offset], IN_EXTRA
        extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
        return (
            CENTRAL.pack(b"PK\1\2", VERSION, UNIX, VERSION, 0, 0, 0, 0, EARLIEST_DAY, self.native.crc, size, size,
                         len(self.name), len(extra), 0, 0, 0, OWNER_READS_AND_WRITES, offset)
            + self.name + extra
        )  # fmt: skip


class ArchiveWriter:
    """Writes arrays to an archive one after another."""

    def __init__(self, descriptor: int, threads: int, begun: Mapping[str, Begun] = NONE_BEGUN) -> None:
        """Takes arguments as `write_npz`."""
        self._descriptor, self._threads = descriptor, min(threads, MOST_WRITERS)
        self._members: list[_Member] = []
        self._begun = begun
        self._end = 0
        self._next = max((each.end for each in begun.values()), default=0)  # the end after the next array

    def add(self, columns: Mapping[str, Column | ArrivingColumn]) -> None:
        """Writes arrays, by name; those of one call that are no `ArrivingColumn` are written together.

        Raises:
            OSError: they cannot be written.
        """
        made: list[_Member] = []
        for name, column in columns.items():
            first = self._begun.get(name)
            member = _member(_file_of(name), self._end, column, first)
            if first is None:
                assert not self._next or member.end <= PAGE, f"{name} does not fit the first page"
                self._end, self._next = max(member.end, self._next), 0
            self._members.append(member)
            if isinstance(column, Column):
                made.append(member)
                continue
            _write(self._descriptor, made, self._threads)
            made = []
            rows, left = member.native.offset, member.native.rows
            for piece in column.pieces():
                member.native.offset, member.native.rows = rows, len(piece)
                sources = (Source * 1)(Source(piece.ctypes.data, len(piece), None, 0))
                member.native.sources = ctypes.addressof(sources)
                _write(self._descriptor, [member], self._threads)
                rows, left = rows + piece.nbytes, left - len(piece)
            assert left == 0, f"{left} rows of {name} have not arrived"
        _write(self._descriptor, made, self._threads)

    def finish(self) -> None:
        """Writes the headers and the directory.

        Raises:
            OSError: they cannot be written.
        """
        end = self._end
        directory = b"".join(member.central() for member in self._members)
        with open(self._descriptor, "wb", closefd=False) as file:
            for member in self._members:
                file.seek(member.offset)
                file.write(member.local())
            file.seek(end)
            file.write(directory + _end(len(self._members), len(directory), end))


def write_npz(
    descriptor: int,
    columns: Mapping[str, Column | ArrivingColumn],
    threads: int,
    begun: Mapping[str, Begun] = NONE_BEGUN,
) -> None:
    """Writes an archive to an open file, which is empty, or has been begun.

    Args:
        descriptor: of the file; columns: the arrays by name; threads: how many make and write them.
        begun: what `begin_archive` has returned: the columns of these names hold the rows that follow.

    Raises:
        OSError: it cannot be written.
    """
    assert begun.keys() <= columns.keys()
    writer = ArchiveWriter(descriptor, threads, begun)
    writer.add(columns)
    writer.finish()


def places_of_first_rows(
    rows: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]], most: Mapping[str, int]
) -> dict[str, int]:
    """Returns where `begin_archive` puts arrays of these types and shapes in a file, by name.

    The place of an array depends on itself and those before it.
    """
    found, end = {}, PAGE
    for name, (dtype, shape) in rows.items():
        member = _member(_file_of(name), end, ArrivingColumn(dtype, shape, tuple))
        found[name] = -(-member.native.offset // PAGE) * PAGE
        end = found[name] + most[name] * member.native.row_bytes
    return found


def begin_archive(
    descriptor: int,
    arrays: Mapping[str, Array],
    most: Mapping[str, int],
    threads: int,
    left_out: Collection[str] = (),
) -> dict[str, Begun]:
    """Writes the first rows of the arrays of an archive to an open file, and leaves holes where they are zeros.

    Args:
        descriptor: of the file, which is empty but for arrays that are `left_out`.
        arrays: their rows by name; most: how many rows each can have; threads: as above.
        left_out: the names of those that are at their places already, or are written later; their checksums are
            `UNKNOWN`.

    Raises:
        OSError: they cannot be written.
    """
    places = places_of_first_rows({name: (array.dtype, array.shape) for name, array in arrays.items()}, most)
    members = {name: _member(_file_of(name), 0, copied(array)) for name, array in arrays.items()}
    for name, member in members.items():
        member.native.offset, member.native.crc = places[name], 0
    written = [member for name, member in members.items() if name not in left_out]
    _write(descriptor, written, min(threads, MOST_WRITERS), holes=True)
    begun = {}
    for name, member in members.items():
        each, crc = member.native, UNKNOWN if name in left_out else member.native.crc
        begun[name] = Begun(each.offset, each.rows, crc, each.offset + most[name] * each.row_bytes)
    os.truncate(descriptor, max((each.end for each in begun.values()), default=PAGE))  # if the last rows are zeros
    return begun


def checksum(rows: Array, threads: int) -> int:
    """Returns the checksum of the first rows of an array, as in `Begun`; `threads` compute it."""
    member = _member(b"", 0, copied(rows))
    member.native.crc = 0
    _write(NO_FILE, [member], threads)
    return int(member.native.crc)


def write_first_rows(descriptor: int, column: Column, begun: Begun, threads: int) -> Begun:
    """Writes the first rows of an array that `begin_archive` has left out.

    Args:
        descriptor: of the file; column: the rows; begun: what `begin_archive` has returned; threads: as above.

    Returns:
        `begun`, with the checksum.

    Raises:
        OSError: they cannot be written.
    """
    member = _member(b"", 0, column)
    member.native.offset, member.native.crc = begun.at, 0
    _write(descriptor, [member], min(threads, MOST_WRITERS))
    return begun._replace(crc=member.native.crc)


def _file_of(name: str) -> bytes:
    """Returns the name of the file of an array in the archive."""
    return f"{name}.npy".encode("ascii")


def _write(descriptor: int, members: Sequence[_Member], threads: int, *, holes: bool = False) -> None:
    """Writes the content of arrays, and adds it to their checksums.

    With `holes`, zeros are left out of a new file; without a file (`NO_FILE`) nothing is written.
    """
    native = (NativeColumn * len(members))(*(each.native for each in members))
    error = library().dmr_write_columns(descriptor, native, len(members), threads, holes)
    if error:
        raise OSError(error, os.strerror(error))
    for member, written in zip(members, native, strict=True):
        member.native.crc = written.crc


def _member(name: bytes, end: int, column: Column | ArrivingColumn, first: Begun | None = None) -> _Member:
    """Returns an array as a member of the archive.

    Args:
        name: in the archive; end: of the archive so far; column: what is written.
        first: the rows before, in the room for the array; without them it is at the end of the archive.
    """
    before = 0 if first is None else first.rows
    rows, *further = column.shape or (1,)
    head = io.BytesIO()
    shape = (before + rows, *further) if column.shape else ()
    np.lib.format.write_array_header_1_0(
        head, {"shape": shape, "fortran_order": False, "descr": np.lib.format.dtype_to_descr(column.dtype)}
    )
    row_bytes = column.dtype.itemsize * math.prod(further)
    start, crc = LOCAL.size + len(name) + EXTRA.size + head.tell(), zlib.crc32(head.getvalue())
    offset = end
    if first is not None:
        assert first.at + (before + rows) * row_bytes <= first.end, f"there is no room for {rows} rows more"
        offset, crc = first.at - start, library().dmr_joined_crc(crc, first.crc, before * row_bytes)
    native = NativeColumn(offset + start + before * row_bytes, rows, None, None, COPIED, row_bytes, 1, crc)
    kept: tuple[Any, ...] = ()
    if isinstance(column, Column):
        sources = (Source * len(column.sources))(
            *(
                Source(array.ctypes.data, count, None if table is None else table.ctypes.data, first)
                for array, count, table, first in zip(
                    column.sources,
                    column.counts,
                    column.tables,
                    column.firsts or [0] * len(column.sources),
                    strict=True,
                )
            )
        )
        native.sources, native.source_count, native.kind = ctypes.addressof(sources), len(sources), column.kind
        native.taken_from = None if column.origins is None else column.origins.ctypes.data
        kept = sources, column
    return _Member(name, offset, head.getvalue(), head.tell() + (before + rows) * row_bytes, native, kept)


def _end(count: int, size: int, offset: int) -> bytes:
    """Returns what follows the directory of an archive: its number of entries, its size and its offset."""
    large = b""
    if offset > MOST or size > MOST:
        large = END_64.pack(
            b"PK\6\6", END_64.size - 12, VERSION, VERSION, 0, 0, count, count, size, offset
        ) + LOCATOR_64.pack(b"PK\6\7", 0, offset + size, 1)
        size, offset = min(size, IN_EXTRA), min(offset, IN_EXTRA)
    return large + END.pack(b"PK\5\6", 0, 0, count, count, size, offset, 0)
