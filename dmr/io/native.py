"""ctypes bindings of the native library that reads and writes tables of numbers (`triangle_text.cpp`).

The structs here mirror those in the C++ file; increment `INTERFACE` in both places when they change.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

from dmr.common.files.text_index import IndexedText
from dmr.common.native import declare, interruptible, load_library

INTERFACE = 3

LIBRARY = Path(__file__).with_name("_triangle_text.so")

# The values of `Fault.code`, in the order of the enum in triangle_numbers.hpp.
TOO_FEW, NOT_WHOLE, NOT_REAL, TOO_LARGE, NOT_FINITE, NO_SUCH_ENTITY, REPEATED = range(1, 8)


class Text(IndexedText):
    """The index of the data lines of a text (`DmrText`)."""

    _fields_ = (("threads", c_int32),)


class Table(Structure):
    """One table of a text, and the output arrays for its columns (`DmrTable`)."""

    _fields_ = (
        ("first_row", c_int64),
        ("count", c_int64),
        ("indices", c_int32),
        ("reals", c_int32),
        ("integers", c_int32),
        ("finite", c_int32),
        ("optional_reals", c_int32),
        ("distinct", c_int32),
        ("allow_none", c_int32),
        ("base", c_int64),
        ("entities", c_int64),
        ("sorted", c_void_p),
        ("places", c_void_p),
        ("numbers", c_void_p),
        ("index_out", c_void_p),
        ("real_out", c_void_p),
        ("integer_out", c_void_p),
    )


class Fault(Structure):
    """The fault found in a line, and its position (`DmrFault`)."""

    _fields_ = (
        ("code", c_int32),
        ("field", c_int32),
        ("line", c_int64),
        ("row", c_int64),
        ("begin", c_int64),
        ("end", c_int64),
        ("value", c_int64),
    )


class Surplus(Structure):
    """Rows with more fields than columns: their count, and the line and field count of the first (`DmrSurplus`)."""

    _fields_ = (("rows", c_int64), ("line", c_int64), ("fields", c_int64))


class Rows(Structure):
    """Rows to write (`DmrRows`)."""

    _fields_ = (
        ("count", c_int64),
        ("first_number", c_int64),
        ("base", c_int64),
        ("indices", c_int32),
        ("reals", c_int32),
        ("integers", c_int32),
        ("index_in", c_void_p),
        ("real_in", c_void_p),
        ("integer_in", c_void_p),
    )


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_text_interface", INTERFACE))
    numbers = POINTER(c_int64)
    interruptible(loaded, "dmr_text_index", None, POINTER(Text))
    declare(loaded, "dmr_text_row", None, POINTER(Text), c_int64, numbers, numbers, numbers)
    interruptible(loaded, "dmr_text_parse", c_int32, POINTER(Text), POINTER(Table), POINTER(Fault), POINTER(Surplus))
    interruptible(loaded, "dmr_text_write", c_int32, c_int32, POINTER(Rows), c_int32)
    return loaded
