"""The face of the memory layer: what a device and an array on it can do, whichever backend stands behind."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        self.device.moved[self.dtype] += self.size
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
        self.device.moved[self.dtype] += self.size
        self._download(target)
        return out

    def detach(self) -> NDArray[Any]:
        """The content as a numpy array, for a device array that is used no more: not copied if possible."""
        self.device.moved[self.dtype] += self.size
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
        """Runs it to its end; asynchronous on a GPU. Where the number is not 0 before, one turn is the end."""


class Device(ABC):
    """A processor with memory of its own.

    Attributes:
        name: "cpu", "cuda:0", ...; description: for people; threads: CPU threads of a launch, 0 on a GPU.
        launches: how many kernels were launched so far, by name.
        launches_children: whether kernels can launch kernels there.
        multiprocessors, clock_rate: of a GPU, the latter in Hz; 0 on a CPU, where they say little.
        most_pieces: into how many pieces a list is cut at most; least_piece: how many entries they have at least
            (MOST_PIECES and LEAST_PIECE of cuda_src/portable.cuh).
        rehearsed: what was made ready there by a `rehearsal`, for those who need not do so twice.
        moved: how many elements of each dtype the host uploaded or downloaded so far.
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
        self._rehearsing = False
        self.rehearsed: set[object] = set()
        self.launches: dict[str, int] = {}
        self.moved: Counter[np.dtype[Any]] = Counter()

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
        if self._rehearsing:
            self._load(signature)
            return
        values = signature.values(arguments, self.looked_up)
        self.launches[kernel] = self.launches.get(kernel, 0) + 1
        self._run(signature, count, values)

    @abstractmethod
    def _run(self, signature: Signature, count: Number, values: list[int | float]) -> None: ...

    @abstractmethod
    def _load(self, signature: Signature) -> Any:
        """Makes a kernel ready to be launched."""

    def prepare(self, *names: str) -> None:  # noqa: B027
        """Makes the kernels of modules ready: on a GPU, compiles and loads what is not yet, several modules at a time.

        Kernels of other modules are made ready at their first launch, one module after the other.

        Args:
            names: `.cu` files relative to `cuda_src`, without the suffix: "scan", "graph/near_far", ...
        """

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Kernels that are launched meanwhile are made ready, and do not run: before the same is recorded (`loop`)."""
        self._rehearsing = True
        try:
            yield
        finally:
            self._rehearsing = False

    @abstractmethod
    def loop(self, body: Callable[[], None], stop: DeviceArray) -> Loop:
        """Records what `body` launches, to be repeated on the device.

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
