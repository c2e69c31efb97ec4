"""Kernel launches on every device, their arguments and threads, and loops of launches."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dmr.errors import InternalError
from dmr.memory import DeviceCount, open_device, scan, signatures
from dmr.memory.host import compiler
from dmr.memory.host import device as host
from dmr.refinement.state.records import POINT

LARGE = 100_000  # enough indices for every thread to get some


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
    """Returns how a child process ended; the test fails if the process still runs then."""
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
