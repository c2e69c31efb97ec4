"""Calls of CUDA driver functions that PyCUDA lacks, through ctypes, in the current context."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from dmr.common.errors import InternalError, OutOfMemoryError

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


@cache
def address(name: str) -> int:
    """Returns the address of a driver function, for native code that calls it."""
    return ctypes.cast(getattr(_driver(), name), ctypes.c_void_p).value or 0


def call(name: str, *arguments: Any) -> None:
    """Calls a driver function.

    Raises:
        OutOfMemoryError: there is too little memory.
        InternalError: it fails for another reason; includes the driver's message.
    """
    check(name, getattr(_driver(), name)(*arguments))


def check(name: str, code: int) -> None:
    """Raises as `call` does, unless the return code of a driver function is 0."""
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        kind = OutOfMemoryError if code == OUT_OF_MEMORY else InternalError
        raise kind(f"{name} failed: {text.value.decode() if text.value else code}")
