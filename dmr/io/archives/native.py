"""ctypes bindings of the native library of archives (`library.cpp`).

The structs here mirror those in the C++ files; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import interruptible, load_library, members

INTERFACE = 4

LIBRARY = Path(__file__).with_name("_archives.so")

MOST_WRITERS = 4  # threads: the system lets one at a time write to a file, so more only wait

COPIED, TRANSLATED, GATHERED = range(3)  # enum Kind of library.cpp


class Source(Structure):
    """A table of rows, and the rows that are taken or what replaces its entries (`Source`)."""

    _fields_ = members("address rows", "int64 count", "address table")


class NativeColumn(Structure):
    """An array of an archive (`Column`)."""

    _fields_ = (
        *members("int64 offset rows", "address sources taken_from", "int32 kind row_bytes source_count"),
        ("crc", ctypes.c_uint32),
    )


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_archives_interface", INTERFACE))
    interruptible(loaded, "dmr_write_columns", c_int32, c_int32, POINTER(NativeColumn), c_int32, c_int32)
    interruptible(loaded, "dmr_write_bytes", c_int32, c_int32, c_void_p, c_int64, c_int64, c_int32)
    return loaded


def write_bytes(descriptor: int, content: NDArray[np.uint8], offset: int, threads: int) -> None:
    """Writes bytes to an open file, from an offset on, by several threads; raises OSError."""
    most = min(threads, MOST_WRITERS)
    error = library().dmr_write_bytes(descriptor, content.ctypes.data, content.nbytes, offset, most)
    if error:
        raise OSError(error, os.strerror(error))
