"""Study of list ranking: every method of the slides by size, kind of list and splitters, trees, and the cost model.

    python -m scripts.study.lists                                     # up to 2^20 elements, on any machine
    python -m scripts.study.lists --device cuda --largest 27          # 2^10 to 2^27, as the committed results
    python -m scripts.study.lists --device cuda --parts trees model
    python -m scripts.study.lists --redraw study/lists-h200.json      # tables and pictures again, no run

PARTS: sizes (time against size for every method, with the sequential pass and a random gather), ordered (ordered lists,
with the scan to which their ranking reduces), kinds (ordered, ordered unbalanced, random balanced, random), splitters
(their number and spacing, the finish), trees (Euler tours of up to an eighth as many nodes, with their breakdown),
model (predicted and measured times). Each case has a warm-up and the timed runs; the sequential pass runs once from
2^22 elements on. Times exclude transfers and the check of the list, which has a separate column.

FOLDER gets NAME.json (everything) after each part, and at the end NAME.csv, pictures and NAME.md, which compares the
slides' figures with the measured ones; after an interrupted run, --redraw makes them from the saved parts. The page is
also printed. Random lists are made once for all parts, which takes 32 bytes per element of the largest. Needs
matplotlib, which comes with the extra [view]. Exit code 5: a method found other ranks than the sequential pass.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, OptionError, open_device
from scripts.lib.list_measuring import MeasuredLists, gathered, scanned
from scripts.lib.measuring import positive
from scripts.study.common import Record, Study, add_common, add_parts
from scripts.study.files import say
from scripts.study.lists import plots as lists_plots
from scripts.study.lists import report as lists_report
from static_graph import euler_tour, generate_tree
from static_graph.lists import cost_model
from static_graph.lists.kinds import KINDS
from static_graph.lists.methods.table import FINISHES, RULES, SPACINGS
from static_graph.trees.kinds import KINDS as TREE_KINDS

FORMAT = "lists 2"  # version of the JSON format; increased by incompatible changes
SMALLEST, LARGEST = 10, 30  # log2 of the smallest size, and of the largest possible one
SHORT = 2**16  # elements from which on 32 bits are too few
INTERVALS = (8, 16, 32, 64, 128, 256)  # elements per splitter
FINISH_SIZES = (1, 2**7, 2**12, 2**15)
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("wyllie", {}),
    ("wyllie", {"packing": 32}),
    ("lock-step", {}),
    ("on-demand", {}),
    ("helman-jaja", {}),
)
STUDY = Study("lists", FORMAT, "parts", lists_report.to_markdown, lists_report.to_csv, lists_plots.pictures)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code, 5 if ranks differ."""
    return STUDY.main(parser(), arguments, run, lists_report.agree)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> Record:
    """Measures the chosen parts. Writes the record after each part, and the derived files at the end."""
    if options.largest > LARGEST:
        raise OptionError(f"--largest {options.largest}: lists have up to 2^{LARGEST} elements")
    device = open_device(options.device, options.threads)
    record = STUDY.begin(device, options, arguments, {})
    lists = MeasuredLists(device, options.repeats)
    for part in dict.fromkeys(options.parts):
        rows = record["parts"].setdefault(part, [])
        for row in PARTS[part](lists, options.largest):
            rows.append(row)
            say(f"{part}: {told(row)}")
        STUDY.keep(record, options.output)
    STUDY.draw(record, options.output)
    return record


def sizes(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Times every method on random lists, by size."""
    device, repeats = lists.device, lists.repeats
    for log_size in range(min(SMALLEST, largest), largest + 1):
        size = 2**log_size
        given = lists.of("random", size)
        common = {
            "size": size,
            "gather": gathered(device, size, repeats),
            "check": median(given.check),
            "sequential": median(given.in_sequence.seconds),
        }
        for method, own in METHODS:
            if own.get("packing") != 32 or size < SHORT:
                yield {**common, **lists.row(given, method, own)}


def ordered(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Times ordered lists, which a scan could rank, by size."""
    for log_size in range(min(SMALLEST, largest), largest + 1):
        size = 2**log_size
        given = lists.of("ordered", size)
        common = {
            "size": size,
            "scan": scanned(lists.device, size, lists.repeats),
            "sequential": median(given.in_sequence.seconds),
        }
        for method in ("wyllie", "helman-jaja"):
            yield {"kind": "ordered", **common, **lists.row(given, method, {})}


def kinds(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Times the four kinds of lists, with splitters at equal or random places of their blocks, and by Wyllie."""
    for size in two_sizes(largest):
        equal, random = ({"splitters": max(size // 32, 1), "spacing": spacing} for spacing in ("equal", "random"))
        for kind in KINDS:
            given = lists.of(kind, size)
            common = {"kind": kind, "size": size, "sequential": median(given.in_sequence.seconds)}
            for method, own in (("helman-jaja", equal), ("helman-jaja", random), ("wyllie", {})):
                yield {**common, **lists.row(given, method, own)}


def splitters(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Times numbers of splitters, spacings and finishes, for two sizes."""
    for size in two_sizes(largest):
        numbers = [*RULES, *(max(size // interval, 1) for interval in INTERVALS)]
        cases: list[Record] = [{"splitters": number, "spacing": s} for number in numbers for s in SPACINGS]
        cases += [{"finish": finish, "finish_size": last} for finish in FINISHES for last in FINISH_SIZES]
        for own in ({}, *cases):
            yield {"size": size, **lists.row(lists.of("random", size), "helman-jaja", own)}


def trees(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Times Euler tours by phase, from parents and from edges: random binary trees by size, and all kinds of trees."""
    last = max(largest - 3, 1)
    threads = lists.device.threads or None
    for log_nodes in [*range(last % 2 + min(SMALLEST, last - last % 2), last, 2), last]:
        for kind in TREE_KINDS if log_nodes == last else TREE_KINDS[:1]:
            nodes = 2**log_nodes
            parents = generate_tree(kind, nodes, threads=threads)
            below = np.flatnonzero(parents >= 0)
            edges = np.column_stack([below, parents[below]]).astype(np.int32)
            for given, content in (("parents", parents), ("edges", edges)):
                toured = _toured(content, nodes, lists.device, lists.repeats)
                yield {"kind": kind, "nodes": nodes, "given": given, **toured}


def model(lists: MeasuredLists, largest: int) -> Iterator[Record]:
    """Predicted and measured times of Helman and JaJa's algorithm, by size."""
    read_from = cost_model.read_machine(lists.device)
    for log_size in range(min(18, largest), largest + 1):
        size = 2**log_size
        found = lists.row(lists.of("random", size), "helman-jaja", {})
        predicted = cost_model.predict(size, read_from, cost_model.default_sublist(lists.device, size))
        yield {"size": size, "measured": median(found["seconds"]), **asdict(predicted), "machine": asdict(read_from)}


PARTS: dict[str, Callable[[MeasuredLists, int], Iterator[Record]]] = {
    "sizes": sizes, "ordered": ordered, "kinds": kinds, "splitters": splitters, "trees": trees, "model": model
}  # fmt: skip


def told(row: Record) -> str:
    """One-line description of a case: plain values, options, and the median in milliseconds."""
    plain = {name: value for name, value in row.items() if isinstance(value, (str, int)) and name != "agrees"}
    options = row.get("options", {})
    measured = f", {lists_report.ms(row):.4g} ms" if "method" in row else ""
    return ", ".join(f"{name} {value}" for name, value in (plain | options).items()) + measured


def two_sizes(largest: int) -> list[int]:
    """The largest size and a sixteenth of it."""
    return [2**log_size for log_size in sorted({max(largest - 4, 1), largest})]


def _toured(content: NDArray[np.int32], nodes: int, device: Device, repeats: int) -> Record:
    """Median time of each phase of an Euler tour."""
    more = {} if content.ndim == 1 else {"nodes": nodes}
    runs = [
        euler_tour(content, device=device.name, threads=device.threads or None, **more) for _ in range(repeats + 1)
    ][1:]
    phases = {name: median(run.seconds[name] for run in runs) for name in runs[0].seconds}
    return {"phases": phases, "height": int(runs[0].level.max())}


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(found, "lists, the date and the device")
    add = found.add_argument
    add("--largest", type=positive, default=20, metavar="K", help="lists have up to 2^K elements (default: 20)")
    add_parts(found, PARTS)
    return found


if __name__ == "__main__":
    sys.exit(main())
