"""CUDA graphs that launch themselves: a recorded sequence of kernels that is repeated without the host."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dmr.errors import InternalError
from dmr.memory.arrays import Loop
from dmr.memory.cuda.drivercalls import call

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: memory may be allocated meanwhile
DEVICE_LAUNCH = 4  # CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH


class GraphLoop(Loop):
    """A graph of the launches that `body` makes on a stream; the last of them launches the graph again (tail launch).

    Attributes:
        kept: what must live as long as the graph: arrays that were allocated while it was recorded.
    """

    def __init__(self, stream: Any, body: Callable[[], None], kept: list[Any]) -> None:
        self._stream = ctypes.c_void_p(stream.handle)
        self.kept = kept
        graph, self._executable = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuStreamBeginCapture_v2", self._stream, ctypes.c_int(RELAXED))
        try:
            try:
                body()
            finally:
                call("cuStreamEndCapture", self._stream, ctypes.byref(graph))
            flags = ctypes.c_ulonglong(DEVICE_LAUNCH)
            call("cuGraphInstantiateWithFlags", ctypes.byref(self._executable), graph, flags)
        finally:
            if graph:
                call("cuGraphDestroy", graph)
        call("cuGraphUpload", self._executable, self._stream)

    def run(self) -> None:
        """Launches the graph once; it goes on by itself."""
        call("cuGraphLaunch", self._executable, self._stream)

    def __del__(self) -> None:
        if self._executable:
            with suppress(InternalError):  # at the end of the process its context may be gone already
                call("cuGraphExecDestroy", self._executable)
