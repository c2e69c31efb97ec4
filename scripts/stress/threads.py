"""Calls both packages from many threads at once, and compares every result with that of a single thread.

    python -m scripts.stress.threads --device cpu --seconds 60
    python -m scripts.stress.threads --device cuda --seconds 60 --leaks

Short-lived threads, a thread pool, `asyncio.to_thread` and Dask's threaded scheduler make the same calls on one mesh
and one uploaded graph; callbacks raise; Ctrl-C interrupts the main thread. The exit code is 0 if nothing went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import FrameType
from typing import Any

import dmr
from scripts.stress.calls import Calls

SWITCH_SECONDS = 1e-4  # Python's thread switch interval: a fiftieth of the default
EXACT = 24  # calls per batch of a scheduler
LEAK_THREADS = 1000
LEAK_BYTES = 2**26  # allowed loss of free device memory, for blocks of the pool and of the driver


class Stress:
    """Calls, their single-threaded results, and the failures so far."""

    def __init__(self, device: str, threads: int, seed: int) -> None:
        self.calls = Calls(device)
        self.threads = threads
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.failures: list[str] = []
        self._expected = {name: call() for name, call in self.calls.by_name.items()}

    def check(self, name: str) -> None:
        """Makes a call and compares its result."""
        try:
            found = self.calls.by_name[name]()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.failures.append(f"{name}: {type(error).__name__}: {error}")
            return
        if found != self._expected[name]:
            self.failures.append(f"{name}: another result than in a single thread")
        self.done[name] += 1

    def chosen(self, count: int) -> list[str]:
        """Draws random names of calls."""
        return self.random.choices(list(self.calls.by_name), k=count)

    # ---- Callers ------------------------------------------------------------------------------------------------

    def threads_that_end(self) -> None:
        """Makes each call in a new thread."""
        for _ in range(EXACT // self.threads):
            started = [threading.Thread(target=self.check, args=[name]) for name in self.chosen(self.threads)]
            for thread in started:
                thread.start()
            for thread in started:
                thread.join()

    def pool(self) -> None:
        """Makes calls in a thread pool."""
        with ThreadPoolExecutor(self.threads) as workers:
            list(workers.map(self.check, self.chosen(EXACT)))

    def asyncio_threads(self) -> None:
        """Makes calls with `asyncio.to_thread`."""

        async def all_of_them() -> None:
            await asyncio.gather(*(asyncio.to_thread(self.check, name) for name in self.chosen(EXACT)))

        asyncio.run(all_of_them())

    def dask(self) -> None:
        """Makes calls with Dask's threaded scheduler."""
        dask: Any = import_module("dask")
        calls = [dask.delayed(self.check, pure=False)(name) for name in self.chosen(EXACT)]
        dask.compute(*calls, scheduler="threads", num_workers=self.threads)

    def one_graph(self) -> None:
        """Searches the shared uploaded graph from all threads."""
        searches = [name for name in self.calls.by_name if name.startswith(("bfs", "sssp"))]
        with ThreadPoolExecutor(self.threads) as workers:
            list(workers.map(self.check, self.random.choices(searches, k=4 * EXACT)))

    def interrupted(self) -> None:
        """Interrupts calls of the main thread while other threads continue; later calls must still be correct."""
        with ThreadPoolExecutor(2) as workers, Interrupts(self.random) as interrupts:
            others = [workers.submit(self.check, name) for name in self.chosen(6)]
            for name in self.chosen(8):
                interrupts.during(lambda name=name: self.check(name))  # type: ignore[misc]
            for other in others:
                other.result()
        for name in self.chosen(2):
            self.check(name)

    def callbacks_that_wait(self) -> None:
        """Refines with a progress callback that waits for another thread's call on the same device."""
        with ThreadPoolExecutor(1) as worker:

            def waits(round_: int, bad: int, triangles: int) -> None:
                if round_ <= 2:
                    worker.submit(self.check, "refine, default").result()

            found = self.calls.refined(progress=waits)
        if found != self._expected["refine, default"]:
            self.failures.append("a refinement whose callback waits for another thread: another result")

    def run(self, seconds: float) -> None:
        """Runs all kinds of callers in turn until the time is over."""
        kinds: Sequence[Callable[[], None]] = (
            self.threads_that_end, self.one_graph, self.pool, self.asyncio_threads, self.dask, self.interrupted,
            self.callbacks_that_wait,
        )  # fmt: skip
        end, turn = time.monotonic() + seconds, 0
        while (time.monotonic() < end or turn < len(kinds)) and not self.failures:
            kinds[turn % len(kinds)]()
            turn += 1


class Interrupts:
    """Sends SIGINT to the main thread at random moments, but only during calls meant to be interrupted."""

    def __init__(self, numbers: random.Random) -> None:
        self._random = numbers
        self._open = False

    def __enter__(self) -> Interrupts:
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._open:
            self._open = False
            raise KeyboardInterrupt

    def during(self, call: Callable[[], None]) -> None:
        """Makes a call, with one interrupt after up to 50 ms."""
        timer = threading.Timer(0.05 * self._random.random(), os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        try:
            self._open = True
            call()
            self._open = False
        except KeyboardInterrupt:
            pass
        timer.join()


def leaked(calls: Calls) -> int:
    """Bytes of device memory lost after 1,000 threads, each of which refined a mesh and ended."""
    from dmr.memory.cuda.device import cuda_device

    device = cuda_device(int(calls.device.partition(":")[2] or 0))
    before = 0
    for number in range(LEAK_THREADS + 10):
        if number == 10:  # the first ones fill the pool
            before = device.free_memory()
        thread = threading.Thread(target=calls.by_name["refine, default"])
        thread.start()
        thread.join()
    return before - device.free_memory()


def main() -> int:
    """Runs the test; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    parser.add_argument("--seconds", type=float, default=60, help="duration (default: 60)")
    parser.add_argument("--threads", type=int, default=8, help="Python threads (default: 8)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of the calls")
    parser.add_argument("--leaks", action="store_true", help=f"also {LEAK_THREADS:,} threads and a GPU's free memory")
    options = parser.parse_args()

    sys.setswitchinterval(SWITCH_SECONDS)
    stress = Stress(options.device, options.threads, options.seed)
    stress.run(options.seconds)
    print(f"{stress.done.total():,} calls of {len(stress.done)} kinds on {options.device}, dmr {dmr.__version__}")
    if options.leaks:
        lost = leaked(stress.calls)
        print(f"{LEAK_THREADS:,} threads: {lost / 2**20:.1f} MiB of the card less")
        if lost > LEAK_BYTES:
            stress.failures.append(f"{lost} bytes of the card's memory are gone")
    for failure in stress.failures:
        print(failure, file=sys.stderr)
    return 1 if stress.failures else 0


if __name__ == "__main__":
    sys.exit(main())
