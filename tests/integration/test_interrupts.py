"""Ctrl-C promptly ends every long call on the CPU, and later calls work."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.memory import open_device
from dmr.triangle import peer
from static_graph import rank
from tests.support.paths import ROOT

SOON = 2000  # milliseconds; a call takes about 50, but other processes may have the cores


def outcomes(folder, delay, scale):
    """Results of interrupted.py: name, milliseconds, whether a later refinement was right."""
    command = [sys.executable, str(ROOT / "tests" / "support" / "interrupted.py"), str(folder), str(delay), str(scale)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=500, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]


def check(found, calls):
    assert len(found) == calls
    assert not [name for name, milliseconds, _ in found if milliseconds is None]  # ended before the signal
    assert not [(name, milliseconds) for name, milliseconds, _ in found if milliseconds > SOON]
    assert all(right for *_, right in found)


@pytest.mark.slow
def test_ctrl_c_during_generate_and_every_other_long_call(tmp_path):
    check(outcomes(tmp_path, 0.1, 1), 31)


@pytest.mark.large
def test_ctrl_c_during_calls_that_take_minutes(tmp_path):
    check(outcomes(tmp_path, 2, 8), 31)


@pytest.mark.slow
def test_uncaught_ctrl_c_ends_the_process_by_sigint():
    program = "import dmr; m = dmr.generate('random', 200_000); print('ready', flush=True); dmr.refine(m, device='cpu')"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith(b"KeyboardInterrupt")


class Reminder(Exception):
    """Raised by a handler of signals."""


@pytest.fixture
def alarm():
    """Function that calls a handler after a number of seconds."""
    before = signal.getsignal(signal.SIGALRM)

    def after(seconds, handler):
        signal.signal(signal.SIGALRM, lambda *_: handler())
        signal.setitimer(signal.ITIMER_REAL, seconds)

    yield after
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def long_list(size=2**21):
    order = np.random.default_rng(1).permutation(size).astype(np.int32)
    successors = np.empty(size, np.int32)
    successors[order[:-1]], successors[order[-1]] = order[1:], order[-1]
    expected = np.empty(size, np.int32)
    expected[order] = np.arange(size)
    return successors, expected


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_of_a_signal_handler_leaves_a_launch(alarm, threads):
    successors, expected = long_list()

    def remind():
        raise Reminder

    alarm(0.02, remind)
    with pytest.raises(Reminder):
        for _ in range(100):
            rank(successors, method="wyllie", device="cpu", threads=threads)
    assert np.array_equal(rank(successors, method="wyllie", device="cpu", threads=threads), expected)


def test_a_signal_handler_may_launch_kernels_during_a_launch(alarm):
    successors, expected = long_list()
    device, found = open_device("cpu", 3), []

    def launch():
        numbers = device.empty(100_000, np.int32)
        device.launch("fill_indices", 100_000, numbers)
        found.append(numbers.download())
        if len(found) < 3:
            signal.setitimer(signal.ITIMER_REAL, 0.02)

    alarm(0.02, launch)
    while len(found) < 3:
        assert np.array_equal(rank(successors, method="wyllie", device="cpu", threads=3), expected)
    assert all(np.array_equal(numbers, np.arange(100_000)) for numbers in found)


def runs_of_triangle():
    """The child processes that run Triangle."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    found = []
    for child in children.read_text().split() if children.exists() else ():
        with suppress(FileNotFoundError):  # it has ended
            found += [child] * (b"import triangle" in Path(f"/proc/{child}/cmdline").read_bytes())
    return found


def test_ctrl_c_while_the_process_of_triangle_starts_leaves_no_process(monkeypatch):
    pytest.importorskip("triangle")
    start, started = subprocess.Popen._execute_child, []

    def interrupted(process, *arguments):
        start(process, *arguments)
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(peer, "_PROGRAM", peer._PROGRAM.replace("import numpy", "import time; time.sleep(60)"))
    monkeypatch.setattr(subprocess.Popen, "_execute_child", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dmr.triangulate(dmr.Pslg([[0, 0], [1, 0], [0, 1]], [[0, 1], [1, 2], [2, 0]]), mesher="triangle")
    assert started[0].wait(timeout=20) == 0


@pytest.mark.slow
@pytest.mark.skipif(not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="cannot list child processes")
def test_ctrl_c_ends_the_process_of_triangle(alarm):
    pytest.importorskip("triangle")
    points = np.random.default_rng(1).random((400_000, 2))
    raised = []

    def interrupt():
        if runs_of_triangle():
            raised.append(time.perf_counter())
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, 0.05)

    alarm(0.05, interrupt)
    with pytest.raises(KeyboardInterrupt):
        dmr.triangulate(dmr.Pslg(points, np.empty((0, 2), np.int32)), convex_hull=True, mesher="triangle")
    assert time.perf_counter() - raised[0] < SOON / 1000
    while runs_of_triangle():  # one that was still starting ends by itself
        assert time.perf_counter() - raised[0] < SOON / 1000
        time.sleep(0.01)


def test_a_swallowed_interrupt_is_raised_later():
    """Former bug: VTK ignores KeyboardInterrupt in a Python method, and `dmr view` exited with 0."""
    program = """
import contextlib, signal
from dmr.viewing.interrupts import keep_interrupt

signal.signal(signal.SIGINT, signal.default_int_handler)
before, after = signal.getsignal(signal.SIGINT), []
try:
    with keep_interrupt():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        after.append(1)
except KeyboardInterrupt:
    after.append(2)
assert after == [1, 2] and signal.getsignal(signal.SIGINT) is before
with keep_interrupt():
    pass
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("package", ["dmr", "static_graph"])
def test_an_interrupt_within_exec_ended_a_command_by_the_signal(package):
    program = f"""
import os, signal, sys
from {package}.cli import main
from dmr.common.command_line import program

def run(*_):
    exec("os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass", globals())

program._run = run
sys.argv = ["{package}", "info", "x"]
sys.exit(main())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, f"{package}: interrupted\n".encode())
