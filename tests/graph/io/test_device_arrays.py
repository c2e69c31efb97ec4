"""Graphs of other libraries' arrays, and distances that stay on the device."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import weakref

import numpy as np
import pytest

from dmr.memory import DeviceArray, open_device
from static_graph import CsrGraph, DeviceGraph, bfs, generate_rmat, sssp, upload
from static_graph.errors import DmrError, GraphError, WrongTypeError

OFFSETS, TARGETS = np.array([0, 2, 3, 3], np.int32), np.array([1, 2, 2], np.int32)


class Exported:
    """An array of another library: it supports one protocol, and nothing else."""

    def __init__(self, array, protocol):
        self.owner = array
        if protocol == "__dlpack__":
            self.__class__ = type("WithDlpack", (Exported,), {
                "__dlpack__": lambda self, **options: self.owner.__dlpack__(**options),
                "__dlpack_device__": lambda self: self.owner.__dlpack_device__(),
            })  # fmt: skip
        else:
            setattr(self, protocol, getattr(array, protocol))


@pytest.fixture(params=["numpy", "dlpack", "interface"])
def foreign(request, device):
    """Makes an array of another library on the device."""

    def make(values):
        values = np.asarray(values)
        if device.threads:
            if request.param == "numpy":
                return values
            return Exported(values, "__dlpack__" if request.param == "dlpack" else "__array_interface__")
        if request.param == "numpy":
            gpuarray = pytest.importorskip("pycuda.gpuarray")
            with device.lock, device.current:
                return gpuarray.to_gpu(np.ascontiguousarray(values))
        return Exported(device.array(values), "__dlpack__" if request.param == "dlpack" else "__cuda_array_interface__")

    return make


@pytest.mark.parametrize("starts", [np.int32, np.int64])
@pytest.mark.parametrize("ends", [np.int32, np.int64])
@pytest.mark.parametrize("weights", [None, np.int32, np.int64, np.float32, np.float64])
def test_graphs_of_every_dtype_give_the_distances_of_a_copied_graph(device, foreign, starts, ends, weights):
    host = generate_rmat(300, 2500, weights=100, seed=3, device="cpu")
    values = None if weights is None else host.weights.astype(weights) / (7 if np.dtype(weights).kind == "f" else 1)
    values = None if weights is None else values.astype(weights)
    graph = DeviceGraph.from_arrays(
        foreign(host.offsets.astype(starts)),
        foreign(host.targets.astype(ends)),
        None if values is None else foreign(values),
        threads=device.threads or None,
    )
    assert (graph.device.name, graph.nodes, graph.edges, graph.host) == (device.name, 300, 2500, None)
    assert np.array_equal(bfs(graph, 0).distances, bfs(host, 0, device="cpu").distances)
    if values is not None:
        same = CsrGraph(host.offsets, host.targets, values)
        assert graph.largest_weight == same.weights.max()
        for _ in range(2):
            found, wanted = sssp(graph, 0, parents=True), sssp(same, 0, parents=True, device="cpu")
            assert np.array_equal(found.distances, wanted.distances)
            assert np.array_equal(found.parents, wanted.parents)


@pytest.mark.slow
def test_arrays_are_shared_and_stay_alive(device, foreign):
    starts, ends = foreign(OFFSETS.copy()), foreign(TARGETS.copy())
    alive = weakref.ref(getattr(ends, "owner", ends))
    graph = DeviceGraph.from_arrays(starts, ends)
    if hasattr(ends, "owner"):
        pointer = ends.owner.pointer if isinstance(ends.owner, DeviceArray) else ends.owner.ctypes.data
        assert graph.targets.pointer == pointer
    del starts, ends
    gc.collect()
    device.zeros(3, np.int32)  # which takes the memory, if it was freed
    assert alive() is not None
    assert graph.targets.download().tolist() == TARGETS.tolist()
    assert bfs(graph, 0).distances.tolist() == [0, 1, 1]
    del graph
    gc.collect()
    assert alive() is None


def test_tiny_graphs(device, foreign):
    empty = np.empty(0, np.int32)
    nothing = DeviceGraph.from_arrays(foreign(np.array([0])), foreign(empty), foreign(np.empty(0, np.float32)))
    assert (nothing.nodes, nothing.edges, nothing.largest_weight) == (0, 0, 0)
    alone = DeviceGraph.from_arrays(foreign(np.array([0, 0])), foreign(empty))
    assert bfs(alone, 0).distances.tolist() == [0]


@pytest.mark.parametrize(
    ("starts", "ends", "weights", "error", "words"),
    [
        (OFFSETS + 1, TARGETS, None, GraphError, "offsets must begin with 0, not 1"),
        ([0, 3, 2, 3], TARGETS, None, GraphError, "node 1: its edges end before they begin"),
        (OFFSETS, TARGETS[:2], None, GraphError, "offsets end with 3, but with 2 targets"),
        ([], [], None, GraphError, "at least a 0"),
        (OFFSETS, [1, 3, 2], None, GraphError, "edge 1: leads to node 3, but the 3 nodes are 0 to 2"),
        (OFFSETS, np.array([1, 2, -1], np.int32), None, GraphError, "edge 2: leads to node -1"),
        (OFFSETS, np.array([1, 2, 2**32]), None, GraphError, "edge 2: leads to node 4294967296"),
        (OFFSETS, TARGETS, [1, -2, -3], GraphError, "edge 1: has the weight -2; distances need non-negative weights"),
        (OFFSETS, TARGETS, [1.0, 2.0, np.nan], GraphError, "edge 2: has the weight nan; distances need finite"),
        (OFFSETS, TARGETS, np.array([np.inf, 1, 1], np.float32), GraphError, "edge 0: has the weight inf"),
        (OFFSETS, TARGETS, [1.0, -2.0, 3], GraphError, r"edge 1: has the weight -2\.0"),
        (OFFSETS, TARGETS, [1, 2], GraphError, "2 weights, but 3 targets"),
        (OFFSETS, TARGETS.astype(np.uint8), None, GraphError, "targets must be int32 or int64, not uint8"),
        (OFFSETS.astype(float), TARGETS, None, GraphError, "offsets must be int32 or int64, not float64"),
    ],
)
def test_invalid_arrays_are_refused(device, foreign, starts, ends, weights, error, words):
    starts, ends = (np.asarray(each, np.int64 if len(each) == 0 else None) for each in (starts, ends))
    with pytest.raises(error, match=words):
        DeviceGraph.from_arrays(foreign(starts), foreign(ends), None if weights is None else foreign(weights))


@pytest.mark.parametrize("wrong", [None, "text", 7, [[1, 2]], np.zeros((2, 2), np.int32), np.arange(6)[::2], object()])
def test_other_objects_are_refused(wrong):
    for arrays in ((wrong, TARGETS), (OFFSETS, wrong), (OFFSETS, TARGETS, "text" if wrong is None else wrong)):
        with pytest.raises(DmrError):
            DeviceGraph.from_arrays(*arrays)


def test_distances_stay_on_the_device(device):
    host = generate_rmat(200, 1000, weights=9, device="cpu")
    real = CsrGraph(host.offsets, host.targets, host.weights / 3)
    for graph, search, dtype in ((host, bfs, np.int32), (host, sssp, np.int64), (real, sssp, np.float64)):
        on_device = upload(graph, device.name, device.threads or None)
        wanted = search(on_device, 0, parents=True)
        assert wanted.on_device == {}
        found = search(on_device, 0, parents=True, keep_on_device=True)
        again = search(on_device, 5, keep_on_device=True)  # which must not change the arrays of `found`
        assert set(found.on_device) == {"distances", "parents"} and set(again.on_device) == {"distances"}
        assert again.parents is None
        left = found.on_device["distances"]
        assert isinstance(left, DeviceArray) and left.dtype == dtype and left.device.name == device.name
        assert np.array_equal(left.download(), wanted.distances)
        assert "distances" not in vars(found) and repr(found) == repr(wanted)
        for same in (found, copy.copy(found), pickle.loads(pickle.dumps(found))):
            assert np.array_equal(same.distances, wanted.distances)
            assert np.array_equal(same.parents, wanted.parents)
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
            found.distances[0] = 1
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = found.nothing


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "float64", "uint8"])
@pytest.mark.parametrize("values", [[], [5], list(range(40))])
def test_numpy_takes_arrays_of_the_cpu_in_place(values, dtype):
    device = open_device("cpu", 1)
    array = device.array(np.array(values).astype(dtype))
    for taken in (np.from_dlpack(array), np.asarray(array)):
        assert taken.dtype == dtype and np.array_equal(taken, array.download())
        if values:
            taken[0] = 1
            assert array.download()[0] == 1
            assert taken.ctypes.data == array.pointer


def test_memory_outlives_its_device_array():
    array = open_device("cpu", 1).array(np.full(100_000, 3))
    taken = [np.from_dlpack(array[5:]), np.asarray(array[7:])]
    del array
    gc.collect()
    assert all((each == 3).all() for each in taken)


@pytest.mark.gpu
def test_capsules_of_a_gpu(gpu):
    """The fields that a consumer of DLPack reads (dlpack.h) are right, and the memory lives as long as the capsule."""
    from dmr.memory import exchange

    array = gpu.array(np.arange(10, dtype=np.int64))[2:]
    assert array.__dlpack_device__() == (exchange.CUDA, 0)
    streams = [{"stream": stream} for stream in (1, 2, -1, gpu.stream.handle)]
    for options in ({}, {"max_version": (1, 0)}, *streams):
        capsule = array.__dlpack__(**options)
        tensor = exchange._tensor(capsule)
        assert (tensor.data, tensor.kind, tensor.number) == (array.pointer, 2, 0)
        assert (tensor.dimensions, tensor.shape[0], tensor.strides[0], tensor.byte_offset) == (1, 8, 1, 0)
        assert (tensor.code, tensor.bits, tensor.lanes) == (0, 64, 1)
    assert exchange._tensor(array.__dlpack__(copy=True)).data != array.pointer
    for options in ({"stream": 0}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError):
            array.__dlpack__(**options)
    pointer = array.pointer
    del array, tensor
    gc.collect()
    others = [gpu.array(np.full(10, 7)) for _ in range(50)]  # none of which gets the memory
    assert all(other.pointer > pointer or other.pointer + 80 <= pointer - 16 for other in others)
    target = np.empty(8, np.int64)
    with gpu.lock, gpu.current:
        from dmr.memory.cuda.drivercalls import call

        call("cuMemcpyDtoH_v2", ctypes.c_void_p(target.ctypes.data), ctypes.c_uint64(pointer), ctypes.c_size_t(64))
    assert target.tolist() == list(range(2, 10))
    del capsule


@pytest.mark.gpu
def test_a_lent_block_is_not_reused(gpu):
    array = gpu.array(np.arange(1000))
    pointer = array.pointer
    assert array.__cuda_array_interface__["data"][0] == pointer
    del array
    gc.collect()
    with gpu.lock, gpu.current:
        gpu.empty(1, np.int32)  # collects what was dropped
        kept = [each for blocks in gpu._pool._kept.values() for each in blocks]
    assert pointer not in kept


@pytest.mark.gpu
def test_arrays_on_two_devices_are_refused(gpu):
    with pytest.raises(WrongTypeError, match="is not in main memory"):
        DeviceGraph.from_arrays(OFFSETS, gpu.array(TARGETS))
    with pytest.raises(WrongTypeError, match="is not on cuda:0"):
        DeviceGraph.from_arrays(Exported(gpu.array(OFFSETS), "__dlpack__"), TARGETS)


def test_a_foreign_object_that_does_not_tell_its_device_is_refused():
    class Broken:
        __dlpack__ = None

        def __dlpack_device__(self):
            raise ZeroDivisionError("no device")

    with pytest.raises(WrongTypeError, match="Broken does not report its device: no device"):
        DeviceGraph.from_arrays(Broken(), TARGETS)


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "cupy"])
def test_arrays_of_other_libraries_come_in_and_go_out(library, device):
    """Tensors are shared in place, on a CPU or on a GPU, and so are the distances."""
    other = pytest.importorskip(library)
    if library == "torch" and not device.threads and not other.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    if (library == "cupy" and device.threads) or (library == "jax.numpy" and not device.threads):
        pytest.skip(f"{library} has no arrays there")
    place = {"device": "cpu" if device.threads else "cuda"} if library == "torch" else {}
    offsets, targets = (other.asarray(values.tolist(), **place) for values in (OFFSETS, TARGETS))
    graph = DeviceGraph.from_arrays(offsets, targets, threads=device.threads or None)
    found = bfs(graph, 0, keep_on_device=True)
    there = other.from_dlpack(found.on_device["distances"])
    assert type(there) is type(targets) and there.tolist() == [0, 1, 1]
    assert DeviceGraph.from_arrays(offsets, targets).edges == len(targets)
