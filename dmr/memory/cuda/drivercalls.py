"""Calls of the CUDA driver that PyCUDA does not have, through ctypes, in the context that PyCUDA made current."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from dmr.errors import InternalError, OutOfMemoryError

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    """Calls the driver.

    Raises:
        OutOfMemoryError: there is too little memory for it.
        InternalError: it refuses for another reason; with its own words.
    """
    code = getattr(_driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        kind = OutOfMemoryError if code == OUT_OF_MEMORY else InternalError
        raise kind(f"{name} failed: {text.value.decode() if text.value else code}")
