"""Study of the graph engine: bodies by strategy, the effect of each option, the claims of the paper's template, and
strong components by step.

    python -m scripts.study.components --graphs rmat-gtgraph web-Stanford.txt.gz@21213 --device cuda
    python -m scripts.study.components --redraw study/components-h200.json     # the page again, no run

GRAPHS are those of scripts.bench.traversal: names of generated graphs, or files; "@NODE" gives the source of searches.

FOLDER gets NAME.json after each graph, and at the end NAME.csv and NAME.md, which is also printed. Exit code 5: two
strategies gave different results.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from typing import Any

from dmr.memory import open_device
from scripts.lib.traversals.inputs import GENERATED, Input, load
from scripts.study.common import Record, Study, add_common, add_runs, carried_out
from scripts.study.components import report, strong
from scripts.study.components.bodies import BODIES, CASES, Case
from scripts.study.files import say
from static_graph.graph.device_graph import DeviceGraph

DEFAULTS = ("rmat-thesis", "rmat-gtgraph", "rmat-graph500", "random")
STUDY = Study("components", "components 2", "inputs", report.to_markdown, report.to_csv, lambda record: {})


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code, 5 if results differ."""
    options = parser().parse_args(arguments)

    def work() -> int:
        given = sys.argv[1:] if arguments is None else arguments
        record = STUDY.redraw(options.redraw, options.name) if options.redraw else run(options, given)
        print(report.to_markdown(record, []), end="")
        return 5 if report.differing(record) else 0

    return carried_out("components", "graphs", work)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> Record:
    """Measures all cases on each graph. Writes the record after each graph, and the derived files at the end."""
    device = open_device(options.device, options.threads)
    record = STUDY.begin(device, options, arguments, [])
    for text in options.graphs:
        given = load(text)
        with device.lock, device.current:
            record["inputs"].append(measured(given, DeviceGraph.upload(given.graph, device), options.repeats))
        STUDY.keep(record, options.output)
    STUDY.draw(record, options.output)
    return record


def measured(given: Input, graph: DeviceGraph, repeats: int) -> Record:
    """Measures the bodies on a graph by every case."""
    rows: list[Record] = []
    for body in BODIES:
        for case in CASES:
            row = _row(graph, given.source, body, case, repeats)
            if row is not None:
                rows.append(row)
                say(f"{given.name}: {body}: {case.strategy}, {case.options}: {1e3 * min(row['seconds']):.3f} ms")
    return {
        "input": given.name,
        "nodes": given.graph.nodes,
        "edges": given.graph.edges,
        "source": given.source,
        "runs": rows,
        "strong": strong.measured(given.graph, graph, repeats),
    }


def _row(graph: DeviceGraph, source: int, body: str, case: Case, repeats: int) -> Record | None:
    """Runs a case once to warm up, and then `repeats` times; returns None if the body does not have the case."""
    results = [BODIES[body](graph, source, case) for _ in range(repeats + 1)]
    timed = [result for result in results[1:] if result is not None]
    if not timed:
        return None
    values, counts = timed[-1]
    seconds = [each.seconds for _, each in timed]
    figures: dict[str, Any] = {name: getattr(counts, name) for name in ("rounds", "expanded", "examined", "launches")}
    digest = hashlib.sha256(values.tobytes()).hexdigest()[:16]
    return {"body": body, "strategy": case.strategy, "options": case.options, "seconds": seconds, **figures,
            "sha256": digest}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--graphs", nargs="+", default=DEFAULTS, metavar="GRAPH",
        help=f"files, or {', '.join(GENERATED)}, rmat-N (default: {' '.join(DEFAULTS)})")  # fmt: skip
    add_common(found, "components-DEVICE")
    add_runs(found)
    return found


if __name__ == "__main__":
    sys.exit(main())
