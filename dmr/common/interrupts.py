"""Makes native functions interruptible by Ctrl-C, and keeps interrupts that other libraries drop."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Python functions that a native library calls (PythonCalls of cuda_src/portable/interrupts.hpp).
_NEEDED = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")


def allow_interrupts(library: ctypes.CDLL) -> None:
    """Enables a native library to handle signals. Call this before its first interruptible function."""
    addresses = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _NEEDED]
    library.native_python_calls.argtypes = [ctypes.c_void_p] * len(addresses)
    library.native_python_calls.restype = None
    library.native_python_calls(*addresses)


def interruptible(library: ctypes.CDLL, name: str, restype: Any, *argtypes: Any) -> None:
    """Declares a native function that handles signals while it runs.

    Such a function releases the interpreter's lock itself (`host::interruptible` of cuda_src/portable/interrupts.hpp).
    An exception of a signal handler, such as KeyboardInterrupt, ends it within a fraction of a second.

    Args:
        library: receives the function as an attribute; `allow_interrupts` was called for it.
        name: name of the function; restype, argtypes: types of its result and its arguments.
    """
    prototype = ctypes.PYFUNCTYPE(restype, *argtypes)  # ctypes keeps the lock, and raises pending exceptions
    setattr(library, name, prototype((name, library)))


@contextmanager
def keep_interrupt() -> Iterator[None]:
    """Raises at the end what Python's Ctrl-C handler raised inside the block, if the code there has dropped it.

    VTK calls methods written in Python and drops their exceptions.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    raised: list[BaseException] = []

    def handle(number: int, frame: FrameType | None) -> None:
        try:
            before(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if raised:
        raise raised[0]
