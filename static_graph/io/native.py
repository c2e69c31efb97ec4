"""ctypes binding of the native library that reads and writes edges in text files (`edge_text.cpp`).

The structs mirror those in the C++ file; `INTERFACE` must be raised in both places when they change.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path

from dmr.common.files.text_index import IndexedText
from dmr.common.native import declare, interruptible, load_library, members

INTERFACE = 4

LIBRARY = Path(__file__).with_name("_edge_text.so")

# The enums of the C++ file, in the same order.
SOURCE, TARGET, WEIGHT = range(3)
NO_WEIGHTS, INT32, INT64, FLOAT64 = range(4)
TOO_FEW, TOO_MANY, NOT_WHOLE, NOT_REAL, TOO_LARGE, NO_NODE, NEGATIVE, NOT_FINITE, NO_PREFIX = range(1, 10)


class Text(IndexedText):
    """A text, and the positions of its rows (`GraphText`)."""

    _fields_ = (
        *members("int32 comment other_comment commas prefix"),
        ("columns", c_int32 * 3),
        ("blank_rows", c_int32),
    )


class Edges(Structure):
    """Destination of the edges of a text (`GraphEdges`)."""

    _fields_ = members("int64 low high", "int32 wide weights", "address sources targets weight")


class Fault(Structure):
    """Fault of a line (`GraphFault`)."""

    _fields_ = members("int32 code field", "int64 line begin end found")


class Lines(Structure):
    """Edges to be written as lines (`GraphLines`)."""

    _fields_ = members("address sources targets labels weight", "int64 base", "int32 weights prefix separator")


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("graph_text_interface", INTERFACE))
    interruptible(loaded, "graph_text_index", None, POINTER(Text))
    interruptible(loaded, "graph_text_parse", c_int32, POINTER(Text), POINTER(Edges), POINTER(Fault))
    interruptible(loaded, "graph_text_count", c_int32, POINTER(Text), c_void_p)
    interruptible(loaded, "graph_text_numbers", c_int32, POINTER(Text), c_void_p, c_void_p, POINTER(Fault))
    declare(loaded, "graph_text_longest_line", c_int64)
    declare(loaded, "graph_text_format", c_int64, POINTER(Lines), c_int64, c_int64, c_void_p)
    return loaded
