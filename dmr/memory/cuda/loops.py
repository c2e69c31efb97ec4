"""CUDA graphs that launch themselves: a recorded sequence of kernels that is repeated without the host."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dmr.common.errors import InternalError
from dmr.memory.arrays import DeviceArray, Loop
from dmr.memory.cuda.drivercalls import call
from dmr.memory.cuda.waiting import wait_for_stream

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: memory may be allocated during capture
DEVICE_LAUNCH = 4  # CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH


class Graphs:
    """The executable graphs of one device that are no longer referenced, until they can be destroyed."""

    def __init__(self) -> None:
        self.dropped: deque[int] = deque()  # handles; append is atomic, on any thread

    def destroy(self, stream: Any) -> None:
        """Destroys them after all work on the stream; the device's context must be current."""
        if not self.dropped:
            return
        with suppress(InternalError):  # a kernel has failed, and the call that waited for it has already raised
            wait_for_stream(stream.handle)
            while self.dropped:
                call("cuGraphExecDestroy", ctypes.c_void_p(self.dropped.popleft()))


class GraphLoop(Loop):
    """A graph of the launches that `body` makes on a stream; the last of them relaunches the graph (tail launch).

    That kernel, `launch_again`, stops after a slice of time. The host then handles signals and launches it again.

    Attributes:
        kept: objects that must live as long as the graph: arrays allocated while it was recorded.
    """

    def __init__(
        self,
        stream: Any,
        body: Callable[[], None],
        stop: DeviceArray,
        slice_begun: DeviceArray,
        kept: list[Any],
        graphs: Graphs,
    ) -> None:
        """Records the graph.

        Args:
            stream: the stream to record and run it on.
            body: launches the kernels, `launch_again` last.
            stop: (1,) int32 that ends the loop; slice_begun: (1,) int64, the time when a slice began, 0 before it.
            kept: as above; `body` adds to it.
            graphs: takes the graph when it is dropped.
        """
        self._stream, self._stop, self._slice_begun = ctypes.c_void_p(stream.handle), stop, slice_begun
        self.kept = kept
        self._dropped = graphs.dropped
        self._executable = ctypes.c_void_p()
        graph = ctypes.c_void_p()
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

    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Implements `Loop.run`: launches the graph once per slice of time."""
        stopped = False
        while not stopped:
            self._slice_begun.fill(0)
            call("cuGraphLaunch", self._executable, self._stream)
            if meanwhile is not None:
                meanwhile()
                meanwhile = None
            stopped = bool(self._stop.download()[0])

    def __del__(self) -> None:
        if self._executable:
            self._dropped.append(self._executable.value or 0)
