"""Arrays in a GPU's memory, and launches on one stream of its primary context."""

from __future__ import annotations

import atexit
import ctypes
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pycuda.driver as driver
from numpy.typing import DTypeLike, NDArray

from dmr.common.arguments import kind_of
from dmr.common.available import amount
from dmr.common.errors import InternalError, OutOfMemoryError, WrongTypeError
from dmr.common.pooling import ForkSafeLock
from dmr.memory.arguments import DeviceCount, Number, bound_of
from dmr.memory.arrays import Device, DeviceArray
from dmr.memory.cuda.compiler import cubin, cubins, module, modules
from dmr.memory.cuda.context import PrimaryContext, in_context
from dmr.memory.cuda.cooperative import CooperativeKernel
from dmr.memory.cuda.copying import NON_BLOCKING, THREADS_BESIDE, Arrival, Staging
from dmr.memory.cuda.drivercalls import call
from dmr.memory.cuda.loops import GraphLoop, Graphs
from dmr.memory.cuda.page_locked import PageLockedPool
from dmr.memory.cuda.pool import Block, MemoryPool
from dmr.memory.cuda.waiting import Event, wait_for_stream
from dmr.memory.declarations import constant
from dmr.memory.deferred import read_all
from dmr.memory.exchange import CUDA, LEGACY_STREAM, NO_STREAM, Borrowed, Place, borrowed, capsule, location_of
from dmr.memory.signatures import Signature, signatures

log = logging.getLogger("dmr.memory")

MOST_BLOCKS = 2**20  # beyond this the threads stride
LANES = 32  # threads per warp
BLOCKS_TO_SPREAD_OVER = 8  # blocks per multiprocessor for an unknown number of indices
BLOCKS_IN_FLIGHT = 16  # blocks of BLOCK_SIZE threads that are resident on a multiprocessor
DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


class CudaArray(DeviceArray):
    """A part of a pooled block, or of another library's memory."""

    def __init__(
        self, device: CudaDevice, block: Block | Borrowed | None, offset: int, size: int, dtype: np.dtype[Any]
    ) -> None:
        self.device = device
        self.dtype = dtype
        self.size = size
        self._cuda = device
        self.context = device.context
        self._block = block
        self._offset = offset
        self._pointer = block.pointer + offset if block is not None else 0  # read at every launch

    @property
    def pointer(self) -> int:
        return self._pointer

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.size * self.dtype.itemsize

    def view(self, dtype: DTypeLike) -> CudaArray:
        element = np.dtype(dtype)
        return CudaArray(self._cuda, self._block, self._offset, self.nbytes // element.itemsize, element)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._block is not None:
            self._block.lend()
        return {
            "shape": (self.size,),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "data": (self.pointer, False),
            "strides": None,
            "stream": self._cuda.stream.handle or 1,
            "version": 3,
        }

    def __dlpack_device__(self) -> Place:
        return CUDA, self._cuda.number

    @in_context
    def _dlpack(
        self, stream: int | None, max_version: tuple[int, int] | None, dl_device: Place | None, copy: bool | None
    ) -> Any:
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self._cuda.name}: download it first")
        if stream == 0:
            raise BufferError("stream 0 is ambiguous: pass 1 or 2, the two default streams")
        shared = self
        if copy:
            shared = self._cuda.empty(self.size, self.dtype)
            shared.copy_from(self)
        if shared._block is not None:
            shared._block.lend()
        if stream != NO_STREAM:
            self._cuda.finished.record(self._cuda.stream.handle)
            self._cuda.finished.hold(LEGACY_STREAM if stream is None else stream)
        return capsule(shared.pointer, shared.size, shared.dtype, self.__dlpack_device__(), shared)

    def __getitem__(self, part: slice) -> CudaArray:
        start, stop = self._bounds(part)
        offset = self._offset + start * self.dtype.itemsize
        return CudaArray(self._cuda, self._block, offset, stop - start, self.dtype)

    @in_context
    def _upload(self, values: NDArray[Any]) -> None:
        self._cuda.staging.upload(values.view(np.uint8), self.pointer)

    @in_context
    def _download(self, target: NDArray[Any]) -> None:
        self._cuda.staging.download(self.pointer, target.view(np.uint8))

    @in_context
    def _begin_download(self, target: NDArray[Any]) -> Callable[[], int]:
        arrival = self._cuda.staging.begin(self.pointer, target.view(np.uint8), self)
        return partial(self._advance, arrival)

    @in_context
    def _download_later(self, target: NDArray[Any]) -> Callable[[], None]:
        self._cuda.guarded(partial(wait_for_stream, self._cuda.stream.handle))
        return partial(self._download_beside, target)

    def _download_beside(self, target: NDArray[Any]) -> None:
        cuda = self._cuda
        with cuda.one_beside, cuda.context.beside():
            cuda.staging_beside.download(self.pointer, target.view(np.uint8))

    @in_context
    def _advance(self, arrival: Arrival) -> int:
        return arrival.advance()

    @in_context
    def _downloaded(self) -> NDArray[Any]:
        locked = self._cuda.page_locked.array(self.nbytes)
        if locked is None:
            return super()._downloaded()
        self._cuda.staging.download_directly(self.pointer, locked)
        return locked.view(self.dtype)

    @in_context
    def fill(self, value: int) -> None:
        if self.nbytes:
            driver.memset_d8_async(self.pointer, value, self.nbytes, self._cuda.stream)

    @in_context
    def copy_from(self, source: DeviceArray) -> None:
        assert isinstance(source, CudaArray) and source.dtype == self.dtype
        if source.nbytes:
            driver.memcpy_dtod_async(self.pointer, source.pointer, source.nbytes, self._cuda.stream)


class CudaDevice(Device):
    """One GPU. Its primary context is shared with every other library of the process.

    There is one object per GPU, which lasts as long as the process: otherwise PyCUDA would destroy its streams and
    modules at exit, when their context may no longer exist.

    Attributes:
        number: of the GPU; total_memory: bytes.
        context: the primary context; stream: orders all work.
        staging: transfers; page_locked: memory for downloads.
        staging_beside: transfers beside the thread that holds the device, on a stream of their own; one_beside: held
            by the thread that uses it.
        finished: an event for streams of other libraries that wait for this one, or the reverse.
    """

    launches_children = True
    prelude = "portable/cuda.cuh"

    def __init__(self, number: int) -> None:
        super().__init__()
        card = driver.Device(number)
        self.number = number
        self.name = f"cuda:{number}"
        self.description = f"cuda:{number} ({card.name()})"
        self.threads = 0
        self.capability = card.compute_capability()
        self.total_memory = int(card.total_memory())
        self.multiprocessors = card.multiprocessor_count
        self.clock_rate = 1000.0 * card.clock_rate
        self.cache_size = int(card.l2_cache_size)
        self.context = PrimaryContext(number, self._destroy_dropped_graphs)
        self.one_beside = ForkSafeLock()
        self._pool = MemoryPool(self._release)
        self._graphs = Graphs()
        self._functions: dict[str, Any] = {}
        self._modules: dict[Path, Any] = {}
        self._prepared: set[str] = set()  # names of modules
        self._cooperative: dict[str, CooperativeKernel] = {}
        with self.context.lock, self.context.current:
            self.stream = driver.Stream(NON_BLOCKING)
            self.staging = Staging(self.stream, self.guarded)
            self.staging_beside = Staging(driver.Stream(NON_BLOCKING), self.guarded, THREADS_BESIDE)
            self.page_locked = PageLockedPool()
            self.finished = Event()

    def _destroy_dropped_graphs(self) -> None:
        """Destroys the graphs that calls have dropped."""
        self._graphs.destroy(self.stream)

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.context.lock

    @property
    def current(self) -> AbstractContextManager[Any]:
        return self.context.current

    @contextmanager
    def set_aside(self) -> Iterator[None]:
        calling = self.calling
        launches, moved = calling.launches, calling.moved
        calling.launches, calling.moved = {}, Counter()
        try:
            with self.context.set_aside():
                yield
        finally:
            calling.launches, calling.moved = launches, moved

    @in_context
    def share(self, array: Any) -> CudaArray:
        place = location_of(array)
        if place not in (None, (CUDA, self.number)):
            raise WrongTypeError(f"{kind_of(array)} is not on {self.name}")
        memory = borrowed(array, self.stream.handle)
        if memory.size == 0:
            return self.empty(0, memory.dtype)
        if self.number_of(memory.pointer) != self.number:
            raise WrongTypeError(f"{kind_of(array)} is not on {self.name}")
        if memory.stream == NO_STREAM:
            self.guarded(driver.Context.synchronize)
        elif memory.stream is not None:
            self.finished.record(memory.stream)
            self.finished.hold(self.stream.handle)
        return CudaArray(self, memory, 0, memory.size, memory.dtype)

    @in_context
    def number_of(self, pointer: int) -> int:
        """Returns the number of the GPU, of any on this machine, that has the memory at an address."""
        number = ctypes.c_int()
        call("cuPointerGetAttribute", ctypes.byref(number), ctypes.c_int(DEVICE_ORDINAL), ctypes.c_uint64(pointer))
        return number.value

    @in_context
    def empty(self, size: int, dtype: DTypeLike) -> CudaArray:
        element = np.dtype(dtype)
        nbytes = size * element.itemsize
        if nbytes == 0:
            return CudaArray(self, None, 0, 0, element)

        def refused() -> OutOfMemoryError:
            return OutOfMemoryError(
                f"{self.description} has too little memory: {nbytes / 2**30:.2f} GiB more are needed, "
                f"{self.free_memory() / 2**30:.2f} of {self.total_memory / 2**30:.2f} GiB are free"
            )

        if nbytes > self.total_memory:
            raise refused()
        block = self._pool.allocate(nbytes, refused)
        if self.calling.recording is not None:
            self.calling.recording.append(block)
        return CudaArray(self, block, 0, size, element)

    def _release(self) -> None:
        """Downloads arrays that wait to be read, unless launches are being recorded."""
        if self.calling.recording is None:
            read_all(self)

    @in_context
    def require_memory(self, needed: int, what: str) -> None:
        for release in (self._pool.free, self._release, self._pool.free):
            if needed > self.free_memory():
                release()
        free = self.free_memory()
        if needed > free:
            raise OutOfMemoryError(
                f"{what} needs {amount(needed)} of memory on {self.description}, and {amount(free)} are free"
            )

    @in_context
    def release_memory(self) -> None:
        self._pool.free()

    @in_context
    def trim_memory(self) -> None:
        self._pool.trim()

    @in_context
    def free_memory(self) -> int:
        """Free bytes of the GPU's memory; blocks that the pool keeps count as used."""
        return int(driver.mem_get_info()[0])

    @in_context
    def highest_memory(self) -> int:
        """Highest number of bytes of the GPU's memory in use so far, if what others use has not changed since."""
        return self.total_memory - self.free_memory() + self._pool.highest - self._pool.reserved

    @in_context
    def loop(self, body: Callable[[], None], stop: DeviceArray) -> GraphLoop:
        self._load(signatures()["launch_again"])  # before the recording, like all other kernels
        slice_begun = self.zeros(1, np.int64)
        kept: list[Block] = []

        def recorded() -> None:
            with self._recorded(kept):
                body()
                self.launch("launch_again", 1, stop, slice_begun)

        return GraphLoop(self.stream, recorded, stop, slice_begun, kept, self._graphs)

    def looked_up(self, number: Number) -> tuple[int, ...]:
        """Returns (address, 0) for a number on the device, otherwise (0, number)."""
        return (number.place.pointer, 0) if isinstance(number, DeviceCount) else (0, number)

    def foreseen(self, number: Number) -> int:
        """Returns its bound: the device may not have computed it yet."""
        return bound_of(number)

    @in_context
    def _run(self, signature: Signature, count: Number, values: list[int | float]) -> None:
        if signature.grid:
            self._run_cooperatively(signature, count, values)
            return
        function = self._functions.get(signature.name) or self._load(signature)
        block = _block_size(signature)
        bound = bound_of(count)
        blocks = bound if signature.team else -(-bound // block)
        # A number on the device is often far from its bound: launch no more blocks than fill the GPU, but enough to
        # spread few indices (share_of in cuda_src/portable/gpu.cuh).
        most = MOST_BLOCKS
        if isinstance(count, DeviceCount):
            most = self.multiprocessors * BLOCKS_IN_FLIGHT
            if not signature.team:
                blocks = max(blocks, min(-(-bound // (block // LANES)), self.multiprocessors * BLOCKS_TO_SPREAD_OVER))
        grid, range_end = (min(blocks, most), 1), self.looked_up(count)
        function.prepared_async_call(grid, (block, 1, 1), self.stream, 0, *range_end, *values)

    def _run_cooperatively(self, signature: Signature, count: Number, values: list[int | float]) -> None:
        """Makes a cooperative launch: no more blocks than run at once, which stride over the range."""
        kernel = self._load_cooperative(signature)
        kernel.launch(bound_of(count), self.looked_up(count), values, self.stream.handle)

    def _load_cooperative(self, signature: Signature) -> CooperativeKernel:
        kernel = self._cooperative.get(signature.name)
        if kernel is None:
            compiled, block = cubin(signature.source, self.capability), _block_size(signature)
            kernel = CooperativeKernel(signature, compiled, block, self.multiprocessors)
            self._cooperative[signature.name] = kernel
        return kernel

    @in_context
    def _load(self, signature: Signature) -> Any:
        if signature.grid:
            return self._load_cooperative(signature)
        function = self._functions.get(signature.name)
        if function is not None:
            return function
        function = self._module(signature.source).get_function(signature.name)
        function.prepare("qPq" + signature.letters)
        self._functions[signature.name] = function
        return function

    def _module(self, source: Path) -> Any:
        loaded = self._modules.get(source)
        if loaded is None:
            loaded = self._modules[source] = driver.module_from_file(str(cubin(source, self.capability)))
        return loaded

    def prepare(self, *names: str) -> None:
        wanted = set(names) - self._prepared
        if not wanted:
            return
        sources = {module(name) for name in wanted}
        cubins(sources, self.capability)  # in parallel, and before this thread takes the device
        self._load_modules(sources)
        self._prepared |= wanted

    @in_context
    def _load_modules(self, sources: set[Path]) -> None:
        for signature in signatures().values():
            if signature.source in sources and signature.grid:
                self._load_cooperative(signature)
            elif signature.source in sources:
                self._module(signature.source)

    def warm(self) -> list[str]:
        """Compiles all modules, several at a time; returns their names."""
        sources = modules()
        cubins(sources, self.capability)
        return [source.name for source in sources]

    @in_context
    def allow_children(self, wanted: int) -> int:
        limit = driver.limit.DEV_RUNTIME_PENDING_LAUNCH_COUNT
        if driver.Context.get_limit(limit) < wanted:
            self.synchronize()
            with suppress(driver.Error):  # read the limit below to see how far the device went
                driver.Context.set_limit(limit, wanted)
        return int(driver.Context.get_limit(limit))

    @in_context
    def synchronize(self) -> None:
        self.guarded(lambda: wait_for_stream(self.stream.handle))

    def guarded(self, call: Callable[[], Any]) -> Any:
        """Runs a driver call that may report an earlier kernel's failure."""
        try:
            return call()
        except (driver.Error, InternalError) as error:
            last = ", ".join(list(self.launches)[-3:])
            raise InternalError(f"a kernel failed on {self.description}: {error} (kernels used last: {last})") from None


def _block_size(signature: Signature) -> int:
    """Returns the number of threads per block of a kernel."""
    return constant("TEAM_SIZE" if signature.team else "BLOCK_SIZE")


_opening = threading.Lock()  # so that threads that open a GPU at the same time get the same object


@cache
def _device(number: int) -> CudaDevice:
    device = CudaDevice(number)
    atexit.register(device.context.repair)  # PyCUDA aborts a process that ends with a context on a stack
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(device))  # it is never destroyed (see CudaDevice)
    return device


def cuda_device(number: int) -> CudaDevice:
    """Returns the device with a number, opened once per process."""
    with _opening:
        return _device(number)
