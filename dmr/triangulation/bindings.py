"""ctypes bindings of the native library of triangulation (`serial/library.cpp`, `serial/keeping.cpp`, and others)."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int32, c_void_p
from functools import cache
from pathlib import Path

from dmr.common.native import declare, interruptible, load_library
from dmr.common.threads import available_threads

INTERFACE = 6  # of `serial/library.cpp`, which has it too: increment both when a function's arguments change

LIBRARY = Path(__file__).with_name("_triangulation.so")


@cache
def library() -> ctypes.CDLL:
    """Loads the library and declares its functions; raises NativeLibraryError as `load_library`."""
    loaded = load_library(LIBRARY, ("dmr_triangulation_interface", INTERFACE))
    interruptible(
        loaded, "dmr_triangulation", None,
        c_void_p, c_int32, c_void_p, c_void_p, c_void_p, c_int32, c_int32, c_int32, POINTER(c_int32), POINTER(c_void_p),
    )  # fmt: skip
    interruptible(loaded, "dmr_triangulation_arrays", c_int32, *[c_void_p] * 11)
    interruptible(
        loaded, "dmr_boundary_sweep", None, c_void_p, c_int32, c_void_p, c_void_p, c_int32, c_void_p
    )  # fmt: skip
    for name, pointers in (
        ("dmr_triangulation_free", 1),
        ("dmr_triangulation_counts", 2),
        ("dmr_triangulation_tangled", 2),
    ):
        declare(loaded, name, None, *[c_void_p] * pointers)
    interruptible(loaded, "dmr_number_kept", c_int32, c_void_p, c_int32, c_void_p, c_int32, c_void_p)
    interruptible(loaded, "dmr_keep_triangles", c_int32, *[c_void_p] * 4, c_int32, c_int32, *[c_void_p] * 3)
    declare(loaded, "dmr_sort_segments", c_int32, c_void_p, c_int32, c_int32, c_void_p, c_void_p)
    declare(loaded, "dmr_triangulation_use_cores", None, c_int32)
    loaded.dmr_triangulation_use_cores(available_threads())
    declare(loaded, "dmr_triangulation_locate", None, c_void_p, c_void_p, c_void_p, c_int32, c_void_p)
    return loaded
