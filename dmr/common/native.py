"""Loads the native libraries of the packages by ctypes, with functions that Ctrl-C can interrupt."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dmr.common.errors import NativeLibraryError

# Python functions that a native library calls (PythonCalls of cuda_src/portable/interrupts.hpp).
_NEEDED = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")


def load_library(path: Path, version: tuple[str, int] | None = None) -> ctypes.CDLL:
    """Loads a native library, and enables it to handle signals.

    Args:
        path: its file, which the package build made.
        version: the library's function that returns the version of its interface, and the version needed.

    Raises:
        NativeLibraryError: the library was not built, cannot be loaded, or belongs to another version.
    """
    if not path.exists():
        raise NativeLibraryError(path, "is missing")
    try:
        library = ctypes.CDLL(str(path))
        _allow_interrupts(library)
        found = None if version is None else getattr(library, version[0])()
    except (OSError, AttributeError) as error:
        raise NativeLibraryError(path, f"cannot be loaded ({error})") from error
    if version is not None and found != version[1]:
        raise NativeLibraryError(path, "belongs to another version")
    return library


_AT: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def address_of(array: NDArray[Any]) -> int:
    """Returns the address of the first element of an array.

    For a contiguous array that can be written, this takes a fifth of the time of `array.ctypes.data`, which would
    dominate calls on few elements.
    """
    flags = array.flags
    if flags.writeable and flags.c_contiguous and array.size:
        return ctypes.addressof(_AT(array))
    return int(array.ctypes.data)


_TYPES: dict[str, Any] = {
    "address": ctypes.c_void_p, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16, "double": ctypes.c_double,
}  # fmt: skip


def members(*lines: str) -> tuple[tuple[str, Any], ...]:
    """Returns the fields of a ctypes structure from lines as in C++: a type, "address" for any pointer, and names."""
    return tuple((name, _TYPES[kind]) for kind, *names in map(str.split, lines) for name in names)


def declare(library: ctypes.CDLL, name: str, restype: Any, *argtypes: Any) -> None:
    """Declares the types of a function's result and arguments. Other Python threads run while it does."""
    function = getattr(library, name)
    function.restype, function.argtypes = restype, argtypes


def interruptible(library: ctypes.CDLL, name: str, restype: Any, *argtypes: Any) -> None:
    """Declares a native function that handles signals while it runs.

    Such a function releases the interpreter's lock itself (`host::interruptible` of cuda_src/portable/interrupts.hpp).
    An exception of a signal handler, such as KeyboardInterrupt, ends it within a fraction of a second.

    Args:
        library: as `load_library` returned it; it receives the function as an attribute.
        name: name of the function; restype, argtypes: types of its result and its arguments.
    """
    prototype = ctypes.PYFUNCTYPE(restype, *argtypes)  # ctypes keeps the lock, and raises pending exceptions
    setattr(library, name, prototype((name, library)))


def _allow_interrupts(library: ctypes.CDLL) -> None:
    """Passes the Python functions that interruptible functions call."""
    addresses = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _NEEDED]
    declare(library, "native_python_calls", None, *[ctypes.c_void_p] * len(addresses))
    library.native_python_calls(*addresses)
