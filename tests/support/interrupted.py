"""Interrupts long calls by SIGINT, and prints how each ended as a line of JSON.

    python interrupted.py FOLDER DELAY SCALE

Each line is [name of the call, milliseconds from the signal to its KeyboardInterrupt (null if there was none), whether
a refinement after it gave the right mesh]. SIGINT comes DELAY seconds after the start of a call; SCALE enlarges the
inputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

import dmr
import static_graph
from static_graph.traversal.schemes.table import BALANCES

SMALL = dmr.generate("random", 2000)


def small_mesh(threads=2):
    """Digest of a small refinement."""
    fine = dmr.refine(SMALL, device="cpu", threads=threads).mesh
    return hashlib.sha256(fine.vertices.tobytes() + fine.triangles.tobytes()).hexdigest()


def outlines(scale, random):
    """Yields outlines: points, and segments that cross each other."""
    points = random.random((1_500_000 * scale, 2))
    yield "triangulate points", dmr.Pslg(points, np.empty((0, 2), np.int32))
    ends = random.random((40_000 * scale, 2))
    both = np.concatenate([ends, ends + random.normal(size=ends.shape) * 0.02])
    yield "triangulate segments", dmr.Pslg(both, np.arange(2 * len(ends)).reshape(2, -1).T)


def refinements(scale):
    """Yields refinements: device-driven, host-driven, and with kernels whose threads wait for each other."""
    mesh = dmr.generate("random", 400_000 * scale)
    options = {"device": {}, "host": {"loop": "host"}, "barrier": {"marking": "three-phase-barrier"}}
    for threads in (1, 2):
        for name, more in options.items():
            yield f"refine {name} {threads}", partial(dmr.refine, mesh, device="cpu", threads=threads, **more)


def files(folder, scale):
    """Yields reading and writing, repeated so that they take long."""
    mesh = dmr.generate("random", 100_000)
    times = range(60 * scale)
    dmr.write(folder / "a.ele", mesh)
    yield "read", lambda: [dmr.read(folder / "a.ele") for _ in times]
    yield "write", lambda: [dmr.write(folder / "b.ele", mesh, overwrite=True) for _ in times]


def lists_and_graphs(scale, random):
    """Yields rankings and searches on a long list and path in random order, so that every step is a cache miss."""
    size = 2**23 * scale
    order = random.permutation(size).astype(np.int32)
    successors = np.empty(size, np.int32)
    successors[order[:-1]], successors[order[-1]] = order[1:], order[-1]
    for method in ("sequential", "helman-jaja", "wyllie"):
        times = range(2 if method == "sequential" else 10)
        call = partial(static_graph.rank, successors, method=method, device="cpu", threads=2)
        yield f"rank {method}", lambda call=call, times=times: [call() for _ in times]
    nodes = 10**6 * scale
    path = random.permutation(nodes).astype(np.int32)
    source, weights = int(path[0]), np.ones(nodes - 1, np.int32)
    graph = static_graph.CsrGraph.from_edges(path[:-1], path[1:], weights, nodes)
    for threads, search in ((1, static_graph.sssp), (2, static_graph.bfs)):
        for balance in BALANCES:
            call = partial(search, graph, source, device="cpu", threads=threads, balance=balance)
            yield f"{search.__name__} {balance} {threads}", lambda call=call: [call() for _ in range(5)]
    yield "generate rmat", partial(static_graph.generate_rmat, 10**6, 10**7 * scale, device="cpu")


def calls(folder, scale):
    """Yields (name, a call that takes long)."""
    random = np.random.default_rng(1)
    yield "generate", partial(dmr.generate, "random", 2_000_000 * scale)
    yield from refinements(scale)
    for name, outline in outlines(scale, random):
        yield name, partial(dmr.triangulate, outline, convex_hull=True)
    yield from files(folder, scale)
    yield from lists_and_graphs(scale, random)


def interrupt(call, delay):
    """Milliseconds from a signal in a call to the call's end; None if it ended before the signal."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    timer.start()
    ended = False
    try:
        call()
        ended = True
        timer.join()
        time.sleep(1)  # waits for the signal
    except KeyboardInterrupt:
        return None if ended else round(1000 * (time.perf_counter() - sent[0]))


def main(folder, delay, scale):
    """Prints the outcomes."""
    expected = small_mesh()
    for name, call in calls(Path(folder), int(scale)):
        milliseconds = interrupt(call, float(delay))
        print(json.dumps([name, milliseconds, small_mesh() == expected]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
