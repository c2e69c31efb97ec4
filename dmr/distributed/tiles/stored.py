"""Several patches in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.pooling import ForkSafeLock, close, new_pool, submit
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import step
from dmr.memory import DeviceArray

MOST_SPARE = 2  # times the size that is needed
WORTH_WAITING = 2**20  # bytes


class Stored:
    """The arrays of one of several patches in a folder.

    Attributes:
        folder: the folder.
    """

    def __init__(self, folder: Folder, place: int | str) -> None:
        self.folder, self._prefix = folder, f"{place}-"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array."""
        return self.folder[self._prefix + name]

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Stores an array."""
        self.folder[self._prefix + name] = array

    def __contains__(self, name: object) -> bool:
        """Whether there is an array of that name."""
        return isinstance(name, str) and self._prefix + name in self.folder

    def refer(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], place: int, file: str) -> None:
        """Lists an array in another file, as `Folder.refer`."""
        self.folder.refer(self._prefix + name, dtype, shape, place, file)


class InMemory(dict[str, NDArray[Any]]):
    """Arrays in main memory, in place of those of a folder. A context manager: at its end they are no longer used.

    Memory that is new to the process takes longer to get than to fill. What one has held is therefore lent to the next
    one, as long as another one is in use.

    Args:
        later: whether large arrays of a GPU are copied by `finish`, when another thread may have the device.
    """

    _kept: ClassVar[list[NDArray[np.uint8]]] = []
    _used: ClassVar[int] = 0
    _lock: ClassVar[ForkSafeLock] = ForkSafeLock()

    def __init__(self, *, later: bool = False) -> None:
        super().__init__()
        self._later = later
        self._copies: list[tuple[str, Callable[[], None]]] = []  # by the name of the array
        self._lent: list[NDArray[np.uint8]] = []

    def __enter__(self) -> InMemory:
        with self._lock:
            InMemory._used += 1
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()
        self._copies.clear()
        with self._lock:
            InMemory._used -= 1
            self._kept.extend(self._lent)
            if self._used == 0:
                self._kept.clear()
        self._lent = []

    def take(self, name: str, array: DeviceArray, dtype: DTypeLike, shape: tuple[int, ...]) -> None:
        """Stores an array of a device, whose bytes are those of an array of this dtype and shape."""
        mapped = self._mapped(name)
        if array.device.threads and mapped is None:  # it is in main memory
            self[name] = array.detach().view(dtype).reshape(shape)
            return
        target = self._memory(array.size * array.dtype.itemsize) if mapped is None else mapped
        if self._later and target.nbytes >= WORTH_WAITING:
            self._copies.append((name, array.download_later(target.view(array.dtype))))
        else:
            array.download(target.view(array.dtype))
        self[name] = target.view(dtype).reshape(shape)

    def finish(self) -> None:
        """Copies the arrays that `take` has left; the calling thread does not hold the device."""
        while self._copies:
            name, copy = self._copies.pop(0)
            copy()
            self._arrived(name)

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """A block beside which `finish` copies; the arrays are complete after it."""
        pool = new_pool(1, "dmr-fetch") if self._copies else None
        try:
            copied = submit(pool, self.finish)
            yield
            with step("fetch core"):
                copied.result()
        finally:
            close(pool)

    def expect(self) -> None:
        """Prepares memory, while a tile waits for the device and is refined."""

    def begin(self, core: tuple[int, int], margin: tuple[int, int], rows: np.dtype[Any] | None) -> None:
        """Prepares for the arrays of a core.

        Args:
            core, margin: the numbers of vertices and triangles of the core and of the margin of a tile.
            rows: the type of the rows of `Labels`, if triangles have these.
        """

    def _arrived(self, name: str) -> None:
        """Called when an array has been copied."""

    def _mapped(self, name: str) -> NDArray[np.uint8] | None:
        """Returns the place of an array in a file that is mapped into memory, if there is one."""
        return None

    def _memory(self, size: int) -> NDArray[np.uint8]:
        """Returns memory of this size: the smallest that is kept and large enough, or new one."""
        with self._lock:
            enough = [k for k, each in enumerate(self._kept) if size <= each.size <= MOST_SPARE * size]
            found = self._kept.pop(min(enough, key=lambda k: self._kept[k].size)) if enough else None
        if found is None:
            found = np.empty(size + size // 8, np.uint8)
        self._lent.append(found)
        return found[:size]
