"""ctypes bindings of the native library of archives (`library.cpp`).

The structs here mirror those in the C++ files; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_uint32, c_uint64
from functools import cache
from pathlib import Path

from dmr.common.native import declare, interruptible, load_library, members

INTERFACE = 9

LIBRARY = Path(__file__).with_name("_archives.so")

NO_FILE = -1  # in place of a file descriptor
MOST_WRITERS = 4  # threads: one at a time writes to the file, while the others make what they will write

COPIED, TRANSLATED, GATHERED, NUMBERED = range(4)  # enum Kind of library.cpp


class Source(Structure):
    """A table of rows, and the rows that are taken or what replaces its entries (`Source`)."""

    _fields_ = members("address rows", "int64 count", "address table", "int64 first")


class NativeColumn(Structure):
    """An array of an archive (`Column`)."""

    _fields_ = (
        *members("int64 offset rows", "address sources taken_from", "int32 kind row_bytes source_count"),
        ("crc", c_uint32),
    )


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_archives_interface", INTERFACE))
    interruptible(loaded, "dmr_write_columns", c_int32, c_int32, POINTER(NativeColumn), c_int32, c_int32, c_int32)
    declare(loaded, "dmr_in_memory", c_int32, c_int32)
    declare(loaded, "dmr_joined_crc", c_uint32, c_uint32, c_uint32, c_uint64)
    return loaded
