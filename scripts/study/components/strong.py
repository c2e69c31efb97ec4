"""Strong components by method and balance, with the seconds of each step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from scripts.lib.markdown import table
from static_graph.components.connecting import connected_components
from static_graph.engine.loop import STRATEGIES
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph

Record = dict[str, Any]

SERIAL = "one thread of the CPU"
# The rows of the study: what the paper calls baseline, ML and MG is Multistep by three of the balances.
WAYS: Mapping[str, Mapping[str, str]] = {
    **{f"multistep, {balance}": {"method": "multistep", "balance": balance} for balance in STRATEGIES},
    "auto": {},
    SERIAL: {"method": "sequential", "device": "cpu"},
}
STEPS = ("trim", "search", "colours", "pivot", "forward", "backward", "finish")
OUTSIDE = ("upload", "prepare", "download")  # laps that are not of the method


def measured(host: CsrGraph, graph: DeviceGraph, repeats: int) -> list[Record]:
    """Finds the strong components in every way, once to warm up, and then `repeats` times."""
    rows = []
    for name, options in WAYS.items():
        where: CsrGraph | DeviceGraph = host if "device" in options else graph
        runs = [connected_components(where, connection="strong", **options) for _ in range(repeats + 1)][1:]  # type: ignore[arg-type]
        middle = sorted(runs, key=lambda run: sum_of(run.seconds))[len(runs) // 2]
        rows.append(
            {
                "way": name,
                "seconds": [sum_of(run.seconds) for run in runs],
                "steps": {step: time for step, time in middle.seconds.items() if step not in OUTSIDE},
                "rounds": middle.rounds,
                "figures": middle.figures,
                "count": middle.count,
                "sha256": hashlib.sha256(middle.labels.tobytes()).hexdigest()[:16],
            }
        )
    return rows


def sum_of(seconds: Mapping[str, float]) -> float:
    """Returns the seconds of the method itself, without transfers."""
    return sum(time for name, time in seconds.items() if name not in OUTSIDE)


def differing(inputs: Sequence[Record]) -> list[str]:
    """Returns the graphs and ways whose labels differ from the first way's."""
    return [
        f"{given['input']}: strong components, {row['way']}"
        for given in inputs
        for row in given["strong"]
        if row["sha256"] != given["strong"][0]["sha256"]
    ]


def by_step(study: Record) -> str:
    """Milliseconds of each way and step, and the time of one thread over it."""
    body = []
    for given in study["inputs"]:
        serial = next(median(row["seconds"]) for row in given["strong"] if row["way"] == SERIAL)
        for row in given["strong"]:
            total = median(row["seconds"])
            steps = [f"{1000 * row['steps'][step]:.2f}" if step in row["steps"] else "" for step in STEPS]
            cells = [f"{row['count']:,}", f"{row['rounds']:,}", f"{1000 * total:.2f}", *steps, f"{serial / total:.1f}"]
            body.append([given["input"], row["way"], *cells])
    return table(["graph", "method", "components", "rounds", "ms", *STEPS, "speed-up over one thread"], body)
