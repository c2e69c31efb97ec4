"""Waiting for a GPU, so that a signal ends the wait.

The driver's own waits return when the GPU is done and not before: Python handles signals, such as Ctrl-C's, only
afterwards. Here the native library polls without the interpreter's lock, and handles signals meanwhile.
"""

from __future__ import annotations

import ctypes

from dmr.memory.cuda.drivercalls import address, call, check
from dmr.memory.host.compiler import library

NOT_READY = 600  # CUDA_ERROR_NOT_READY
DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING


def wait_for_stream(stream: int) -> None:
    """Waits until everything that was launched on a stream, given by its handle, is done.

    Raises:
        InternalError: something that was launched before has failed; with the driver's own words.
    """
    _wait("cuStreamQuery", stream)


class Event:
    """A place in a stream that can be waited for. It lasts as long as the process."""

    def __init__(self) -> None:
        self._handle = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self._handle), ctypes.c_uint(DISABLE_TIMING))

    def record(self, stream: int) -> None:
        """Moves it to the end of what has been launched on a stream so far."""
        call("cuEventRecord", self._handle, ctypes.c_void_p(stream))

    def wait(self) -> None:
        """Waits until the stream has come to it; as `wait_for_stream`."""
        _wait("cuEventQuery", self._handle.value or 0)


def _wait(query: str, subject: int) -> None:
    check(query, library().host_poll(address(query), subject, NOT_READY))
