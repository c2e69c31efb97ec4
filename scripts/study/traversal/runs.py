"""Runs the cases of the study on one graph: a warm-up, timed runs, and a comparison of the distances.

The results are plain data, as stored in the study's JSON. Times are in seconds and cover the rounds alone, without
transfers, the making of split graphs and the recording of loops.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device
from scripts.lib.traversals.inputs import Input
from scripts.lib.traversals.sources import largest_component, structure
from scripts.study.traversal.cases import BASE, PARTS, SCHEMES, SEARCHED, Case, cases
from static_graph.graph.csr import CsrGraph
from static_graph.graph.degrees import automatic_mda, degree_distribution
from static_graph.graph.device_graph import DeviceGraph
from static_graph.traversal.schemes import fixed_point, node_splitting
from static_graph.traversal.schemes.outcome import Outcome
from static_graph.traversal.schemes.timeline import BlockColumn, Timeline

ALGORITHMS = {"bfs": False, "sssp": True}  # whether weights count
TIMELINE_CAPACITY = 2**21
SEARCHES = 16  # number of sources over which GTEPS are averaged
COMPARED = 4  # number of these sources whose distances are compared over all schemes
ENOUGH = 1.0  # seconds after which a case is not repeated


def run_input(
    given: Input, parts: Sequence[str], device: Device, repeats: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Runs the cases of some parts of the study.

    Args:
        given: the graph; parts: of `PARTS`, "timeline" and "gteps"; device: the device; repeats: timed runs per case.
        say: called with progress messages.

    Returns:
        The graph's part of the study. "sha256" of a case are digests of its distances; "agrees" is false if they
        differ from the first case's.
    """
    graph, started = given.graph, datetime.now(timezone.utc).isoformat(timespec="seconds")
    on_device = DeviceGraph.upload(graph, device)
    say(f"{given.name}: {graph.nodes:,} nodes, {graph.edges:,} edges, from node {given.source}")
    swept = [part for part in parts if part in PARTS]
    record: dict[str, Any] = {
        "input": given.name,
        "date": started,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "largest_degree": int(graph.out_degrees.max()),
        "automatic_mda": automatic_mda(graph),
        "source": given.source,
        "reached": {},
        "runs": [],
    }
    if "mda" in parts:
        distribution = degree_distribution(graph.out_degrees)
        record["degrees"] = [[int(degree), int(distribution[degree])] for degree in np.flatnonzero(distribution)]
    if "warps" in parts:
        record["cpu_seconds"] = _on_one_core(graph, given.source)
    for algorithm in ALGORITHMS if swept else ():
        expected = None
        for case in cases(swept, graph):
            run, digest, reached = _run_case(case, on_device, given.source, algorithm, repeats)
            if expected is None:
                expected = digest
                edges = int(graph.out_degrees[reached].sum())
                record["reached"][algorithm] = {"nodes": int(reached.sum()), "edges": edges}
            run |= {"sha256": digest, "agrees": digest == expected}
            record["runs"].append(run)
            say(f"{given.name}: {algorithm}: {case.scheme} {dict(case.options)}: {1e3 * min(run['seconds']):.3f} ms")
    if "timeline" in parts:
        record["timeline"] = timelines(on_device, given.source)
    if "gteps" in parts:
        record["gteps"] = searches(given, on_device, say)
    return record


def _run_case(
    case: Case, graph: DeviceGraph, source: int, algorithm: str, repeats: int
) -> tuple[dict[str, Any], str, NDArray[np.bool_]]:
    """Runs a case; returns its record, a digest of its distances, and a mask of the reached nodes."""
    seconds: list[float] = []
    spent = 0.0
    for turn in range(repeats + 1):
        outcome = SCHEMES[case.scheme](graph, [source], weighted=ALGORITHMS[algorithm], **case.options)
        spent += outcome.seconds
        if turn:
            seconds.append(outcome.seconds)
            if spent > ENOUGH:
                break
    distances = outcome.distances.download()
    graph.forget()
    record = {
        "algorithm": algorithm,
        "scheme": case.scheme,
        "options": dict(case.options),
        "seconds": seconds,
        "rounds": outcome.rounds,
        "relaxed": outcome.relaxed,
        "launches": outcome.launches,
        "figures": outcome.figures,
    }
    reached = np.isfinite(distances) & (distances >= 0)
    return record, _digest(distances), reached


def _digest(distances: NDArray[Any]) -> str:
    """SHA-256 of the distances of all nodes."""
    return hashlib.sha256(np.ascontiguousarray(distances).data).hexdigest()


def _on_one_core(graph: CsrGraph, source: int) -> float:
    """Seconds of scipy's breadth-first search, because Hong et al. compare with one CPU thread."""
    from scipy.sparse.csgraph import breadth_first_order

    matrix = structure(graph)
    for _ in range(2):  # the first run is a warm-up
        begun = perf_counter()
        breadth_first_order(matrix, source, return_predecessors=False)
        seconds = perf_counter() - begun
    return seconds


def searches(given: Input, graph: DeviceGraph, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Measures GTEPS of each case and search from `SEARCHES` nodes of the largest component.

    Each source has one timed run after a warm-up; GTEPS count the arcs of the reached nodes
    (`scripts/lib/traversals/sources.py`). The distances from the first `COMPARED` sources are compared over all cases.
    """
    component = largest_component(graph)
    sources, found = component.draw(SEARCHES, seed=0), []
    expected: dict[str, list[str]] = {}
    for case in SEARCHED:
        for algorithm, weighted in ALGORITHMS.items():
            run = SCHEMES[case.scheme]
            speeds, digests = [], []
            for place, source in enumerate(sources):
                run(graph, [source], weighted=weighted, **case.options)
                outcome = run(graph, [source], weighted=weighted, **case.options)
                speeds.append(component.edges / outcome.seconds / 1e9)
                if place < COMPARED:
                    digests.append(_digest(outcome.distances.download()))
            agrees = digests == expected.setdefault(algorithm, digests)
            found.append(
                {"algorithm": algorithm, "scheme": case.scheme, "options": dict(case.options), "gteps": speeds,
                 "sha256": digests, "agrees": agrees}
            )  # fmt: skip
            say(f"{given.name}: {algorithm}: {case.scheme} {dict(case.options)}: {np.mean(speeds):.3f} GTEPS")
    graph.forget()
    return found


def timelines(graph: DeviceGraph, source: int) -> dict[str, Any]:
    """Timelines of the blocks of a breadth-first search: the baseline, and nodes split by the histogram's MDA.

    Both show the same round, the one that takes the baseline longest (in the first round only the source has work), on
    all processors: columns of the processor, and of the start and end in nanoseconds from the start of the round.
    """
    schemes = {"none": fixed_point.run, "split": node_splitting.run}
    recorded = {name: _recorded(graph, source, run) for name, run in schemes.items()}
    spans = {which: _span(lines) for which, lines in recorded["none"].items() if which in recorded["split"]}
    shown = max(spans, key=lambda which: spans[which])
    graph.forget()
    return {name: {"round": shown, **_timeline(lines[shown])} for name, lines in recorded.items()}


def _recorded(graph: DeviceGraph, source: int, run: Callable[..., Outcome]) -> dict[int, NDArray[np.int64]]:
    """Records of the blocks of a search, by round; the second of two runs."""
    for _warm in (False, True):
        timeline = Timeline(graph.device, TIMELINE_CAPACITY)
        run(graph, [source], weighted=False, atomic=BASE.options["atomic"], timeline=timeline)
    lines = timeline.lines()
    return {int(which): lines[lines[:, BlockColumn.ROUND] == which] for which in np.unique(lines[:, BlockColumn.ROUND])}


def _span(lines: NDArray[np.int64]) -> int:
    """Nanoseconds from the first begin to the last end of the blocks of a round."""
    return int(np.ptp(lines[:, [BlockColumn.BEGUN, BlockColumn.ENDED]]))


def _timeline(lines: NDArray[np.int64]) -> dict[str, Any]:
    """The blocks of a round, by processor and begin, and figures of their durations."""
    lines = lines[np.lexsort((lines[:, BlockColumn.BEGUN], lines[:, BlockColumn.PROCESSOR]))]
    first = lines[:, BlockColumn.BEGUN].min()
    processors, begun, ended = (
        lines[:, BlockColumn.PROCESSOR], lines[:, BlockColumn.BEGUN] - first, lines[:, BlockColumn.ENDED] - first,
    )  # fmt: skip
    lasting = ended - begun
    ends = [int(ended[processors == which].max()) for which in np.unique(processors)]
    return {
        "nanoseconds": _span(lines),
        "blocks": len(lines),
        "block_nanoseconds": {"mean": float(lasting.mean()), "largest": int(lasting.max())},
        "processor_ends": {"first": min(ends), "mean": float(np.mean(ends)), "last": max(ends)},
        "processor": processors.tolist(),
        "begun": begun.tolist(),
        "ended": ended.tolist(),
    }
