"""Finds and loads the native library, which the package build compiles from `cuda_src`."""

from __future__ import annotations

import ctypes
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from dmr.common.errors import NativeLibraryError
from dmr.common.native import declare, interruptible, load_library
from dmr.common.threads import available_threads
from dmr.memory.declarations import source_folder
from dmr.memory.signatures import signatures

LARGEST_NOTICED = 2**25 - 2**16  # bytes: larger arrays do not change the limit (DEFAULT_MMAP_THRESHOLD_MAX of glibc)

LIBRARY = Path(__file__).resolve().parent / "_kernels.so"


@cache
def library() -> ctypes.CDLL:
    """Loads the native library and declares its functions.

    Raises:
        NativeLibraryError: as `load_library`; or the library was built from other sources.
    """
    keep_freed_pages()
    loaded = load_library(LIBRARY)
    declare(loaded, "host_sources", ctypes.c_char_p)
    if loaded.host_sources().decode() != sources_digest():
        raise NativeLibraryError(LIBRARY, f"was built from other sources than those in {source_folder()}")
    declare(loaded, "host_timed", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    declare(loaded, "host_use_cores", None, ctypes.c_int)
    loaded.host_use_cores(available_threads())
    threads, smallest_piece = ctypes.c_int, ctypes.c_double
    for launch in ("host_launch", "host_launch_grid"):
        interruptible(loaded, launch, None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p, threads, smallest_piece)
    interruptible(
        loaded, "host_repeat", None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, threads, smallest_piece
    )
    interruptible(loaded, "host_touch", None, ctypes.c_void_p, ctypes.c_int64, threads)
    interruptible(loaded, "host_copy", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, threads)
    interruptible(loaded, "host_all_finite", ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, threads)
    interruptible(loaded, "host_poll", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    return loaded


def keep_freed_pages() -> None:
    """Lets glibc keep up to 64 MiB of freed memory for the next arrays, instead of returning it to the system.

    A call allocates and frees arrays of some 30 MB in all for 100,000 triangles. New pages for them would take 5% of
    its time (docs/internals/memory.md). glibc adapts the limit to the largest array that a program has freed. This
    frees one, which is never written, so that it has no pages.
    """
    np.empty(LARGEST_NOTICED, np.uint8)


def sources_digest() -> str:
    """Returns a digest of the sources that the kernels are built from (`digest` of setup.py)."""
    total = sha256()
    for source in sorted(source_folder().rglob("*.cu*")):
        total.update(source.read_bytes())
    return total.hexdigest()[:32]


@cache
def kernel_address(name: str) -> int:
    """Returns the address of a kernel's entry point.

    Raises:
        NativeLibraryError: the library was built from other sources.
    """
    try:
        entry: Any = getattr(library(), f"kernel_{name}")
    except AttributeError:
        raise NativeLibraryError(LIBRARY, f"has no kernel {name}: it is older than the sources") from None
    address = ctypes.cast(entry, ctypes.c_void_p).value
    assert address is not None
    return address


@cache
def timed_kernel(name: str) -> int:
    """Returns the address of a kernel's launch record: its entry point, and estimates of its run time.

    Raises:
        NativeLibraryError: as `kernel_address`.
    """
    return int(library().host_timed(kernel_address(name), signatures()[name].team))
