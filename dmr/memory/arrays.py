"""The interface of the memory layer: devices and arrays, independent of the backend."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.errors import InternalError
from dmr.memory.arguments import Argument, Number, bound_of
from dmr.memory.declarations import constant
from dmr.memory.exchange import Place
from dmr.memory.signatures import Signature, signatures


class Readable(Protocol):
    """An array that the host has not read yet: reading it releases the device's memory."""

    def read(self) -> NDArray[Any] | None:
        """Downloads the content, unless that was done before, and returns it."""


class DeviceArray(ABC):
    """A one-dimensional array in a device's memory; its elements may be records.

    Other libraries take it in place by DLPack (`torch.from_dlpack`, `cupy.from_dlpack`, `numpy.from_dlpack`); by
    `__cuda_array_interface__` if it is on a GPU, otherwise by `__array_interface__`.

    Attributes:
        device: where it lives; dtype: numpy dtype of an element; size: number of elements; pointer: its address there.
    """

    device: Device
    dtype: np.dtype[Any]
    size: int

    def __len__(self) -> int:
        return self.size

    @property
    @abstractmethod
    def pointer(self) -> int:
        """The address of the first element, in the device's memory."""

    @abstractmethod
    def __getitem__(self, part: slice) -> DeviceArray:
        """Returns a view of a contiguous part; it keeps the memory alive."""

    @abstractmethod
    def view(self, dtype: DTypeLike) -> DeviceArray:
        """Returns the same memory as elements of another dtype of the same size; it keeps the memory alive."""

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Place | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Returns a capsule of DLPack; the array is shared, not copied.

        Args:
            stream: of the consumer, as DLPack numbers streams; it waits for the work launched before.
            max_version: the latest version of DLPack that the consumer reads.
            dl_device: the device wanted; it must be that of the array.
            copy: whether the consumer wants a copy.

        Raises:
            BufferError: the protocol cannot express the array, or an option cannot be met.
        """
        return self._dlpack(stream, max_version, dl_device, copy)

    @abstractmethod
    def _dlpack(
        self, stream: int | None, max_version: tuple[int, int] | None, dl_device: Place | None, copy: bool | None
    ) -> Any:
        """Returns the capsule of `__dlpack__`."""

    @abstractmethod
    def __dlpack_device__(self) -> Place:
        """Returns where the array is, as DLPack numbers devices."""

    def upload(self, values: NDArray[Any]) -> None:
        """Copies `values` (same dtype and size, or a table whose rows are the records) into the array.

        Raises:
            ValueError: values of another size or dtype.
        """
        checked = self._checked(values)
        self.device.calling.moved[self.dtype] += self.size
        self._upload(checked)

    def download(self, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Returns the array as a numpy array; waits for the work launched before.

        Args:
            out: the target, contiguous (same dtype and size, or a table whose rows are the records); by default a new
                array.

        Returns:
            `out`, or the new array.

        Raises:
            ValueError: `out` has another size or dtype, is not contiguous, or cannot be written.
        """
        if out is None:
            self.device.calling.moved[self.dtype] += self.size
            return self._downloaded()
        target = self._target(out)
        self.device.calling.moved[self.dtype] += self.size
        self._download(target)
        return out

    def begin_download(self, out: NDArray[Any]) -> Callable[[], int]:
        """Begins to copy the array to `out`, after the work launched before; on a GPU, while later work runs.

        Args:
            out: bytes, contiguous, as many as the array has.

        Returns:
            A function that waits for more, and returns how many bytes have arrived, from the beginning on.

        Raises:
            ValueError: `out` has another size, is not contiguous, or cannot be written.
        """
        target = self._target(out.view(self.dtype))
        self.device.calling.moved[self.dtype] += self.size
        return self._begin_download(target)

    def download_later(self, out: NDArray[Any]) -> Callable[[], None]:
        """Prepares a copy of the array to `out`, as it is after the work launched before.

        Args:
            out: contiguous (same dtype and size).

        Returns:
            A function that makes the copy, on any thread that does not hold the device; on a GPU beside its other work.
            The array must not be used by work launched until then.

        Raises:
            ValueError: `out` has another size or dtype, is not contiguous, or cannot be written.
        """
        target = self._target(out)
        self.device.calling.moved[self.dtype] += self.size
        return self._download_later(target)

    def detach(self) -> NDArray[Any]:
        """Returns the content as a numpy array, without a copy if possible; the device array is no longer used."""
        self.device.calling.moved[self.dtype] += self.size
        return self._detach()

    def content(self) -> NDArray[Any]:
        """Returns the array to be read on the host: without a copy in main memory, otherwise downloaded."""
        return self.download()

    @abstractmethod
    def _upload(self, values: NDArray[Any]) -> None: ...

    @abstractmethod
    def _download(self, target: NDArray[Any]) -> None: ...

    def _begin_download(self, target: NDArray[Any]) -> Callable[[], int]:
        self._download(target)
        return lambda: target.nbytes

    def _download_later(self, target: NDArray[Any]) -> Callable[[], None]:
        return partial(self._download, target)

    def _downloaded(self) -> NDArray[Any]:
        """Returns the array in new memory."""
        result = np.empty(self.size, self.dtype)
        self._download(result)
        return result

    def _detach(self) -> NDArray[Any]:
        return self._downloaded()

    @abstractmethod
    def fill(self, value: int) -> None:
        """Sets every byte to `value` (0 to 255): 0 gives zeros, 255 gives -1."""

    @abstractmethod
    def copy_from(self, source: DeviceArray) -> None:
        """Copies the first `source.size` elements from another array of the same device and dtype."""

    def copied(self) -> DeviceArray:
        """Returns an array with the same content on the same device."""
        other = self.device.empty(self.size, self.dtype)
        other.copy_from(self)
        return other

    def grown(self, size: int, *, zeros: bool = True) -> DeviceArray:
        """Returns this array if it has room for `size` elements, otherwise a larger one with the same content.

        Capacity grows geometrically (by half), so that a long run of insertions copies each element a few times.
        New elements hold zeros, or if not `zeros`, anything.
        """
        if size <= self.size:
            return self
        capacity = max(size, self.size + self.size // 2)
        larger = self.device.zeros(capacity, self.dtype) if zeros else self.device.empty(capacity, self.dtype)
        larger.copy_from(self)
        return larger

    def _checked(self, values: NDArray[Any]) -> NDArray[Any]:
        array = np.ascontiguousarray(values)
        if array.dtype != self.dtype:
            if self.dtype.names is None:
                raise ValueError(f"values of {array.dtype} for a device array of {self.dtype}")
            array = array.view(self.dtype)
        if array.size != self.size:
            raise ValueError(f"{array.size} values for a device array of {self.size}")
        return array.reshape(-1)

    def _target(self, out: NDArray[Any]) -> NDArray[Any]:
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("the target of a download must be a contiguous array that can be written")
        return self._checked(out)

    def _bounds(self, part: slice) -> tuple[int, int]:
        start, stop, step = part.indices(self.size)
        if step != 1:
            raise ValueError("slices of device arrays must be contiguous")
        return start, max(start, stop)


class Loop(ABC):
    """A sequence of launches, repeated until a number that its kernels write is not 0."""

    @abstractmethod
    def run(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Runs the sequence until the number is not 0, at least once, and waits for the end.

        Signals are handled about every 50 ms meanwhile: Ctrl-C ends the loop with a KeyboardInterrupt.

        Args:
            meanwhile: called once; while the device works, if that is not the CPU.
        """


class ThreadState:
    """The state of one Python thread on a device.

    Attributes:
        launches: number of kernels launched by the thread, by name; moved: number of elements that it uploaded or
            downloaded, by dtype.
        rehearsing: whether its launches only load the kernels (`Device.rehearsal`).
        recording: the record of the thread's launches, which are not run (`Device.loop`); None otherwise.
    """

    __slots__ = ("launches", "moved", "recording", "rehearsing")

    def __init__(self) -> None:
        self.launches: dict[str, int] = {}
        self.moved: Counter[np.dtype[Any]] = Counter()
        self.rehearsing = False
        self.recording: Any = None


class _OfThread(threading.local):
    """A `ThreadState` per thread; its attributes are faster to access than those of a `threading.local`."""

    def __init__(self) -> None:
        self.state = ThreadState()


class Device(ABC):
    """A processor and its memory. Any number of Python threads may use it at the same time.

    A single operation (`array`, `launch`, `download`, ...) needs no lock. A sequence of operations holds the device for
    its duration:

        with device.lock, device.current:
            ...

    On a GPU, sequences wait for each other at `lock`; `current` makes the GPU's context current on the calling thread,
    and restores the previous one at the end. On a CPU both do nothing: sequences run concurrently.

    Attributes:
        name: "cpu", "cuda:0", ...; description: for people; threads: CPU threads per launch, 0 on a GPU.
        calling: the state of the calling thread, which other threads do not see.
        lock, current: the blocks that a call enters (see above).
        launches_children: whether kernels can launch kernels there.
        multiprocessors, clock_rate, cache_size: of a GPU: their number, in Hz, and the bytes of its L2 cache; 0 on a
            CPU, for which they say little.
        prelude: the file of `cuda_src` with the constants of its kernels.
        most_pieces: the most pieces that a list is divided into; least_piece: the fewest entries per piece.
        rehearsed: names of what a `rehearsal` has loaded there, to avoid a second one.
        deferred: arrays there that the host has not read yet (dmr/memory/deferred.py).
    """

    name: str
    description: str
    threads: int
    launches_children = False
    multiprocessors = 0
    clock_rate = 0.0
    cache_size = 0
    prelude: str

    def __init__(self) -> None:
        self.most_pieces = constant("MOST_PIECES", self.prelude)
        self.least_piece = constant("LEAST_PIECE", self.prelude)
        self._of_thread = _OfThread()
        self.rehearsed: set[object] = set()
        self.deferred: WeakSet[Readable] = WeakSet()

    @property
    def calling(self) -> ThreadState:
        """The state of the calling thread."""
        return self._of_thread.state

    @property
    def launches(self) -> dict[str, int]:
        """Numbers of kernels that the calling thread has launched, by name."""
        return self.calling.launches

    @property
    def moved(self) -> Counter[np.dtype[Any]]:
        """Numbers of elements that the calling thread has uploaded or downloaded, by dtype."""
        return self.calling.moved

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The block that a call enters while it uses the device."""
        return nullcontext()

    @property
    def current(self) -> AbstractContextManager[Any]:
        """The block, inside that of `lock`, in which the device's context is current on the calling thread."""
        return nullcontext()

    def set_aside(self) -> AbstractContextManager[Any]:
        """Releases the device during a user's callback, which may use it, or wait for a thread that does.

        Arrays on the device are unchanged.
        """
        return nullcontext()

    @abstractmethod
    def share(self, array: Any) -> DeviceArray:
        """Returns another library's array as one of this device, without a copy; it stays alive as long.

        Args:
            array: on this device, one-dimensional and contiguous. On a GPU, it has `__dlpack__` or
                `__cuda_array_interface__`, and later work of the device waits for what its owner has launched; in main
                memory it may also be anything that numpy converts.

        Raises:
            WrongTypeError: it is on another device, is not an array, or has another layout.
        """

    def as_input(self, values: NDArray[Any]) -> DeviceArray:
        """Returns values for kernels that only read them: on a CPU in place, if they are aligned.

        Args:
            values: one-dimensional and contiguous.
        """
        return self.array(values)

    def as_output(self, values: NDArray[Any]) -> DeviceArray:
        """Returns an array for kernels that only write it, to be downloaded to `values`: on a CPU `values` itself.

        Args:
            values: one-dimensional and contiguous.
        """
        return self.empty(values.size, values.dtype)

    @abstractmethod
    def require_memory(self, needed: int, what: str) -> None:
        """Refuses work that needs more memory of the device than is free, before it begins.

        Args:
            needed: bytes, over all arrays that exist at the same time.
            what: the work, as the subject of the message: "a matrix of 1,000,000 nodes".

        Raises:
            OutOfMemoryError: there is less memory; gives the bytes needed and the bytes free.
        """

    @abstractmethod
    def release_memory(self) -> None:
        """Returns memory that no array uses, and that is kept for later ones, to the system."""

    def trim_memory(self) -> None:
        """Returns that part of this memory to the system which no array has used since the last call."""
        self.release_memory()

    @abstractmethod
    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Allocates an array of undefined content.

        Raises:
            OutOfMemoryError: it does not fit; nothing was changed.
        """

    def zeros(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """Allocates an array of zeros."""
        array = self.empty(size, dtype)
        array.fill(0)
        return array

    def array(self, values: NDArray[Any], dtype: DTypeLike | None = None) -> DeviceArray:
        """Allocates an array with the content of `values`; rows of a table become records of `dtype`."""
        flat = np.ascontiguousarray(values)
        element = np.dtype(dtype) if dtype is not None else flat.dtype
        device_array = self.empty(flat.nbytes // element.itemsize, element)
        device_array.upload(flat.reshape(-1).view(element))
        return device_array

    def launch(self, kernel: str, count: Number, *arguments: Argument) -> None:
        """Runs `kernel` over the indices 0 to count - 1; asynchronous on a GPU.

        `count`, and arguments for parameters of the type Count, can be numbers that only the device knows, and reads
        when the kernel runs.

        Raises:
            InternalError: unknown kernel, or an argument that does not match its declaration.
        """
        if (count if type(count) is int else bound_of(count)) <= 0:
            return
        signature = signatures().get(kernel)
        if signature is None:
            raise InternalError(f"there is no kernel {kernel}")
        calling = self._of_thread.state
        if calling.rehearsing:
            self._load(signature)
            return
        values = signature.values(arguments, self.looked_up)
        calling.launches[kernel] = calling.launches.get(kernel, 0) + 1
        self._run(signature, count, values)

    @abstractmethod
    def _run(self, signature: Signature, count: Number, values: list[int | float]) -> None: ...

    @abstractmethod
    def _load(self, signature: Signature) -> Any:
        """Loads a kernel so that it can be launched."""

    def prepare(self, *names: str) -> None:  # noqa: B027
        """Loads the kernels of modules: on a GPU, compiles (several at a time) and loads missing modules.

        Kernels of other modules are loaded at their first launch, one module after another.

        Args:
            names: `.cu` files relative to `cuda_src`, without the suffix: "scan", "graph/near_far", ...
        """

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Loads the kernels that the calling thread launches inside the block, instead of running them.

        Sequences are rehearsed before they are recorded (`loop`).
        """
        calling = self.calling
        calling.rehearsing = True
        try:
            yield
        finally:
            calling.rehearsing = False

    @contextmanager
    def _recorded(self, recording: Any) -> Iterator[None]:
        """Records the calling thread's launches inside the block; they do not count as launched."""
        calling = self.calling
        launched, calling.recording = dict(calling.launches), recording
        try:
            yield
        finally:
            calling.launches, calling.recording = launched, None

    @abstractmethod
    def loop(self, body: Callable[[], None], stop: DeviceArray) -> Loop:
        """Records the launches that `body` makes on the calling thread, to repeat them on the device.

        Args:
            body: launches kernels with numbers that are on the device, and does nothing else: no transfer, no wait. All
                of its kernels were rehearsed before.
            stop: (1,) int32; the kernels of `body` set it to end the loop after the current iteration.
        """

    @abstractmethod
    def looked_up(self, number: Number) -> tuple[int, ...]:
        """Returns the value, or values, that a Count parameter of a kernel takes on this device."""

    def allow_children(self, wanted: int) -> int:
        """Requests a limit of `wanted` pending kernels launched by kernels; returns the limit in effect.

        A launch beyond it could stall the device: callers of kernels that launch kernels must keep within the limit.
        """
        return wanted

    @abstractmethod
    def synchronize(self) -> None:
        """Waits for all launched work.

        Raises:
            InternalError: a kernel faulted.
        """

    @abstractmethod
    def foreseen(self, number: Number) -> int:
        """Returns an upper bound of a number at the time when a kernel launched now reads it, without waiting."""

    def pieces(self, count: Number) -> int:
        """Number of teams for a kernel that processes `count` entries by pieces; at least the number of pieces."""
        return min(self.most_pieces, self.tiles(self.foreseen(count), self.least_piece))

    def tiles(self, count: int, tile: int) -> int:
        """Number of tiles of `tile` indices that cover `count`."""
        return math.ceil(count / tile)
