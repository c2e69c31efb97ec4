"""Runs kernels from several Python threads at once, and counts the results that equal those of one thread.

    python threads.py [LIBRARY]

LIBRARY is a build of the kernels to use instead of the installed one, under the thread sanitizer. In this case the
script does not fork, because the sanitizer does not support threads in a child of a multithreaded process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np

import dmr
from dmr.memory import argsort, open_device, scan
from dmr.memory.host import compiler
from static_graph import generate_random, rank
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.frontiers import direction_optimising, near_far
from tests.support.digests import digest

THREADS, ROUNDS = 4, 2
FORKED = ("scan", "refine", "breadth first")


def jobs():
    """Functions by name that return a digest, all on one device, one mesh and one graph."""
    device = open_device("cpu", 3)
    mesh = dmr.generate("random", 1200)
    graph = DeviceGraph.upload(generate_random(3000, 30000, weights=100, device="cpu"), device)
    keys = np.random.default_rng(2).integers(0, 1000, 40_000).astype(np.uint32)
    flags = device.array((keys % 3 == 0).astype(np.int32))
    successors = np.append(np.arange(1, 30_000, dtype=np.int32), 29_999)
    large = np.arange(2**20)

    def refine(**options):
        fine = dmr.refine(mesh, device="cpu", threads=3, max_steiner=1500, **options).mesh
        return digest(fine.vertices, fine.triangles)

    def search(scheme, weighted, one_launch):
        return digest(scheme.run(graph, [0, 1], weighted=weighted, one_launch=one_launch).distances.download())

    def copies():
        return digest(device.array(large).download())

    return {
        "refine": refine,
        "refine by the host": lambda: refine(marking="atomic"),
        "breadth first": lambda: search(direction_optimising, False, False),
        "breadth first in one launch": lambda: search(direction_optimising, False, True),
        "near far": lambda: search(near_far, True, False),
        "near far in one launch": lambda: search(near_far, True, True),
        "sort": lambda: digest(argsort(device.array(keys)).download()),
        "scan": lambda: digest(scan(flags).download()),
        "rank": lambda: digest(rank(successors, device="cpu", threads=3)),
        "copy": copies,
    }


def forked(job):
    """Runs a job in a forked child; returns its exit code, 0 if the result is the expected one."""
    name, function, expected = job
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # ends a deadlock
        os._exit(int(function() != expected[name]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(library=None):
    """Prints [job, runs, runs as expected] for each job, and the exit codes of children forked meanwhile."""
    if library is not None:
        compiler.LIBRARY = Path(library)
    sys.setswitchinterval(1e-4)
    work = jobs()
    expected = {name: function() for name, function in work.items()}
    found = {name: [] for name in work}

    def run(number):
        names = list(work)
        for turn in range(ROUNDS * len(names)):
            name = names[(turn + 3 * number) % len(names)]
            found[name].append(work[name]())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    codes = [forked((name, work[name], expected)) for name in FORKED] if library is None else []
    for thread in threads:
        thread.join()
    for name, digests in found.items():
        print(json.dumps([name, len(digests), digests.count(expected[name])]))
    print(json.dumps(["forked", codes]))


if __name__ == "__main__":
    main(*sys.argv[1:])
