"""The contract for threads (docs/guide/threads.md) on the CPU; tests/kernels has the tests on a GPU."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, sleep

import numpy as np
import pytest

import dmr
import static_graph
from dmr.common.cached import cached_property
from dmr.memory import open_device
from dmr.memory.host.compiler import library
from tests.support.native_builds import CXX, HOST, build, needs
from tests.support.paths import ROOT
from tests.support.stress import stress

SECONDS = "4"


@pytest.mark.slow
def test_many_threads_get_the_results_of_one():
    done = stress("--seconds", SECONDS)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def test_four_threads_search_one_uploaded_graph():
    graph = static_graph.upload(static_graph.generate_rmat(20000, 100000, seed=1, weights=9), "cpu", 1)
    searches = [
        (search, balance)
        for search in (static_graph.bfs, static_graph.sssp)
        for balance in ("none", "split", "collapse-global", "auto")
    ]
    expected = {key: key[0](graph, 0, balance=key[1]).distances for key in searches}

    def check(key):
        return np.array_equal(key[0](graph, 0, balance=key[1]).distances, expected[key])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as workers:
            assert all(workers.map(check, searches * 6))
    finally:
        sys.setswitchinterval(before)


def test_derived_graphs_are_made_once():
    graph = static_graph.upload(static_graph.generate_rmat(100, 300, device="cpu"), "cpu", 1)
    made, here = [], threading.Barrier(4)

    def make():
        made.append(1)
        return object()

    def derive(_):
        here.wait()
        return graph.derived("key", make)

    with ThreadPoolExecutor(4) as workers:
        found = set(workers.map(derive, range(4)))
    assert len(found) == len(made) == 1


def test_launches_during_another_threads_recording_are_run():
    """Former bug: launches of other threads were recorded instead of run while one thread recorded a loop."""
    device = open_device("cpu", 1)
    values, stop = device.zeros(100, np.int32), device.zeros(1, np.int32)
    recording, launched = threading.Event(), threading.Event()

    def body():
        recording.set()
        assert launched.wait(10)
        device.launch("fill_indices", 1, stop)

    def launch():
        assert recording.wait(10)
        device.launch("fill_indices", 100, values)
        launched.set()

    other = threading.Thread(target=launch)
    other.start()
    device.loop(body, stop)
    other.join()
    assert values.download().tolist() == list(range(100))
    assert stop.download()[0] == 0, "the loop was recorded, not run"


def test_a_thread_that_does_not_run_holds_up_no_more_than_its_piece():
    """A launch on two threads, the second of which stops in its first piece until all other indices are done."""
    count, caller = 20_000, threading.get_ident()
    ranges, held = [], []
    stopped, others_are_done = threading.Event(), threading.Event()
    waited = []

    def work(begin: int, end: int, _: int) -> None:
        if threading.get_ident() != caller and not held:
            held.append((begin, end))
            stopped.set()
            waited.append(others_are_done.wait(20))
        elif begin == 0 and not stopped.is_set():  # once in a launch, which may run alone
            stopped.wait(0.001)  # the second thread needs a moment to wake up
        ranges.append((begin, end))
        if held and sum(last - first for first, last in ranges) == count - (held[0][1] - held[0][0]):
            others_are_done.set()

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(work)
    timed = library().host_timed(ctypes.cast(kernel, ctypes.c_void_p), 0)
    end = perf_counter() + 20
    while perf_counter() < end:  # a launch may end before the second thread has begun, or run alone
        library().host_launch(timed, count, b"", 2, 0.0)
        covered = sorted(ranges)
        assert [first for first, _ in covered] == [0, *(last for _, last in covered[:-1])] and covered[-1][1] == count
        if held:
            break
        ranges.clear()
    assert waited == [True]


def test_launches_run_alone_for_a_while_after_a_thread_that_did_not_run():
    """The second thread sleeps in its first piece; then the first works alone, many times as long, and tries again."""
    caller, others = threading.get_ident(), threading.Event()
    slept = 0.0

    def work(begin: int, end: int, _: int) -> None:
        nonlocal slept
        if threading.get_ident() != caller:
            others.set()
            if not slept:
                slept = 0.05
                sleep(slept)
        elif begin == 0 and not slept:  # once in a launch, which may run alone
            others.wait(0.001)  # the second thread needs a moment to wake up

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(work)
    timed = library().host_timed(ctypes.cast(kernel, ctypes.c_void_p), 0)

    def second_thread_comes(within: float) -> bool:
        others.clear()
        end = perf_counter() + within
        while perf_counter() < end:  # a launch may end before the second thread has begun
            library().host_launch(timed, 20_000, b"", 2, 0.0)
            if others.is_set():
                return True
        return False

    assert second_thread_comes(within=20)
    assert not second_thread_comes(within=10 * slept)
    assert second_thread_comes(within=20)


@needs(CXX)
def test_a_launch_that_finds_the_pool_taken_is_not_alone_although_it_begins_so(tmp_path):
    """Other threads may take part once the pool is free; kernels that took the first pieces for all of the launch lost
    the links of new triangles."""
    loaded = ctypes.CDLL(str(build(tmp_path, [HOST, ROOT / "tests" / "support" / "emulated" / "alone.cpp"])))
    loaded.kernel_works_alone.restype = ctypes.c_bool
    loaded.host_timed.restype = ctypes.c_void_p
    kernel_type = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)

    def launch(work, threads: int) -> None:
        kernel = kernel_type(work)
        timed = ctypes.c_void_p(loaded.host_timed(ctypes.cast(kernel, ctypes.c_void_p), 0))
        loaded.host_launch(timed, ctypes.c_int64(1000), b"", threads, ctypes.c_double(0))

    seen = []
    taken, free = threading.Event(), threading.Event()

    def hold(begin: int, end: int, _: int) -> None:
        taken.set()
        free.wait(20)

    holder = threading.Thread(target=launch, args=(hold, 2))

    def note(begin: int, end: int, _: int) -> None:
        seen.append((begin, end, loaded.kernel_works_alone()))
        if begin == 0 and not free.is_set():
            free.set()
            holder.join()
            sleep(0.005)  # longer than a launch works before it tries again to get the pool

    holder.start()
    assert taken.wait(20)
    launch(note, 2)
    assert free.is_set() and sum(end - begin for begin, end, _ in seen) == 1000
    assert len(seen) > 1 and not any(alone for *_, alone in seen)
    seen.clear()
    launch(note, 1)
    assert all(alone for *_, alone in seen)


def test_launch_counters_are_per_thread():
    device = open_device("cpu", 1)
    values = device.zeros(10, np.int32)
    device.launch("fill_indices", 10, values)
    with ThreadPoolExecutor(1) as worker:
        assert worker.submit(lambda: dict(device.launches)).result() == {}
    assert device.launches == {"fill_indices": 1}


def test_a_callback_may_refine_on_the_same_device(device_options):
    mesh, other = dmr.generate("random", 500, seed=1), dmr.generate("random", 300, seed=2)
    expected = dmr.refine(other, **device_options).mesh

    def progress(round_, bad, triangles):
        nested = dmr.refine(other, **device_options)
        assert np.array_equal(nested.mesh.triangles, expected.triangles)
        return round_ < 3

    done = dmr.refine(mesh, progress=progress, **device_options)
    alone = dmr.refine(mesh, progress=lambda round_, bad, triangles: round_ < 3, **device_options)
    assert np.array_equal(done.mesh.triangles, alone.mesh.triangles)
    assert done.host_processed == 0
    assert done.launches == alone.launches, "what a callback launches is not the outer refinement's"


def test_a_callback_may_wait_for_another_thread_that_uses_the_device(device_options):
    mesh = dmr.generate("random", 500, seed=1)
    expected = dmr.refine(mesh, **device_options).mesh
    with ThreadPoolExecutor(1) as worker:

        def size(points):
            found = worker.submit(dmr.refine, mesh, **device_options).result(30).mesh
            assert np.array_equal(found.triangles, expected.triangles)
            return np.full(len(points), 0.2)

        assert dmr.refine(mesh, max_edge=size, **device_options).complete


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork()")
def test_a_forked_child_searches_a_graph_that_another_thread_was_deriving_from():
    graph = static_graph.upload(static_graph.generate_rmat(1000, 5000, device="cpu"), "cpu", 2)
    expected = static_graph.bfs(graph, 0).distances
    deriving, forked = threading.Event(), threading.Event()

    def derive():
        def make():
            deriving.set()
            forked.wait(30)

        graph.derived("something", make)

    other = threading.Thread(target=derive)
    other.start()
    assert deriving.wait(30)
    child = os.fork()
    if child == 0:
        try:
            same = np.array_equal(static_graph.bfs(graph, 0, balance="split", mda=4).distances, expected)
            os._exit(0 if same else 1)
        except BaseException:
            os._exit(2)
    forked.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


AT_EXIT = """
import atexit, sys
from pathlib import Path
import dmr

mesh = dmr.generate("random", 40_000)
if sys.argv[2] == "again":
    dmr.measure(mesh)
    dmr.validate(mesh, threads=2)

@atexit.register
def last():
    fine = dmr.refine(mesh, device="cpu", threads=2).mesh
    dmr.write(Path(sys.argv[1]) / "x.ele", fine)
    print(dmr.measure(fine).triangles == len(fine.triangles), dmr.validate(fine, threads=2).ok)
"""


@pytest.mark.slow
@pytest.mark.parametrize("used", ["again", "first"])
def test_calls_in_an_atexit_handler_raised_runtime_errors(used, tmp_path):
    command = [sys.executable, "-c", AT_EXIT, str(tmp_path), used]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.ele", "x.node"]


class Slow:
    """Object with a cached property computed by a given function."""

    def __init__(self, compute):
        self._compute = compute

    @cached_property
    def value(self):
        return self._compute()


def test_cached_properties_of_different_objects_do_not_block_each_other():
    inside, leave = threading.Event(), threading.Event()
    slow, quick = Slow(lambda: (inside.set(), leave.wait(20))), Slow(lambda: 7)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert inside.wait(20)
    if hasattr(os, "fork"):  # former bug: a forked child waited forever for a thread that it does not have
        child = os.fork()
        if not child:
            signal.alarm(10)
            os._exit(quick.value)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    other = threading.Thread(target=lambda: quick.value, daemon=True)
    other.start()
    other.join(10)
    leave.set()
    thread.join()
    assert not other.is_alive() and vars(quick)["value"] == 7


def test_concurrent_cached_properties_give_the_same_array(capsys):
    mesh = dmr.generate("random", 20_000)
    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(lambda _: mesh.neighbours, range(8)))
    assert all(each is found[0] for each in found)


def test_output_of_other_threads_while_meshio_reads_was_lost(tmp_path, capsys, monkeypatch):
    dmr.write(tmp_path / "x.vtu", dmr.generate("random", 50))
    reader = sys.modules["meshio"].vtu.read

    def read(*arguments, **options):
        thread = threading.Thread(target=print, args=["of another thread"])
        thread.start()
        thread.join()
        print("of meshio")
        return reader(*arguments, **options)

    monkeypatch.setitem(sys.modules["meshio"]._helpers.reader_map, "vtu", read)
    dmr.read(tmp_path / "x.vtu")
    assert capsys.readouterr() == ("of another thread\n", "")
