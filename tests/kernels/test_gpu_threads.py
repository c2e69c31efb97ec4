"""The contract for threads (docs/guide/threads.md) on a GPU, by programs that must exit with 0 and print nothing."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from dmr.memory import devices
from tests.support.paths import ROOT
from tests.support.stress import stress

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

BEGIN = """
import gc, os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import dmr, static_graph

mesh = dmr.generate("random", 3000, seed=1)
graph = static_graph.generate_rmat(2000, 9000, device="cpu")
expected = dmr.refine(mesh, device="cpu").mesh

def refine():
    found = dmr.refine(mesh, device="cuda").mesh
    assert np.array_equal(found.triangles, expected.triangles)
    assert np.array_equal(found.vertices, expected.vertices)

def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""

PROGRAMS = {
    "a thread that ends, alone": "in_thread(refine)",
    "a thread that ends, after the main thread": "refine()\nin_thread(refine)\nrefine()",
    "a pool of four threads": """
        with ThreadPoolExecutor(4) as workers:
            list(workers.map(lambda _: refine(), range(8)))
    """,
    "a graph of a thread that has ended": """
        box = []
        in_thread(lambda: box.append(static_graph.upload(graph, "cuda")))
        wanted = static_graph.bfs(graph, 0, device="cpu").distances
        assert np.array_equal(static_graph.bfs(box[0], 0).distances, wanted)
        in_thread(box.clear)
        gc.collect()
        kept = static_graph.upload(graph, "cuda")
        static_graph.bfs(kept, 0, balance="none")
    """,
    "contexts of PyTorch": """
        torch = pytest.importorskip("torch")
        ones = torch.ones(1000, device="cuda")
        refine()
        assert (ones + 1).sum().item() == 2000

        def both():
            mine = torch.ones(1000, device="cuda")
            refine()
            assert (mine + ones).sum().item() == 2000

        for _ in range(3):
            in_thread(both)
    """,
    "contexts of CuPy": """
        refine()
        cupy = pytest.importorskip("cupy")
        numbers = cupy.arange(10)
        refine()
        assert int(numbers.sum()) == 45
        from dmr.memory import open_device
        assert cupy.asarray(open_device("cuda").array(np.arange(5, dtype=np.int32))).tolist() == [0, 1, 2, 3, 4]
    """,
    "contexts of PyCUDA's own": """
        import pycuda.autoinit
        import pycuda.driver as driver
        before = driver.Context.get_current()
        refine()
        assert driver.Context.get_current() == before
    """,
    "no context stays current": """
        import pycuda.driver as driver
        refine()
        static_graph.bfs(static_graph.upload(graph, "cuda"), 0)
        assert driver.Context.get_current() is None
    """,
    "an exception in a callback": """
        def raises(*numbers):
            raise ZeroDivisionError
        for _ in range(3):
            try:
                dmr.refine(mesh, device="cuda", progress=raises)
            except ZeroDivisionError:
                pass
            refine()
    """,
    "ctrl-c": """
        # Python reports an interrupt that it has ignored in a `__del__`; the interrupt is then sent again.
        sys.unraisablehook = lambda it: it.exc_type is KeyboardInterrupt or sys.__unraisablehook__(it)
        large = dmr.generate("random", 500_000, seed=1)
        dmr.refine(large, device="cuda")
        for wait in (0.01, 0.03, 0.1, 0.3):
            ended, sent = threading.Event(), []

            def interrupt():
                while not ended.wait(2 if sent else wait):
                    sent.append(time.monotonic())
                    os.kill(os.getpid(), signal.SIGINT)

            sender = threading.Thread(target=interrupt)
            sender.start()
            try:
                while True:
                    dmr.refine(large, device="cuda")
            except KeyboardInterrupt:
                late = time.monotonic() - sent[-1]
                ended.set()
                assert late < 1 and len(sent) < 4, (late, sent)
            sender.join()
            refine()
    """,
    "ctrl-c in a search of many levels": """
        path = static_graph.CsrGraph(np.minimum(np.arange(3_000_001), 2_999_999), np.arange(1, 3_000_000))
        uploaded = static_graph.upload(path, "cuda")
        for balance in ("auto", "none"):
            static_graph.bfs(uploaded, 2_999_990, balance=balance)
            threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
            begun = time.monotonic()
            try:
                static_graph.bfs(uploaded, 0, balance=balance)
            except KeyboardInterrupt:
                assert time.monotonic() - begun < 1.5
            else:
                raise AssertionError("it was too fast to be interrupted")
            assert static_graph.bfs(uploaded, 2_999_990, balance=balance).distances[-1] == 9
    """,
    "a search that takes many slices of time": """
        path = static_graph.CsrGraph(np.minimum(np.arange(200_001), 199_999), np.arange(1, 200_000))
        found = static_graph.bfs(static_graph.upload(path, "cuda"), 0)
        assert np.array_equal(found.distances, np.arange(200_000)) and found.seconds["rounds"] > 0.1
    """,
}

# While a thread holds one GPU, another one gets through on the other; then both at once, with each other's graphs.
TWO_GPUS = """
from dmr.memory import open_device
numbers = ("cuda:0", "cuda:1")
wanted = static_graph.bfs(graph, 0, device="cpu").distances
graphs = [static_graph.upload(graph, number) for number in numbers]

def refine_on(number):
    found = dmr.refine(mesh, device=number)
    assert found.device.startswith(number), found.device
    assert np.array_equal(found.mesh.triangles, expected.triangles)
    assert np.array_equal(found.mesh.vertices, expected.vertices)

for held, free in (numbers, numbers[::-1]):
    with ThreadPoolExecutor(1) as worker, open_device(held).lock:
        worker.submit(refine_on, free).result(timeout=60)

def both(turn):
    refine_on(numbers[turn % 2])
    for uploaded in graphs:
        assert np.array_equal(static_graph.bfs(uploaded, 0).distances, wanted)

with ThreadPoolExecutor(4) as workers:
    list(workers.map(both, range(16)))
"""

FORKED = """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # CPython's own, about fork() and threads
refine()
uploaded = static_graph.upload(graph, "cuda")
child = os.fork()
if child == 0:
    for call in (lambda: dmr.refine(mesh, device="cuda"), lambda: static_graph.bfs(uploaded, 0)):
        try:
            call()
        except dmr.DmrError as error:
            assert type(error).__name__ == "DeviceUnavailableError" and "spawn" in str(error), error
        else:
            raise AssertionError("the GPU was used in a forked child")
    assert np.array_equal(dmr.refine(mesh, device="cpu").mesh.triangles, expected.triangles)
    assert np.array_equal(dmr.refine(mesh).mesh.triangles, expected.triangles)
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
refine()
"""

SPAWNED = """
def size(n):
    return len(dmr.refine(dmr.generate("random", n, seed=1), device="cuda").mesh.triangles)

if __name__ == "__main__":
    import multiprocessing
    first = size(2000)
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        assert workers.map(size, [2000, 2000]) == [first, first]
"""


def run(program, tmp_path):
    """Runs a program after `BEGIN`; it must end with 0 and say nothing."""
    path = tmp_path / "program.py"
    path.write_text(BEGIN + program)
    done = subprocess.run([sys.executable, path], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_end_without_error(name, tmp_path):
    run("import pytest\n" + textwrap.dedent(PROGRAMS[name]), tmp_path)


def test_a_forked_child_can_use_only_the_cpu(tmp_path):
    run(FORKED, tmp_path)


def test_a_spawned_child_uses_the_gpu(tmp_path):
    run(SPAWNED, tmp_path)


def test_two_gpus_work_side_by_side(tmp_path):
    if sum(device.usable for device in devices() if device.name.startswith("cuda:")) < 2:
        pytest.skip("needs two GPUs")
    run(TWO_GPUS, tmp_path)


def test_many_threads_on_a_gpu_get_the_results_of_one():
    pytest.importorskip("dask")  # one of the callers
    done = stress("--device", "cuda", "--seconds", "10", "--leaks")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
