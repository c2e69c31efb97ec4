"""Transfers between a GPU and numpy arrays, through page-locked buffers.

The GPU accesses only page-locked memory. The driver would copy a numpy array to and from it on one core, at a tenth of
the bus bandwidth; here all cores copy one buffer while the other one is transferred.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pycuda.driver as driver
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.threads import available_threads
from dmr.memory.cuda.waiting import Event, wait_for_stream
from dmr.memory.host.copying import copy, touch

Bytes = NDArray[np.uint8]

SMALL_BYTES = 4096  # for counters and similar data: one buffer, one copy
BUFFER_BYTES = 16 * 2**20  # a huge page for each of eight threads
TOUCHED_BYTES = 4 * BUFFER_BYTES  # pages of a target that are made ready at once: two for each of 16 threads
MOST_THREADS = 16  # more do not copy faster
# Beside other work, whose threads would wait for cores, and which the transfers do not delay as long as they keep pace.
THREADS_BESIDE = 8
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: this stream and the default stream do not wait for each other


class Part(NamedTuple):
    """A part of a transfer: its byte range, the buffer that it uses, and an event that it has arrived."""

    start: int
    stop: int
    buffer: Bytes
    arrived: Event

    @property
    def staged(self) -> Bytes:
        """The bytes of the buffer that the part uses."""
        return self.buffer[: self.stop - self.start]


class Staging:
    """The page-locked buffers of one device, and the transfers through them on its stream.

    Callers hold the device's lock, or another one for these buffers, with its context current.

    Attributes:
        stream: on which the transfers are made.
    """

    def __init__(
        self, stream: Any, guarded: Callable[[Callable[[], Any]], Any], most_threads: int = MOST_THREADS
    ) -> None:
        """Takes the stream, and a function that runs a driver call that may report an earlier kernel's failure.

        At most `most_threads` copy to and from the buffers.
        """
        self.stream = stream
        self._guarded = guarded
        self._threads = min(available_threads(), most_threads)
        self._received: Bytes = driver.pagelocked_empty(SMALL_BYTES, np.uint8)
        self._sending: Bytes = driver.pagelocked_empty(SMALL_BYTES, np.uint8)
        self._sent = Event()
        self._arrival: Arrival | None = None  # the one that uses the buffers

    @cached_property
    def _buffers(self) -> list[tuple[Bytes, Event]]:
        """Two buffers, with an event each; allocated at the first transfer, because locking pages is slow."""
        return [(driver.pagelocked_empty(BUFFER_BYTES, np.uint8), Event()) for _ in range(2)]

    def _parts(self, nbytes: int) -> Iterator[Part]:
        """Yields the parts of a transfer in turn, each when its buffer is free."""
        self.finish_arrival()
        for turn, start in enumerate(range(0, nbytes, BUFFER_BYTES)):
            buffer, arrived = self._buffers[turn % 2]
            self._guarded(arrived.wait)
            yield Part(start, min(start + BUFFER_BYTES, nbytes), buffer, arrived)

    def upload(self, source: Bytes, pointer: int) -> None:
        """Copies bytes to the device's memory; returns when the source is no longer needed.

        Args:
            source: the bytes; pointer: the target address.

        Raises:
            InternalError: a kernel launched before has failed.
        """
        if 0 < source.nbytes <= SMALL_BYTES:
            self._guarded(self._sent.wait)
            small = self._sending[: source.nbytes]
            small[:] = source
            self._guarded(partial(driver.memcpy_htod_async, pointer, small, self.stream))
            self._sent.record(self.stream.handle)
            return
        for part in self._parts(source.nbytes):
            copy(part.staged, source[part.start : part.stop], self._threads)
            self._guarded(partial(driver.memcpy_htod_async, pointer + part.start, part.staged, self.stream))
            part.arrived.record(self.stream.handle)

    def download(self, pointer: int, target: Bytes) -> None:
        """Copies bytes from the device's memory, after the work launched before.

        Args:
            pointer: the source address.
            target: receives the bytes; it is filled.

        Raises:
            InternalError: a kernel launched before has failed.
        """
        if 0 < target.nbytes <= SMALL_BYTES:
            small = self._received[: target.nbytes]
            self._guarded(partial(driver.memcpy_dtoh_async, small, pointer, self.stream))
            self._guarded(partial(wait_for_stream, self.stream.handle))
            target[:] = small
            return
        travelling: Part | None = None
        for part in self._parts(target.nbytes):
            self.send(part, pointer, self.stream)
            if part.start % TOUCHED_BYTES == 0:
                touch(target[part.start : part.start + TOUCHED_BYTES], self._threads)
            if travelling is not None:
                self.take(travelling, target)
            travelling = part
        if travelling is not None:
            self.take(travelling, target)

    def download_directly(self, pointer: int, target: Bytes) -> None:
        """Copies bytes as `download` does, to page-locked memory."""
        self._guarded(partial(driver.memcpy_dtoh_async, target, pointer, self.stream))
        self._guarded(partial(wait_for_stream, self.stream.handle))

    def begin(self, pointer: int, target: Bytes, source: object) -> Arrival:
        """Begins a download after the work launched before; later work does not wait for it.

        Another transfer of more than `SMALL_BYTES` completes it first.

        Args:
            pointer, target: as for `download`; source: the owner of the device's memory, which lasts until the end.
        """
        ready = Event()
        ready.record(self.stream.handle)
        ready.hold(self._copies.handle)
        self._arrival = Arrival(self, self._copies, self._parts(target.nbytes), pointer, target, source)
        return self._arrival

    def finish_arrival(self) -> None:
        """Completes the download that `begin` has begun, if it has not ended."""
        arrival, self._arrival = self._arrival, None
        if arrival is not None:
            arrival.finish()

    @cached_property
    def _copies(self) -> Any:
        """The stream of downloads beside other work."""
        return driver.Stream(NON_BLOCKING)

    def take(self, part: Part, target: Bytes) -> None:
        """Waits for a part, and copies it to its place in the target."""
        self._guarded(part.arrived.wait)
        copy(target[part.start : part.stop], part.staged, self._threads)

    def send(self, part: Part, pointer: int, stream: Any) -> None:
        """Starts the copy of a part from the device's memory."""
        self._guarded(partial(driver.memcpy_dtoh_async, part.staged, pointer + part.start, stream))
        part.arrived.record(stream.handle)


class Arrival:
    """A download whose parts are taken one by one, while the next ones travel."""

    def __init__(
        self, staging: Staging, stream: Any, parts: Iterator[Part], pointer: int, target: Bytes, source: object
    ) -> None:
        self._staging, self._stream, self._parts = staging, stream, parts
        self._pointer, self._target, self._source = pointer, target, source
        self._travelling: deque[Part] = deque()
        self._arrived = 0
        self._send()
        self._send()

    def advance(self) -> int:
        """Waits for one more part, if any is missing; returns the number of bytes that have arrived."""
        if self._travelling:
            part = self._travelling[0]
            self._staging.take(part, self._target)
            self._travelling.popleft()
            self._send()
            self._arrived = part.stop
        return self._arrived

    def finish(self) -> None:
        """Waits for all parts."""
        while self._travelling:
            self.advance()

    def _send(self) -> None:
        part = next(self._parts, None)
        if part is not None:
            self._staging.send(part, self._pointer, self._stream)
            self._travelling.append(part)
