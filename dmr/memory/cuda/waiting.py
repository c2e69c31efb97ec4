"""Interruptible waits for a GPU.

The driver's own waits return only when the GPU has finished, so that Python handles signals, such as Ctrl-C's, too
late. Here the native library polls without the interpreter's lock, and handles signals meanwhile.
"""

from __future__ import annotations

import ctypes

from dmr.memory.cuda.drivercalls import address, call, check
from dmr.memory.host.compiler import library

NOT_READY = 600  # CUDA_ERROR_NOT_READY
DISABLE_TIMING = 2  # CU_EVENT_DISABLE_TIMING


def wait_for_stream(stream: int) -> None:
    """Waits until all work launched on a stream, given by its handle, has finished.

    Raises:
        InternalError: a kernel launched before has failed; includes the driver's message.
    """
    _wait("cuStreamQuery", stream)


class Event:
    """A CUDA event: a position in a stream. It lasts as long as the process."""

    def __init__(self) -> None:
        self._handle = ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(self._handle), ctypes.c_uint(DISABLE_TIMING))

    def record(self, stream: int) -> None:
        """Sets the event to the current end of a stream."""
        call("cuEventRecord", self._handle, ctypes.c_void_p(stream))

    def hold(self, stream: int) -> None:
        """Makes a stream wait for the event before its later work; the host does not wait."""
        call("cuStreamWaitEvent", ctypes.c_void_p(stream), self._handle, ctypes.c_uint(0))

    def wait(self) -> None:
        """Waits until the stream has reached the event; raises as `wait_for_stream`."""
        _wait("cuEventQuery", self._handle.value or 0)


def _wait(query: str, subject: int) -> None:
    check(query, library().host_poll(address(query), subject, NOT_READY))
