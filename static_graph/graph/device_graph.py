"""A graph in device memory, uploaded once and used by any number of traversals."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dmr.common.arguments import shortened
from dmr.common.pooling import in_forked_children
from dmr.memory import Device, DeviceArray
from static_graph.errors import WrongTypeError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_arrays import checked_arrays
from static_graph.graph.packing import WEIGHT_FIELDS, packed_csr

T = TypeVar("T")

MOST_KEPT = 2**14  # edges: the search of a graph takes less time than its upload, and the memory is small

_kept: WeakKeyDictionary[CsrGraph, dict[tuple[str, int], DeviceGraph]] = WeakKeyDictionary()


class DeviceGraph:
    """A CSR graph on a device. Any number of threads may search it at the same time.

    Attributes:
        device: the device; nodes, edges: their numbers.
        offsets: (nodes + 1,) int32 or int64; targets: (edges,) int32.
        weights: (edges,) int32, int64 or float64; or None.
        largest_weight: of all edges, in the type of the weights; 1 without weights.
        host: the graph that was uploaded; None for a graph made on the device.
        csr: the graph as a kernel argument.
    """

    def __init__(
        self,
        offsets: DeviceArray,
        targets: DeviceArray,
        weights: DeviceArray | None,
        largest_weight: float,
        host: CsrGraph | None = None,
    ) -> None:
        """Wraps arrays that are on a device already; `upload` copies a host graph.

        Raises:
            WrongTypeError: an argument is not an array on a device, or has the wrong dtype.
        """
        _check("offsets", offsets, np.int32, np.int64)
        _check("targets", targets, np.int32)
        if weights is not None:
            _check("weights", weights, *WEIGHT_FIELDS)
        self.device: Device = targets.device
        self.offsets, self.targets, self.weights = offsets, targets, weights
        self.nodes, self.edges = offsets.size - 1, targets.size
        self.largest_weight = largest_weight
        self.host = host
        self.csr = packed_csr(offsets, targets, weights)
        self._derived: dict[Hashable, Any] = {}
        self._deriving = threading.RLock()
        _graphs.add(self)

    @classmethod
    def upload(cls, graph: CsrGraph, device: Device, *, copied: bool = True) -> DeviceGraph:
        """Copies a graph to a device.

        Args:
            graph: the graph; device: the device.
            copied: whether to copy the arrays on a CPU, too, where they are then aligned, in large pages. A copy takes
                as long as a few searches.

        Raises:
            OutOfMemoryError: the graph does not fit.
            WrongTypeError: `graph` is not a graph, or `device` is not a device.
        """
        if not isinstance(graph, CsrGraph):
            raise WrongTypeError(f"graph must be a CsrGraph, not {shortened(graph)}")
        if not isinstance(device, Device):
            raise WrongTypeError(f"device must be an open device (dmr.memory.open_device), not {shortened(device)}")
        weights, largest = graph.weights, 1.0
        if weights is not None:
            largest = weights.max().item() if weights.size else 0
        place = device.array if copied else device.as_input
        on_device = None if weights is None else place(weights)
        uploaded = cls(place(graph.offsets), place(graph.targets), on_device, largest, graph)
        device.synchronize()  # so that the copy does not count in the first traversal's time
        return uploaded

    def __reduce__(self) -> tuple[Any, ...]:
        """Raises WrongTypeError: the memory of a device belongs to a process."""
        raise WrongTypeError("an uploaded graph cannot be pickled: send the CsrGraph, and upload it again")

    @classmethod
    def from_arrays(cls, offsets: Any, targets: Any, weights: Any = None, *, threads: int | None = None) -> DeviceGraph:
        """Makes a graph of arrays of CuPy, PyTorch, numpy or another library, on the device where they are.

        Arrays are shared, not copied, and stay alive as long as the graph; do not change them. Targets of int64 and
        weights of float32 are copied, because kernels need other dtypes. The arrays are checked on the device.

        Args:
            offsets: (n + 1,) int32 or int64; targets: (m,) int32 or int64; weights: (m,) int32, int64, float32 or
                float64, or None, as for `CsrGraph`. On a GPU, the arrays have `__dlpack__` or
                `__cuda_array_interface__`; a `DeviceArray` is taken, too.
            threads: CPU threads, for arrays in main memory (default: all cores).

        Raises:
            GraphError: a wrong dtype or size, an index out of range, or an invalid weight; the error names the edge.
            WrongTypeError: an argument is not an array, is not contiguous, or is on another device than `offsets`.
        """
        return cls(*checked_arrays(offsets, targets, weights, threads))

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns data derived from the graph, such as a split or transposed graph, and caches it under `key`.

        The data is made once, by `make`; other threads that need it wait.
        """
        with self._deriving:
            if key not in self._derived:
                self._derived[key] = make()
            found: T = self._derived[key]
        return found

    def has_derived(self, key: Hashable) -> bool:
        """Whether data is cached under `key`."""
        return key in self._derived

    def kept(self, key: Hashable) -> Any:
        """Returns the data cached under `key`, or None; takes no lock."""
        return self._derived.get(key)

    def forget(self) -> None:
        """Frees the cached derived data."""
        with self._deriving:
            self._derived.clear()

    def forked(self) -> None:
        """Resets the lock in a child of fork(), where no other thread runs."""
        self._deriving = threading.RLock()


def kept_upload(graph: CsrGraph, device: Device) -> DeviceGraph:
    """Returns a graph on a device for one call; a small one is kept for further calls, as long as `graph` lives.

    Raises:
        OutOfMemoryError: the graph does not fit.
    """
    if graph.edges > MOST_KEPT:
        return DeviceGraph.upload(graph, device, copied=False)
    uploads = _kept.setdefault(graph, {})
    place = (device.name, device.threads)
    if place not in uploads:
        uploads[place] = DeviceGraph.upload(graph, device, copied=False)
        uploads[place].host = None  # it would keep `graph` alive
    return uploads[place]


def kept_graph(graph: CsrGraph, device: str, threads: int | None) -> DeviceGraph | None:
    """Returns the copy of a small graph that an earlier call has kept, or None.

    Args:
        graph: the graph.
        device, threads: as the caller gives them. A device that is chosen by the call ("auto"), or a number of threads
            that depends on the cores (None), is not looked up; to open it takes as long as the search.
    """
    if type(device) is not str or device != "cpu" or type(threads) is not int:
        return None
    uploads = _kept.get(graph)
    return None if uploads is None else uploads.get((device, threads))


def labels_of(graph: CsrGraph | DeviceGraph) -> NDArray[Any] | None:
    """Returns the labels of a graph's nodes, or None if it has none."""
    host = graph if isinstance(graph, CsrGraph) else graph.host
    return None if host is None else host.labels


def _check(name: str, array: object, *kinds: DTypeLike) -> None:
    """Raises WrongTypeError unless `array` is on a device and has one of the dtypes `kinds`."""
    dtypes = [np.dtype(kind) for kind in kinds]
    if not isinstance(array, DeviceArray) or array.dtype not in dtypes:
        wanted = " or ".join(dtype.name for dtype in dtypes)
        raise WrongTypeError(f"{name} must be an array of {wanted} on a device, not {shortened(array)}")


# All graphs of the process: a lock that another thread held at a fork() would stay locked in the child.
_graphs: WeakSet[DeviceGraph] = WeakSet()


def _forked() -> None:
    for graph in _graphs:
        graph.forked()


in_forked_children(_forked)
