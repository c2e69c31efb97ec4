"""Device arrays and kernel launches on every device."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dmr.errors import DeviceUnavailableError, InternalError, NativeLibraryError, OptionError, OutOfMemoryError
from dmr.memory import DeviceCount, copy, devices, open_device, scan, signatures, warm
from dmr.memory.discovery import DeviceInfo
from dmr.memory.host import compiler
from dmr.memory.host import device as host
from dmr.memory.host.copying import WORTH_SHARING
from dmr.refinement.state.records import POINT, TRIANGLE

DTYPES = ("int32", "uint32", "int64", "uint64", "float64", "uint8")
LARGE = 100_000  # enough indices for every thread to get some


# Arrays


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
    made = subprocess.run([sys.executable, "-c", PAGES_OF_A_SECOND_CALL], capture_output=True, text=True, check=True)
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


# Launches


@pytest.mark.parametrize("piece", [host.SMALLEST_PIECE, 0.0])
@pytest.mark.parametrize("count", [1, 2, 127, 4097, LARGE])
def test_a_launch_covers_every_index_and_no_other(device, count, piece, monkeypatch):
    monkeypatch.setattr(host, "SMALLEST_PIECE", piece)
    array = device.array(np.full(count + 1, -1, np.int32))
    device.launch("fill_indices", count, array)
    assert np.array_equal(array.download(), [*range(count), -1])


@pytest.mark.parametrize("count", [0, -1])
def test_a_launch_over_no_index_does_nothing(device, count):
    before = dict(device.launches)
    array = device.array(np.array([7], np.int32))
    device.launch("fill_indices", count, array)
    assert array.download().tolist() == [7] and device.launches == before


def test_launches_are_counted_by_name(device):
    before = device.launches.get("fill_indices", 0)
    array = device.empty(4, np.int32)
    for _ in range(3):
        device.launch("fill_indices", 4, array)
    assert device.launches["fill_indices"] == before + 3


def test_an_unknown_kernel_is_named(device):
    with pytest.raises(InternalError, match="no_such_kernel"):
        device.launch("no_such_kernel", 1)
    assert "no_such_kernel" not in device.launches


@pytest.mark.parametrize("number", [0, 2])
def test_a_wrong_number_of_arguments_is_refused(device, number):
    before = dict(device.launches)
    with pytest.raises(InternalError, match=f"fill_indices takes 1 arguments, not {number}"):
        device.launch("fill_indices", 1, *[device.zeros(1, np.int32)] * number)
    assert device.launches == before


@pytest.mark.parametrize("dtype", ["uint32", "int64", "float64", POINT])
def test_an_array_of_the_wrong_dtype_is_refused(device, dtype):
    with pytest.raises(InternalError, match="argument values "):
        device.launch("fill_indices", 1, device.zeros(1, dtype))


def test_numpy_arrays_and_numbers_as_array_arguments_are_refused(device):
    for wrong in (np.zeros(1), 0, 1.5):
        with pytest.raises(InternalError, match="fill_indices"):
            device.launch("fill_indices", 1, wrong)


@pytest.mark.parametrize(("place", "wrong"), [
    (1, 2**63), (1, -(2**63) - 1), (1, 1.0), (1, None), (2, 2**31), (2, -(2**31) - 1), (2, "8"),
])  # fmt: skip
def test_a_scalar_that_does_not_fit_is_refused(device, place, wrong):
    # count_digits(const uint32 *keys, int64 count, int32 shift, int64 tiles, int32 *counts)
    arguments = [device.zeros(1, np.uint32), 1, 0, 1, device.zeros(256, np.int32)]
    arguments[place] = wrong
    with pytest.raises(InternalError, match=r"kernel count_digits: (count|shift)"):
        device.launch("count_digits", 1, *arguments)


def test_float_parameters_accept_only_numbers(device):
    # curve_keys(const Point *points, float64 low_x, float64 low_y, float64 scale, uint32 *keys)
    points, keys = device.zeros(1, POINT), device.zeros(1, np.uint32)
    device.launch("curve_keys", 1, points, 0, np.float64(0.0), 1.0, keys)
    for wrong in (None, "1", keys):
        with pytest.raises(InternalError, match="low_y must be a number"):
            device.launch("curve_keys", 1, points, 0.0, wrong, 1.0, keys)


def test_numpy_integers_are_accepted_as_integers(device):
    array = device.array(np.array([1, 2, 3], np.int32))
    sums = device.zeros(1, np.int32)
    device.launch("sum_tiles_int32", 1, array, np.int64(3), sums)
    assert sums.download().tolist() == [6]


def test_none_is_the_null_pointer():
    assert signatures()["fill_indices"].values([None], open_device("cpu").looked_up) == [0]


def test_signatures_equal_the_declarations():
    signature = signatures()["scan_tiles_int64"]
    assert signature.source.name == "scan.cu" and signature.team
    assert [(p.type, p.name) for p in signature.parameters if p.pointer] == [
        ("int64", "values"), ("int64", "tile_offsets"), ("int64", "offsets"),
    ]  # fmt: skip
    assert [(p.type, p.name) for p in signature.parameters if not p.pointer] == [("Count", "count")]
    # A count is a place in the memory of a GPU, or a number; on the CPU it is looked up before the launch.
    assert signature.letters == "PPqPP" and signature.slots.size == 32
    assert not signatures()["fill_indices"].team and not signatures()["fill_indices"].grid
    assert signatures()["mark_in_three_phases"].grid and not signatures()["mark_in_three_phases"].team


def test_launches_from_several_python_threads_do_not_mix():
    device = open_device("cpu", 3)

    def sums_are_right(seed):
        values = np.random.default_rng(seed).integers(0, 100, LARGE).astype(np.int32)
        expected = np.concatenate([[0], values.cumsum()])
        return all(np.array_equal(scan(device.array(values)).download(), expected) for _ in range(20))

    with ThreadPoolExecutor(4) as workers:
        assert all(workers.map(sums_are_right, range(8)))


@pytest.mark.parametrize("threads", [2, 5])  # fewer than there are cores, and more
def test_pieces_cover_a_range_once(threads):
    library, seen = compiler.library(), []
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(lambda *p: seen.append(p[:2]))
    timed = library.host_timed(kernel, False)
    for count in (1, 2, 3, 17, 1000, 10, 5, 4321):
        seen.clear()
        library.host_launch(timed, count, b"", threads, 0.0)
        ends = [0] + [end for _, end in sorted(seen)]
        assert [begin for begin, _ in sorted(seen)] == ends[:-1] and ends[-1] == count
        assert len(seen) >= min(count, threads)  # each can have a part


def test_slow_indices_are_distributed_singly_and_fast_ones_in_blocks():
    library, seconds, seen = compiler.library(), [0.0], []

    def work(begin, end, _):
        time.sleep(seconds[0] * (end - begin))
        seen.append(end - begin)

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(work)
    timed = library.host_timed(kernel, False)

    def pieces_of_six():
        for _ in range(60):  # the estimate of the time per index follows
            library.host_launch(timed, 6 if seconds[0] else 100_000, b"", 2, 1e5)
        seen.clear()
        library.host_launch(timed, 6, b"", 2, 1e5)
        assert sum(seen) == 6
        return len(seen)

    for seconds[0], pieces in ((0.001, 6), (0.0, 1)):
        assert any(pieces_of_six() == pieces for _ in range(20))  # a busy machine distorts some estimates


@pytest.mark.parametrize("team", [False, True])
def test_teams_are_distributed_singly_among_several_threads(team):
    library, seen = compiler.library(), []

    def work(begin, end, _):
        time.sleep(0.001 * (end - begin))
        seen.append(end - begin)

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(work)
    timed = library.host_timed(kernel, team)
    for _ in range(12):
        seen.clear()
        library.host_launch(timed, 32, b"", 2, 2e7)  # pieces of 20 ms
        assert sum(seen) == 32
    assert (max(seen) == 1) == team
    seen.clear()
    library.host_launch(timed, 3, b"", 2, 2e7)
    assert seen == [3]  # not worth a second thread


def test_sleeping_threads_wake_for_new_work():
    device = open_device("cpu", 4)
    array = device.zeros(LARGE, np.int32)
    for pause in (0, 1e-5, 1e-3, 0, 2e-2, 1e-4) * 10:
        array.fill(0)
        time.sleep(pause)
        device.launch("fill_indices", LARGE, array)
        assert np.array_equal(array.values, np.arange(LARGE))


def exit_code(child, seconds):
    """How a child process ended; the test fails if it has not by then."""
    deadline = time.monotonic() + seconds
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.001)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child's launch did not come back")
    return os.waitstatus_to_exitcode(ended[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_launch_again():
    device = open_device("cpu", 3)
    array = device.zeros(LARGE, np.int32)
    device.launch("fill_indices", LARGE, array)
    child = os.fork()
    if child == 0:
        array.fill(0)
        device.launch("fill_indices", LARGE, array)
        os._exit(0 if np.array_equal(array.download(), np.arange(LARGE)) else 1)
    assert exit_code(child, 20) == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_during_a_launch_can_launch():
    device, go_on = open_device("cpu", 3), [True]
    array, other = device.zeros(LARGE, np.int32), device.zeros(LARGE, np.int32)

    def launch():
        while go_on[0]:
            device.launch("fill_indices", LARGE, other)

    with ThreadPoolExecutor(1) as workers:
        launching = workers.submit(launch)
        try:
            for _ in range(20):
                array.fill(0)
                child = os.fork()
                if child == 0:
                    device.launch("fill_indices", LARGE, array)
                    os._exit(0 if np.array_equal(array.values, np.arange(LARGE)) else 1)
                assert exit_code(child, 20) == 0
        finally:
            go_on[0] = False
        launching.result()


LOOP = """
import numpy
from dmr.memory import open_device
device = open_device("cpu", 2)
array = device.zeros(2_000_000, numpy.int32)
print("launching", flush=True)
while True:
    device.launch("fill_indices", array.size, array)
"""


ENDLESS = """
import numpy
from dmr.memory import open_device
device = open_device("cpu", 2)
stop, array = device.zeros(1, numpy.int32), device.zeros(2_000_000, numpy.int32)
loop = device.loop(lambda: device.launch("fill_indices", array.size, array), stop)
print("launching", flush=True)
loop.run()
"""


@pytest.mark.parametrize("program", [LOOP, ENDLESS])
def test_ctrl_c_ends_a_loop_of_launches(program):
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "launching\n"
        time.sleep(0.1)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=10)
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors and time.monotonic() - sent < 5


def counting(device, length):
    """Body of a loop that increments `length`, with another array."""
    one, sums = device.array(np.ones(1, np.int32)), device.empty(2, np.int32)

    def body():
        base = device.zeros(1, np.int32)  # used only by the loop
        device.launch("scan_tiles_int32", 1, one, 1, length, sums)  # sums[1] = length + 1
        device.launch("scan_tiles_int32", 1, sums[1:], 0, base, length[1:])  # length[1] = 0
        device.launch("sum_tiles_int32", 1, sums[1:], 1, length)

    return body


def test_a_loop_reads_device_counts_each_turn(device):
    ones, total = device.array(np.ones(100, np.int32)), device.zeros(1, np.int32)
    length, places = device.array(np.array([0, 7], np.int32)), device.zeros(20, np.int32)
    count, number = counting(device, length), DeviceCount(length[:1], 100)

    def body():
        count()
        device.launch("fill_indices", number, places)
        device.launch("sum_tiles_int32", 1, ones, number, total)

    body()  # once, so that the kernels are loaded
    length.upload(np.array([0, 7], np.int32))
    launches = dict(device.launches)
    loop = device.loop(body, places[9:10])  # which is 9 when the tenth index is filled
    assert length.download().tolist() == [0, 7] and device.launches == launches  # it is only recorded
    rubbish = [device.array(np.full(1, 1000, np.int32)) for _ in range(100)]
    loop.run()
    assert length.download().tolist() == [10, 0] and total.download().tolist() == [10] and len(rubbish) == 100
    assert places.download().tolist() == [*range(10), *[0] * 10]
    places.fill(0)
    length.upload(np.array([4, 0], np.int32))
    loop.run()  # again
    assert length.download().tolist() == [10, 0]


def test_a_failed_recording_leaves_the_device_usable():
    device, array = open_device("cpu"), open_device("cpu").zeros(5, np.int32)
    with pytest.raises(InternalError, match="takes 1 arguments"):
        array.device.loop(lambda: array.device.launch("fill_indices", 5), array[:1])
    array.device.launch("fill_indices", 5, array)
    assert array.download().tolist() == [0, 1, 2, 3, 4] and device.launches == {}


STARVED = """
import resource, numpy
from dmr.memory import open_device
device = open_device("cpu", 500)
array = device.zeros(1_000_000, numpy.int32)
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limits = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (in_use + 2**28, limits[1]))
device.launch("fill_indices", array.size, array)
resource.setrlimit(resource.RLIMIT_AS, limits)
print(numpy.array_equal(array.download(), numpy.arange(array.size)))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_launch_works_with_fewer_threads_than_requested():
    outcome = subprocess.run([sys.executable, "-c", STARVED], capture_output=True, text=True, timeout=60)
    assert outcome.stdout == "True\n", outcome.stderr


# Opening a device


def test_devices_begin_with_the_cpu():
    found = devices()
    cpu = found[0]
    assert isinstance(cpu, DeviceInfo)
    assert (cpu.name, cpu.usable, cpu.reason) == ("cpu", True, None)
    assert cpu.threads >= 1 and cpu.memory_bytes > 2**20
    assert [card.name for card in found[1:]] == [f"cuda:{number}" for number in range(len(found) - 1)]
    assert all(card.usable == (card.reason is None) and card.threads == 0 for card in found[1:])


def test_the_cpu_uses_every_core_by_default():
    assert open_device("cpu").threads == devices()[0].threads
    device = open_device("cpu", 5)
    assert (device.name, device.threads, device.description) == ("cpu", 5, "cpu (5 threads)")
    assert open_device("cpu", 1).description == "cpu (1 thread)"


def test_auto_takes_the_first_usable_gpu_or_the_cpu():
    usable = [card.name for card in devices() if card.usable and card.name != "cpu"]
    assert open_device("auto").name == (usable[0] if usable else "cpu")


@pytest.mark.gpu
def test_a_gpu_is_opened_by_name_once(gpu):
    assert gpu.name == "cuda:0" and gpu.threads == 0
    assert open_device("cuda") is open_device("cuda:0")


@pytest.mark.parametrize("name", ["", "gpu", "CPU", "cpu:0", "cuda:x", "cuda:-1", "cuda:²", "cuda1", "auto:1"])
def test_an_invalid_device_name_is_refused(name):
    with pytest.raises(OptionError, match="auto, cpu, cuda or cuda:N"):
        open_device(name)


def test_a_missing_gpu_is_reported():
    with pytest.raises(DeviceUnavailableError, match=r"cuda:99|PyCUDA|driver|no NVIDIA GPU"):
        open_device("cuda:99")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_must_be_a_positive_integer(threads):
    for name in ("cpu", "auto"):
        with pytest.raises(OptionError, match=r"^threads "):
            open_device(name, threads)


@pytest.mark.parametrize("threads", [100_000, 2**40])
def test_threads_are_limited_to_1024(threads, monkeypatch):
    monkeypatch.setattr("dmr.common.threads.os.cpu_count", lambda: 2)
    for name in ("cpu", "auto", "cuda:0"):
        with pytest.raises(OptionError, match=f"^threads .*{threads:,}"):
            open_device(name, threads)
    assert open_device("cpu", 1024).threads == 1024
    assert open_device("cpu", np.int64(3)).threads == 3


def test_a_machine_with_more_cores_uses_them_all(monkeypatch):
    monkeypatch.setattr("dmr.common.threads.os.cpu_count", lambda: 2048)
    assert open_device("cpu", 2048).threads == 2048


@pytest.fixture
def no_library(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "LIBRARY", tmp_path / "missing.so")
    compiler.library.cache_clear()
    yield
    compiler.library.cache_clear()


@pytest.mark.usefixtures("no_library")
def test_a_missing_library_is_one_clear_error():
    with pytest.raises(NativeLibraryError, match=r"missing\.so"):
        open_device("cpu")
    cpu = devices()[0]
    assert not cpu.usable and "missing.so" in cpu.reason


def test_a_library_older_than_the_sources_is_one_clear_error():
    with pytest.raises(NativeLibraryError, match="of_tomorrow"):
        compiler.kernel_address("of_tomorrow")


def test_warming_the_cpu_compiles_nothing():
    assert warm("cpu") == []
