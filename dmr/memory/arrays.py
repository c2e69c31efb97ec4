"""The face of the memory layer: what a device and an array on it can do, whichever backend stands behind."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.errors import InternalError
from dmr.memory.signatures import Argument, Signature, signatures

TEAM_SIZE = 256  # TEAM_SIZE of cuda_src/portable.cuh


class DeviceArray(ABC):
    """A one-dimensional array in a device's memory; its elements may be records.

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
        """A view of a contiguous part; it keeps the memory alive."""

    def upload(self, values: NDArray[Any]) -> None:
        """Copies `values` (same dtype and size, or a table whose rows are the records) into the array.

        Raises:
            ValueError: values of another size or dtype.
        """
        checked = self._checked(values)
        self.device.calling.moved[self.dtype] += self.size
        self._upload(checked)

    def download(self, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The array as a numpy array; waits for the work that was launched before.

        Args:
            out: where the elements go, contiguous (same dtype and size, or a table whose rows are the records); by
                default a new array.

        Returns:
            `out`, or the new array.

        Raises:
            ValueError: `out` has another size or dtype, is not contiguous, or cannot be written.
        """
        if out is None:
            out = np.empty(self.size, self.dtype)
        elif not (out.flags.c_contiguous and out.flags.writeable):
            raise ValueError("a download goes to a contiguous array that can be written")
        target = self._checked(out)
        self.device.calling.moved[self.dtype] += self.size
        self._download(target)
        return out

    def detach(self) -> NDArray[Any]:
        """The content as a numpy array, for a device array that is used no more: not copied if possible."""
        self.device.calling.moved[self.dtype] += self.size
        return self._detach()

    @abstractmethod
    def _upload(self, values: NDArray[Any]) -> None: ...

    @abstractmethod
    def _download(self, target: NDArray[Any]) -> None: ...

    def _detach(self) -> NDArray[Any]:
        result = np.empty(self.size, self.dtype)
        self._download(result)
        return result

    @abstractmethod
    def fill(self, value: int) -> None:
        """Sets every byte to `value` (0 to 255): 0 for zero, 255 for -1."""

    @abstractmethod
    def copy_from(self, source: DeviceArray) -> None:
        """Copies the first `source.size` elements from another array of the same device and dtype."""

    def grown(self, size: int) -> DeviceArray:
        """This array if it has room for `size` elements, else a larger one with the same content.

        Capacity grows geometrically (by half), so that a long run of insertions copies each element a few times.
        New elements hold zeros.
        """
        if size <= self.size:
            return self
        larger = self.device.zeros(max(size, self.size + self.size // 2), self.dtype)
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

    def _bounds(self, part: slice) -> tuple[int, int]:
        start, stop, step = part.indices(self.size)
        if step != 1:
            raise ValueError("device arrays are cut into contiguous parts only")
        return start, max(start, stop)


@dataclass(frozen=True)
class DeviceCount:
    """A number that kernels leave in a device's memory, and that kernels launched later can be told to go by.

    Attributes:
        place: (1,) int32; bound: what the number never exceeds, as far as the host knows.
    """

    place: DeviceArray
    bound: int

    def read(self) -> int:
        """The number; waits for the work that was launched before."""
        return int(self.place.download()[0])


Number = int | DeviceCount


def bound_of(number: Number) -> int:
    """What a number never exceeds."""
    return number.bound if isinstance(number, DeviceCount) else number


class Loop(ABC):
    """A sequence of launches that is repeated until a number that its kernels write is not 0."""

    @abstractmethod
    def run(self) -> None:
        """Runs the sequence until the number is not 0, at least once, and waits for the end.

        Signals are handled about every 50 ms meanwhile: Ctrl-C ends the loop with a KeyboardInterrupt.
        """


class ThreadState:
    """The state of one Python thread on a device.

    Attributes:
        launches: how many kernels the thread launched, by name; moved: how many elements of each dtype it uploaded or
            downloaded.
        rehearsing: whether its launches only make kernels ready (`Device.rehearsal`).
        recording: where the thread's launches are recorded instead of run (`Device.loop`); None otherwise.
    """

    __slots__ = ("launches", "moved", "recording", "rehearsing")

    def __init__(self) -> None:
        self.launches: dict[str, int] = {}
        self.moved: Counter[np.dtype[Any]] = Counter()
        self.rehearsing = False
        self.recording: Any = None


class _OfThread(threading.local):
    """A `ThreadState` for each thread; its attributes are found faster than those of a `threading.local`."""

    def __init__(self) -> None:
        self.state = ThreadState()


class Device(ABC):
    """A processor and its memory. Any number of Python threads may use it at the same time.

    A single operation (`array`, `launch`, `download`, ...) needs no lock. A sequence of operations takes the device for
    as long as it lasts:

        with device.lock, device.current:
            ...

    On a GPU, sequences wait for each other at `lock`; `current` makes the GPU's context current on the calling thread,
    and restores the previous one at the end. On a CPU neither does anything: sequences run side by side.

    Attributes:
        name: "cpu", "cuda:0", ...; description: for people; threads: CPU threads of a launch, 0 on a GPU.
        calling: the state of the calling thread, which other threads do not see.
        lock, current: what a call holds (see above).
        launches_children: whether kernels can launch kernels there.
        multiprocessors, clock_rate: of a GPU, the latter in Hz; 0 on a CPU, where they say little.
        most_pieces: into how many pieces a list is cut at most; least_piece: how many entries they have at least
            (MOST_PIECES and LEAST_PIECE of cuda_src/portable.cuh).
        rehearsed: what was made ready there by a `rehearsal`, for those who need not do so twice.
    """

    name: str
    description: str
    threads: int
    launches_children = False
    multiprocessors = 0
    clock_rate = 0.0
    most_pieces: int
    least_piece: int

    def __init__(self) -> None:
        self._of_thread = _OfThread()
        self.rehearsed: set[object] = set()

    @property
    def calling(self) -> ThreadState:
        """The state of the calling thread."""
        return self._of_thread.state

    @property
    def launches(self) -> dict[str, int]:
        """The kernels that the calling thread has launched, by name: their numbers."""
        return self.calling.launches

    @property
    def moved(self) -> Counter[np.dtype[Any]]:
        """The elements that the calling thread has uploaded or downloaded, by dtype: their numbers."""
        return self.calling.moved

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The block that a call holds while it uses the device."""
        return nullcontext()

    @property
    def current(self) -> AbstractContextManager[Any]:
        """The block, inside that of `lock`, in which the device's context is current on the calling thread."""
        return nullcontext()

    def set_aside(self) -> AbstractContextManager[Any]:
        """Releases the device for a user's callback, which may use it, or wait for a thread that does.

        Arrays on the device stay as they are.
        """
        return nullcontext()

    @abstractmethod
    def empty(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """A new array of undefined content.

        Raises:
            OutOfMemoryError: it does not fit; nothing was changed.
        """

    def zeros(self, size: int, dtype: DTypeLike) -> DeviceArray:
        """A new array of zeros."""
        array = self.empty(size, dtype)
        array.fill(0)
        return array

    def array(self, values: NDArray[Any], dtype: DTypeLike | None = None) -> DeviceArray:
        """A new array with the content of `values`; rows of a table become records of `dtype`."""
        flat = np.ascontiguousarray(values)
        element = np.dtype(dtype) if dtype is not None else flat.dtype
        device_array = self.empty(flat.nbytes // element.itemsize, element)
        device_array.upload(flat.reshape(-1).view(element))
        return device_array

    def launch(self, kernel: str, count: Number, *arguments: Argument) -> None:
        """Runs `kernel` over the indices 0 to count - 1; asynchronous on a GPU.

        `count`, and arguments for parameters of the type Count, can be numbers that only the device knows, when it gets
        there.

        Raises:
            InternalError: no such kernel, or an argument that does not fit its declaration.
        """
        if bound_of(count) <= 0:
            return
        signature = signatures().get(kernel)
        if signature is None:
            raise InternalError(f"there is no kernel {kernel}")
        calling = self.calling
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
        """Makes a kernel ready to be launched."""

    def prepare(self, *names: str) -> None:  # noqa: B027
        """Makes the kernels of modules ready: on a GPU, compiles (several at a time) and loads missing modules.

        Kernels of other modules are made ready at their first launch, one module after the other.

        Args:
            names: `.cu` files relative to `cuda_src`, without the suffix: "scan", "graph/near_far", ...
        """

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Makes ready the kernels that the calling thread launches meanwhile, instead of running them.

        A sequence is rehearsed before it is recorded (`loop`).
        """
        calling = self.calling
        calling.rehearsing = True
        try:
            yield
        finally:
            calling.rehearsing = False

    @contextmanager
    def _recorded(self, recording: Any) -> Iterator[None]:
        """Records the calling thread's launches meanwhile; they do not count as launched."""
        calling = self.calling
        launched, calling.recording = dict(calling.launches), recording
        try:
            yield
        finally:
            calling.launches, calling.recording = launched, None

    @abstractmethod
    def loop(self, body: Callable[[], None], stop: DeviceArray) -> Loop:
        """Records what `body` launches on the calling thread, to be repeated on the device.

        Args:
            body: launches kernels by numbers that the device has, and does nothing else: no transfer, no waiting. All
                of it was rehearsed before.
            stop: (1,) int32; the kernels of `body` set it when there is to be no further turn.
        """

    @abstractmethod
    def looked_up(self, number: Number) -> tuple[int, ...]:
        """The value, or values, that a Count parameter of a kernel takes on this device."""

    def allow_children(self, wanted: int) -> int:
        """Asks that so many kernels launched by kernels may wait to be run at a time; returns how many may.

        One more could stall the device: whoever launches a kernel that launches kernels keeps within the bound.
        """
        return wanted

    @abstractmethod
    def synchronize(self) -> None:
        """Waits for everything that was launched.

        Raises:
            InternalError: a kernel faulted.
        """

    @abstractmethod
    def foreseen(self, number: Number) -> int:
        """The most that a number can be when a kernel launched now gets it, as far as can be said without waiting."""

    def pieces(self, count: Number) -> int:
        """Teams for a kernel that goes through a list of `count` entries by pieces; no less than there are pieces."""
        return min(self.most_pieces, self.tiles(self.foreseen(count), self.least_piece))

    def tiles(self, count: int, tile: int) -> int:
        """How many tiles of `tile` indices cover `count`."""
        return math.ceil(count / tile)
