"""Calls of the CUDA driver that PyCUDA does not have, through ctypes, in the context that is current."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from dmr.errors import InternalError, OutOfMemoryError

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@cache
def address(name: str) -> int:
    """The address of a driver function, for native code that calls it."""
    return ctypes.cast(getattr(_driver(), name), ctypes.c_void_p).value or 0


def call(name: str, *arguments: Any) -> None:
    """Calls the driver.

    Raises:
        OutOfMemoryError: there is too little memory for it.
        InternalError: it refuses for another reason; with its own words.
    """
    check(name, getattr(_driver(), name)(*arguments))


def check(name: str, code: int) -> None:
    """Raises, as `call` does, unless the code that a driver function returned is 0."""
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        kind = OutOfMemoryError if code == OUT_OF_MEMORY else InternalError
        raise kind(f"{name} failed: {text.value.decode() if text.value else code}")
