"""Device arrays on every device."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dmr.errors import OutOfMemoryError
from dmr.memory import copy, open_device
from dmr.memory.host.copying import WORTH_SHARING
from dmr.refinement.state.records import POINT, TRIANGLE

DTYPES = ("int32", "uint32", "int64", "uint64", "float64", "uint8")
LARGE = 100_000  # enough indices for every thread to get some


PAGES_OF_A_SECOND_CALL = """
import resource
from dmr.memory import open_device
device = open_device("cpu", 1)
def use():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [device.empty(2**17, "float64") for _ in range(40)]  # 1 MiB each
    for array in arrays:
        array.values.fill(1.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(use(), use())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators decide by themselves")
def test_memory_of_freed_arrays_is_kept_for_the_next_call():
    # A Dask cluster of another test leaves settings of the allocator (MALLOC_TRIM_THRESHOLD_), which would be obeyed.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", PAGES_OF_A_SECOND_CALL]
    made = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    first, second = map(int, made.stdout.split())
    assert first > 40 * 2**20 // resource.getpagesize() // 2
    assert second < first // 20


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 7, LARGE])
def test_upload_and_download_round_trip(device, dtype, size):
    values = np.random.default_rng(1).integers(0, 200, size).astype(dtype)
    array = device.array(values)
    assert (array.size, len(array), array.dtype) == (size, size, np.dtype(dtype))
    assert np.array_equal(array.download(), values)


def test_upload_replaces_the_content(device):
    array = device.zeros(3, np.int64)
    array.upload(np.array([2**40, -1, 5]))
    assert array.download().tolist() == [2**40, -1, 5]


def test_a_download_is_a_copy(device):
    array = device.zeros(3, np.int32)
    array.download()[:] = 9
    assert array.download().tolist() == [0, 0, 0]


def test_an_upload_takes_a_copy(device):
    values = np.zeros(3, np.int32)
    array = device.array(values)
    values[:] = 9
    assert array.download().tolist() == [0, 0, 0]


@pytest.mark.parametrize("offset", [0, 1, 4, 8, 16])
def test_inputs_of_kernels_may_begin_at_any_byte(device, offset):
    """A record that lies at another address than a multiple of its size made the CPU's kernels fault."""
    memory = np.zeros(16 * 64 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    points = memory[start : start + 16 * 64].view(POINT)
    points["x"], points["y"] = np.random.default_rng(offset).random((2, 64))
    given = device.as_input(points)
    if device.threads:
        assert given.pointer % 16 == 0
        assert (given.pointer == points.ctypes.data) == (offset in (0, 16))
    assert np.array_equal(given.download(), points)


@pytest.mark.parametrize("size", [0, 5, 2 * LARGE])
def test_an_output_is_written_in_place_on_a_cpu_and_downloaded_elsewhere(device, size):
    values = np.zeros(size, np.int32)
    made = device.as_output(values)
    device.launch("fill_int32", size, 7, made)
    assert (values == 7).all() == (size == 0 or device.threads > 0)
    made.download(values)
    assert (values == 7).all()


def test_an_upload_of_another_size_or_dtype_is_refused(device):
    array = device.zeros(3, np.int32)
    with pytest.raises(ValueError, match="4 values for a device array of 3"):
        array.upload(np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="float32"):
        array.upload(np.zeros(3, np.float32))
    assert array.download().tolist() == [0, 0, 0]


BEGUN = 10_000_000  # int32: three buffers of page-locked memory


@pytest.mark.parametrize("meanwhile", ["nothing", "upload", "download", "small download", "another"])
def test_a_download_arrives_beside_other_work(device, meanwhile):
    values = np.arange(BEGUN, dtype=np.int32)
    array, other = device.array(values), device.array(values[::-1].copy())
    target = np.zeros(BEGUN, np.int32)
    advance = array.begin_download(target.view(np.uint8))
    arrived = advance()
    assert 0 < arrived <= target.nbytes and np.array_equal(target[: arrived // 4], values[: arrived // 4])
    if meanwhile == "upload":
        other.upload(values)
        assert np.array_equal(other.download(), values)
    elif meanwhile == "download":
        assert np.array_equal(other.download(), values[::-1])
    elif meanwhile == "small download":
        assert np.array_equal(other[:9].download(), values[::-1][:9])
    elif meanwhile == "another":
        second = np.zeros(BEGUN, np.int32)
        more = other.begin_download(second.view(np.uint8))
        while more() < second.nbytes:
            pass
        assert np.array_equal(second, values[::-1])
    del array
    device.empty(BEGUN, np.int32).fill(0)  # the memory of a download is not used again before its end
    while advance() < target.nbytes:
        pass
    assert np.array_equal(target, values) and advance() == target.nbytes


def test_downloads_are_made_by_threads_without_the_device(device):
    """Another thread has it meanwhile, and the memory of one array is used again only after its copy."""
    values = np.arange(BEGUN, dtype=np.int32)
    arrays = [device.array(values), device.array(values[::-1].copy())]
    targets = [np.zeros(BEGUN, np.int32) for _ in arrays]
    with device.lock, device.current:
        copies = [array.download_later(target) for array, target in zip(arrays, targets, strict=True)]
        arrays.clear()
        with ThreadPoolExecutor(2) as executor:
            futures = [executor.submit(copies.pop()) for _ in targets]
            while not all(future.done() for future in futures):
                assert np.array_equal(device.array(values).download(), values)
            assert [future.result() for future in futures] == [None, None]
    device.empty(BEGUN, np.int32).fill(0)
    assert np.array_equal(targets[0], values) and np.array_equal(targets[1], values[::-1])
    with pytest.raises(ValueError):
        device.array(values[:3]).download_later(np.zeros(4, np.int32))


@pytest.mark.parametrize("size", [39, 41])
def test_a_download_into_bytes_that_do_not_fit_is_refused(device, size):
    with pytest.raises(ValueError):
        device.array(np.arange(10, dtype=np.int32)).begin_download(np.empty(size, np.uint8))


def test_a_download_into_a_given_array(device):
    table = np.zeros((5, 2))
    points = device.array(np.arange(6.0).reshape(3, 2), POINT)
    assert points.download(out=table[1:4]).base is table
    assert table.tolist() == [[0, 0], [0, 1], [2, 3], [4, 5], [0, 0]]
    assert device.empty(0, POINT).download(out=table[2:2]).shape == (0, 2)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.zeros(4, np.int32), "4 values for a device array of 3"),
        (np.zeros(3, np.float32), "float32"),
        (np.zeros(6, np.int32)[::2], "contiguous array that can be written"),
        (np.broadcast_to(np.int32(0), 3), "contiguous array that can be written"),
        (np.frombuffer(bytes(12), np.int32), "contiguous array that can be written"),
    ],
)
def test_a_download_into_an_array_that_does_not_fit_is_refused(device, out, message):
    before = out.copy()
    with pytest.raises(ValueError, match=message):
        device.array(np.array([1, 2, 3], np.int32)).download(out=out)
    assert np.array_equal(out, before)


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("size", [0, 1, WORTH_SHARING - 1, WORTH_SHARING, WORTH_SHARING + 1, 5 * WORTH_SHARING + 13])
def test_a_copy_by_several_threads_is_exact(size, threads):
    random = np.random.default_rng(size)
    for offset in (0, 1, 4097):
        source = random.integers(1, 256, size, np.uint8)
        around = np.zeros(offset + size + 64, np.uint8)
        copy(around[offset : offset + size], source, threads)
        assert np.array_equal(around[offset : offset + size], source)
        assert not around[:offset].any() and not around[offset + size :].any()


def test_fill_sets_every_byte(device):
    array = device.empty(5, np.int32)
    array.fill(255)
    assert array.download().tolist() == [-1] * 5
    array.fill(0)
    assert array.download().tolist() == [0] * 5
    device.empty(0, np.int32).fill(0)


def test_copy_from_fills_the_front(device):
    array = device.array(np.arange(5, dtype=np.int32))
    array.copy_from(device.array(np.array([7, 8], np.int32)))
    array.copy_from(device.empty(0, np.int32))
    assert array.download().tolist() == [7, 8, 2, 3, 4]


def test_the_address_of_a_slice():
    array = open_device("cpu").empty(50, TRIANGLE)
    assert all(array[k:].pointer == array.values[k:].ctypes.data for k in range(50))
    assert array[3:9][2:4].pointer == array.values[5:].ctypes.data


def test_a_slice_shares_memory(device):
    array = device.array(np.arange(10, dtype=np.int32))
    part = array[3:7]
    assert part.download().tolist() == [3, 4, 5, 6]
    assert part.pointer == array.pointer + 12
    part.fill(0)
    part[1:2].upload(np.array([9], np.int32))
    assert array.download().tolist() == [0, 1, 2, 0, 9, 0, 0, 7, 8, 9]


def test_a_slice_keeps_the_memory_alive(device):
    part = device.array(np.full(LARGE, 3, np.int32))[10:20]
    device.array(np.full(LARGE, 4, np.int32))
    assert part.download().tolist() == [3] * 10


@pytest.mark.parametrize(("part", "expected"), [
    (slice(None), [0, 1, 2, 3]),
    (slice(2, 99), [2, 3]),
    (slice(-1, None), [3]),
    (slice(3, 1), []),
    (slice(4, None), []),
])  # fmt: skip
def test_slices_agree_with_numpy(device, part, expected):
    assert device.array(np.arange(4, dtype=np.int32))[part].download().tolist() == expected


def test_a_slice_with_a_step_is_refused(device):
    with pytest.raises(ValueError, match="contiguous"):
        device.zeros(4, np.int32)[::2]


def test_rows_of_a_table_become_records(device):
    table = np.random.default_rng(2).random((50, 2))
    array = device.array(table, POINT)
    assert (array.size, array.dtype) == (50, POINT)
    records = array.download()
    assert np.array_equal(records["x"], table[:, 0]) and np.array_equal(records["y"], table[:, 1])
    array.upload(table[::-1])
    assert np.array_equal(array.download()["x"], table[::-1, 0])


def test_records_keep_every_field(device):
    records = np.zeros(9, TRIANGLE)
    records["vertex"], records["owner"] = np.arange(27).reshape(9, 3), 2**63 + 1
    array = device.array(records)
    assert np.array_equal(array.download(), records)
    assert np.array_equal(array[4:].download(), records[4:])


def test_growing_keeps_the_content_and_adds_zeros(device):
    array = device.array(np.arange(1, 5, dtype=np.int32))
    grown = array.grown(100)
    assert grown.download().tolist() == [1, 2, 3, 4] + [0] * 96
    assert array.download().tolist() == [1, 2, 3, 4]


def test_growing_is_geometric(device):
    array, copies = device.zeros(16, np.int32), 0
    for size in range(17, 10_000):
        grown = array.grown(size)
        copies += grown is not array
        array = grown
    assert array.size <= 15_000 and copies < 20


def test_an_array_with_capacity_does_not_grow(device):
    array = device.zeros(8, np.int32)
    assert array.grown(8) is array and array.grown(0) is array


def test_an_empty_array_grows(device):
    assert device.empty(0, np.int32).grown(3).download().tolist() == [0, 0, 0]


def test_arrays_begin_on_a_record_boundary(device):
    # alignas(32) of cuda_src/mesh/triangles.cuh
    assert all(device.empty(size, TRIANGLE).pointer % 32 == 0 for size in range(1, 50))


def test_large_cpu_arrays_use_separate_huge_pages():
    device, size = open_device("cpu"), 2**21 + 5
    arrays = [make(size, np.int32) for make in (device.empty, device.zeros)]
    for array in arrays:
        room = array.values.base  # the bytes that were asked for
        assert array.pointer % 2**21 == 0 and array.pointer == array.values.ctypes.data
        assert room.ctypes.data + room.nbytes >= array.pointer + 2**21 * 5  # to the end of the last one


@pytest.mark.parametrize("size", [2**50, 2**61, 2**70])
def test_absurd_sizes_raise_out_of_memory(device, size):
    with pytest.raises(OutOfMemoryError, match="GiB"):
        device.empty(size, np.float64)
    assert device.zeros(2, np.int32).download().tolist() == [0, 0]


@pytest.mark.gpu
def test_other_libraries_can_read_an_array_in_place(gpu):
    array = gpu.array(np.arange(10, dtype=np.int32))
    face = array[2:]
    interface = face.__cuda_array_interface__
    assert interface["data"] == (array.pointer + 8, False)
    assert (interface["shape"], interface["typestr"], interface["version"]) == ((8,), "<i4", 3)
    assert interface["strides"] is None and interface["stream"] not in (None, 0)
    assert gpu.empty(3, POINT).__cuda_array_interface__["descr"] == POINT.descr


def test_a_cpu_array_has_no_cuda_interface():
    assert not hasattr(open_device("cpu").zeros(1, np.int32), "__cuda_array_interface__")
