"""Arrays in main memory, and launches on the threads of the native library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.arguments import kind_of
from dmr.common.available import amount, require_memory
from dmr.common.cached import cached_property
from dmr.common.errors import OutOfMemoryError, WrongTypeError
from dmr.common.native import address_of
from dmr.common.threads import thread_count
from dmr.memory.arguments import DeviceCount, Number, bound_of
from dmr.memory.arrays import Device, DeviceArray
from dmr.memory.exchange import CPU, Place, location_of, on_host
from dmr.memory.host.compiler import library, timed_kernel
from dmr.memory.host.copying import copy
from dmr.memory.host.loops import HostLoop, Recording, place_of
from dmr.memory.signatures import Signature

ALIGNMENT = 64  # a cache line; records straddle no more cache lines than they must
HUGE_PAGE = 2**21
WORTH_HUGE_PAGES = 2**22  # bytes from which numpy asks for huge pages; aligned arrays consist of huge pages only
FILLED_AT_ONCE = 2**28  # bytes
SMALLEST_PIECE = 2000.0  # nanoseconds: less work is not worth waking a thread


MALLOC_ALIGNMENT = 16  # of glibc and others, on 64-bit machines
BYTE = np.dtype(np.uint8)


def _element(dtype: DTypeLike) -> np.dtype[Any]:
    """Returns a dtype; numpy takes longer to convert a type."""
    if isinstance(dtype, np.dtype):
        return dtype
    return _ELEMENTS.get(dtype) or np.dtype(dtype) if isinstance(dtype, type) else np.dtype(dtype)


_ELEMENTS: dict[object, np.dtype[Any]] = {each: np.dtype(each) for each in (
    np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64,
)}  # fmt: skip


class HostArray(DeviceArray):
    """A numpy array with the interface of a device array."""

    def __init__(self, device: Device, values: NDArray[Any], pointer: int | None = None) -> None:
        self.device = device
        self.values = values
        self.dtype = values.dtype
        self.size = values.size
        if pointer is not None:
            self.pointer = pointer

    @cached_property
    def pointer(self) -> int:
        return address_of(self.values)

    def __getitem__(self, part: slice) -> HostArray:
        start, stop = self._bounds(part)
        return HostArray(self.device, self.values[start:stop], self.pointer + start * self.dtype.itemsize)

    def view(self, dtype: DTypeLike) -> HostArray:
        return HostArray(self.device, self.values.view(dtype))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        face: dict[str, Any] = self.values.__array_interface__
        return face

    def _dlpack(
        self, stream: int | None, max_version: tuple[int, int] | None, dl_device: Place | None, copy: bool | None
    ) -> Any:
        options: dict[str, Any] = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return self.values.__dlpack__(**{name: value for name, value in options.items() if value is not None})

    def __dlpack_device__(self) -> Place:
        return CPU, 0

    def _upload(self, values: NDArray[Any]) -> None:
        copy(self.values, values, self.device.threads)

    def _download(self, target: NDArray[Any]) -> None:
        copy(target, self.values, self.device.threads)

    def content(self) -> NDArray[Any]:
        shown = self.values.view()
        shown.flags.writeable = False
        return shown

    def _detach(self) -> NDArray[Any]:
        return self.values

    def fill(self, value: int) -> None:
        whole = self.values.view(np.uint8)
        for begin in range(0, whole.size, FILLED_AT_ONCE):  # signals are handled between two parts
            whole[begin : begin + FILLED_AT_ONCE].fill(value)

    def copy_from(self, source: DeviceArray) -> None:
        assert isinstance(source, HostArray) and source.dtype == self.dtype
        copy(self.values[: source.size], source.values, self.device.threads)


class HostDevice(Device):
    """The CPU; each launch uses `threads` of its cores."""

    prelude = "portable/host.cuh"

    def __init__(self, threads: int | None = None) -> None:
        super().__init__()
        self._launch = library().host_launch
        self._launch_grid = library().host_launch_grid
        self.threads = thread_count(threads)
        self.name = "cpu"
        self.description = f"cpu ({self.threads} thread{'s' if self.threads != 1 else ''})"

    def share(self, array: Any) -> HostArray:
        if location_of(array) != (CPU, 0):
            raise WrongTypeError(f"{kind_of(array)} is not in main memory")
        values = on_host(array)
        if values.ndim != 1 or not values.flags.c_contiguous or not values.dtype.isnative:
            raise WrongTypeError(
                f"{kind_of(array)} must have one dimension, be contiguous, and have the machine's byte order"
            )
        return HostArray(self, values)

    def as_input(self, values: NDArray[Any]) -> DeviceArray:
        # Records are aligned to their size; the arrays of other libraries and of pickles may begin anywhere.
        assert values.ndim == 1 and values.flags.c_contiguous
        size, pointer = values.dtype.itemsize, address_of(values)
        in_place = pointer % min(size & -size, ALIGNMENT) == 0
        return HostArray(self, values, pointer) if in_place else self.array(values)

    def as_output(self, values: NDArray[Any]) -> DeviceArray:
        return self.share(values)

    def require_memory(self, needed: int, what: str) -> None:
        require_memory(needed, what)

    def release_memory(self) -> None:
        """Does nothing: the system has the memory of each array back when it is dropped."""

    def empty(self, size: int, dtype: DTypeLike) -> HostArray:
        return self._allocated(size, _element(dtype), np.empty)

    def zeros(self, size: int, dtype: DTypeLike) -> HostArray:
        """Implements `Device.zeros`; the pages of a large array are allocated when they are first written."""
        return self._allocated(size, _element(dtype), np.zeros)

    def array(self, values: NDArray[Any], dtype: DTypeLike | None = None) -> HostArray:
        flat = np.ascontiguousarray(values)
        element = flat.dtype if dtype is None else _element(dtype)
        made = self._allocated(flat.nbytes // element.itemsize, element, np.empty)
        self._of_thread.state.moved[element] += made.size
        copy(made.values, np.ndarray(made.size, element, flat), self.threads)  # `view` takes longer
        return made

    def _allocated(self, size: int, element: np.dtype[Any], make: Callable[..., NDArray[Any]]) -> HostArray:
        needed = size * element.itemsize
        if needed >= WORTH_HUGE_PAGES:
            return self._large(size, element, make)
        # numpy takes longer for other elements than bytes.
        aligned = 0 < element.itemsize <= MALLOC_ALIGNMENT
        raw = make(needed or 1 if aligned else needed + ALIGNMENT, BYTE)
        recording = self._of_thread.state.recording
        if recording is not None:
            recording.kept.append(raw)
        begin = address_of(raw)
        start = 0 if aligned else -begin % ALIGNMENT
        return HostArray(self, np.ndarray(size, element, raw, start), begin + start)

    def _large(self, size: int, element: np.dtype[Any], make: Callable[..., NDArray[Any]]) -> HostArray:
        """Allocates an array of huge pages."""
        needed = size * element.itemsize
        require_memory(needed, "an array")
        try:
            raw = make((needed // HUGE_PAGE + 2) * HUGE_PAGE, BYTE)
        except MemoryError:
            raise OutOfMemoryError(f"{amount(needed)} of memory could not be allocated") from None
        if self.calling.recording is not None:
            self.calling.recording.kept.append(raw)
        begin = address_of(raw)
        start = -begin % HUGE_PAGE
        return HostArray(self, np.ndarray(size, element, raw, start), begin + start)

    def loop(self, body: Callable[[], None], stop: DeviceArray) -> HostLoop:
        """Implements `Device.loop`; launches in `body` are recorded and do not run."""
        recording = Recording()
        with self._recorded(recording):
            body()
            self.launch("launch_again", 1, stop, None)
        return HostLoop(recording, stop.pointer, self.threads, SMALLEST_PIECE)

    def looked_up(self, number: Number) -> tuple[int, ...]:
        """Returns the number itself, since earlier launches have ended; its address while a loop is recorded."""
        if not isinstance(number, DeviceCount):
            return (number,)
        if self.calling.recording is not None:
            return (place_of(number),)
        assert isinstance(number.place, HostArray)
        return (int(number.place.values[0]),)

    def foreseen(self, number: Number) -> int:
        """Returns the number itself; its bound while a loop is recorded."""
        return bound_of(number) if self.calling.recording is not None else self.looked_up(number)[0]

    def _run(self, signature: Signature, count: Number, values: list[int | float]) -> None:
        recording: Recording | None = self._of_thread.state.recording
        if recording is not None:
            recording.add(signature, count, values)
            return
        if type(count) is not int:
            (count,) = self.looked_up(count)
            if count == 0:
                return
        launch = self._launch_grid if signature.grid else self._launch
        launch(timed_kernel(signature.name), count, signature.slots.pack(*values), self.threads, SMALLEST_PIECE)

    def _load(self, signature: Signature) -> None:
        """Does nothing: all kernels are in the library."""

    def synchronize(self) -> None:
        """Does nothing: launches on the CPU have ended when they return."""
