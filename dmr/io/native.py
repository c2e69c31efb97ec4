"""ctypes bindings of the native library that reads and writes tables of numbers (`triangle_text.cpp`).

The structs here mirror those in the C++ file; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64
from functools import cache
from pathlib import Path

from dmr.common.files.text_index import IndexedText
from dmr.common.native import declare, interruptible, load_library, members

INTERFACE = 4

LIBRARY = Path(__file__).with_name("_triangle_text.so")

# The values of `Fault.code`, in the order of the enum in triangle_numbers.hpp.
TOO_FEW, NOT_WHOLE, NOT_REAL, TOO_LARGE, NOT_FINITE, NO_SUCH_ENTITY, REPEATED = range(1, 8)


class Table(Structure):
    """One table of a text, and the output arrays for its columns (`DmrTable`)."""

    _fields_ = members(
        "int64 first_row count",
        "int32 indices reals integers finite optional_reals distinct allow_none",
        "int64 base entities",
        "address sorted places numbers index_out real_out integer_out",
    )


class Fault(Structure):
    """The fault found in a line, and its position (`DmrFault`)."""

    _fields_ = members("int32 code field", "int64 line row begin end value")


class Surplus(Structure):
    """Rows with more fields than columns: their count, and the line and field count of the first (`DmrSurplus`)."""

    _fields_ = members("int64 rows line fields")


class Rows(Structure):
    """Rows to write (`DmrRows`)."""

    _fields_ = members(
        "int64 count first_number base", "int32 indices reals integers", "address index_in real_in integer_in"
    )


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_text_interface", INTERFACE))
    numbers = POINTER(c_int64)
    interruptible(loaded, "dmr_text_index", None, POINTER(IndexedText))
    declare(loaded, "dmr_text_row", None, POINTER(IndexedText), c_int64, numbers, numbers, numbers)
    interruptible(
        loaded, "dmr_text_parse", c_int32, POINTER(IndexedText), POINTER(Table), POINTER(Fault), POINTER(Surplus)
    )
    interruptible(loaded, "dmr_text_write", c_int32, c_int32, POINTER(Rows), c_int32)
    return loaded
