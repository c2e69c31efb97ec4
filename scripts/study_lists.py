"""The study of list ranking: every method of the slides by size, kind of list and splitters, trees, and the cost model.

    python scripts/study_lists.py                                     # up to 2^20 elements, on any machine
    python scripts/study_lists.py --device cuda --largest 27          # 2^10 to 2^27, as the committed results
    python scripts/study_lists.py --device cuda --parts trees model
    python scripts/study_lists.py --redraw study/lists-h200.json      # tables and pictures again, no run

PARTS: sizes (time against size for every method, beside the sequential pass, a random gather, and the scan that an
ordered list comes down to), kinds (ordered, ordered unbalanced, random balanced, random), splitters (their number and
spacing, the finish), trees (Euler tours with their breakdown), model (predicted beside measured). Of each case a
warm-up and the timed runs; transfers and the check of the list do not count: the check has a column of its own.

FOLDER gets NAME.json (everything), NAME.csv, NAME.md and pictures, again after each part; the page is printed. Needs
matplotlib, which comes with the extra [view]. Exit code 5: a method found other ranks than the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import lists_report
import numpy as np
from list_measuring import MeasuredList, gathered, scanned
from machines import commit, cuda_compiler, gpu_driver, host_compiler, machine
from measuring import positive
from numpy.typing import NDArray
from study_files import default_name, prepare, put, read, say

from dmr.errors import DmrError
from dmr.memory import Device, open_device
from static_graph import cost_model, euler_tour, generate_list, generate_tree
from static_graph.lists import KINDS
from static_graph.rankers.helman_jaja import FINISHES, RULES, SPACINGS
from static_graph.tree_generation import KINDS as TREE_KINDS

FORMAT = "lists 1"  # of the JSON; rises when a reader of the old one would go wrong
SMALLEST = 10  # log2 of the smallest size
SHORT = 2**16  # elements that 32 bits are too few for
INTERVALS = (8, 16, 32, 64, 128, 256)  # elements a splitter
METHODS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("wyllie", {}),
    ("wyllie", {"packing": 32}),
    ("lock-step", {}),
    ("on-demand", {}),
    ("helman-jaja", {}),
)
Record = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code: 5 where ranks differ."""
    options = parser().parse_args(arguments)
    try:
        if importlib.util.find_spec("matplotlib") is None:
            raise DmrError("the pictures need matplotlib: install it, or the extra [view]")
        if options.redraw:
            study = read(options.redraw, FORMAT, "parts")
            say(*(f"wrote {path}" for path in put(derived(study, options.redraw.parent))))
        else:
            study = run(options, sys.argv[1:] if arguments is None else arguments)
    except DmrError as error:
        print(f"study_lists: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("study_lists: interrupted; parts that were finished are kept", file=sys.stderr)
        return 130
    print(lists_report.to_markdown(study, []), end="")
    return 0 if all(row.get("agrees", True) for rows in study["parts"].values() for row in rows) else 5


def run(options: argparse.Namespace, arguments: Sequence[str]) -> Record:
    """Measures what was asked for; everything is written after each part."""
    device = open_device(options.device, options.threads)
    on_gpu = device.threads == 0
    study: Record = {
        "format": FORMAT,
        "name": options.name or "lists-" + default_name(device.description, device.threads),
        "device": device.description,
        "machine": {
            **machine(),
            "driver": gpu_driver() if on_gpu else None,
            "compiler": cuda_compiler() if on_gpu else host_compiler(),
        },
        "commit": options.commit or commit(),
        "command": f"python scripts/study_lists.py {shlex.join(arguments)}".rstrip(),
        "parts": {},
    }
    prepare(options.output)
    for part in dict.fromkeys(options.parts):
        rows = study["parts"].setdefault(part, [])
        for row in PARTS[part](device, options):
            rows.append(row)
            say(
                f"{part}: " + ", ".join(f"{name} {value}" for name, value in row.items() if not isinstance(value, dict))
            )
        record = {options.output / f"{study['name']}.json": _json(study).encode()}
        say(*(f"wrote {path}" for path in put({**record, **derived(study, options.output)})))
    return study


def sizes(device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Time against size, random lists, every method."""
    for log_size in range(min(SMALLEST, options.largest), options.largest + 1):
        size = 2**log_size
        given = _measured(device, options, "random", size)
        sequential = given.in_sequence()
        common = {
            "size": size,
            "gather": gathered(device, size, options.repeats),
            "scan": scanned(device, size, options.repeats),
            "check": median(given.check),
            "sequential": sequential.best,
        }
        for method, own in METHODS:
            if own.get("packing") != 32 or size < SHORT:
                yield {**common, **_ranked(given, method, own, sequential.ranks)}


def kinds(device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """The four kinds of lists, with splitters at equal intervals, at random places of their blocks, and by Wyllie."""
    size = 2**options.largest
    for kind in KINDS:
        given = _measured(device, options, kind, size)
        expected = given.in_sequence()
        equal = {"splitters": size // 32, "spacing": "equal"}
        for method, own in (("helman-jaja", equal), ("helman-jaja", {"splitters": size // 32}), ("wyllie", {})):
            found = _ranked(given, method, own, expected.ranks)
            yield {"kind": kind, "size": size, "sequential": expected.best, **found}


def splitters(device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Numbers of splitters, spacings and finishes, on two sizes."""
    for log_size in sorted({max(options.largest - 4, 1), options.largest}):
        size = 2**log_size
        given = _measured(device, options, "random", size)
        expected = given.ranked("helman-jaja", {}).ranks
        numbers = [*RULES, *(max(size // interval, 1) for interval in INTERVALS)]
        cases: list[Record] = [{"splitters": number, "spacing": s} for number in numbers for s in SPACINGS]
        cases += [{"finish": finish, "finish_size": last} for finish in FINISHES for last in (1, 2**7, 2**12, 2**15)]
        for own in cases:
            yield {"size": size, **_ranked(given, "helman-jaja", own, expected)}


def trees(device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Euler tours of every kind of tree, with their breakdown: from parents, and rooted from edges."""
    for kind in TREE_KINDS:
        nodes = 2 ** max(options.largest - 1, 1)
        parents = generate_tree(kind, nodes, threads=options.threads)
        below = np.flatnonzero(parents >= 0)
        edges = np.column_stack([below, parents[below]]).astype(np.int32)
        for given, content in (("parents", parents), ("edges", edges)):
            yield {"kind": kind, "nodes": nodes, "given": given, **_toured(content, nodes, options)}


def model(device: Device, options: argparse.Namespace) -> Iterator[Record]:
    """Predicted and measured times of Helman and JaJa's algorithm, by size."""
    read_from = cost_model.read_machine(device)
    for log_size in range(min(18, options.largest), options.largest + 1):
        size = 2**log_size
        found = _measured(device, options, "random", size).ranked("helman-jaja", {})
        predicted = cost_model.predict(size, read_from, cost_model.default_sublist(device))
        yield {"size": size, "measured": median(found.seconds), **asdict(predicted), "machine": asdict(read_from)}


PARTS: dict[str, Callable[[Device, argparse.Namespace], Iterator[Record]]] = {
    "sizes": sizes, "kinds": kinds, "splitters": splitters, "trees": trees, "model": model
}  # fmt: skip


def _measured(device: Device, options: argparse.Namespace, kind: str, size: int) -> MeasuredList:
    """A list of a kind on the device."""
    successors = generate_list(kind, size, device=options.device, threads=options.threads)
    return MeasuredList(device, successors, options.repeats)


def _ranked(given: MeasuredList, method: str, own: Record, expected: NDArray[np.int32]) -> Record:
    """A ranking as a row."""
    found = given.ranked(method, own)
    agrees = bool(np.array_equal(found.ranks, expected))
    return {"method": method, "options": own, "seconds": found.seconds, "figures": found.figures, "agrees": agrees}


def _toured(content: NDArray[np.int32], nodes: int, options: argparse.Namespace) -> Record:
    """The phases of an Euler tour, the median of each."""
    more = {} if content.ndim == 1 else {"nodes": nodes}
    runs = [
        euler_tour(content, device=options.device, threads=options.threads, **more) for _ in range(options.repeats + 1)
    ][1:]
    phases = {name: median(run.seconds[name] for run in runs) for name in runs[0].seconds}
    return {"phases": phases, "height": int(runs[0].level.max())}


def derived(study: Record, folder: Path) -> dict[Path, bytes]:
    """Tables and pictures, by the file that they belong in."""
    name = study["name"]
    drawn = {f"{name}-{end}.png": picture for end, picture in lists_report.pictures(study).items()}
    page = lists_report.to_markdown(study, list(drawn))
    texts = {f"{name}.csv": lists_report.to_csv(study).encode(), f"{name}.md": page.encode()}
    return {folder / file: content for file, content in {**texts, **drawn}.items()}


def _json(record: Record) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--device", default="auto", metavar="NAME", help="auto (a GPU where one works), cpu, cuda, cuda:1, ...")
    add("--threads", type=positive, metavar="N", help="CPU threads (default: all cores)")
    add("--largest", type=positive, default=20, metavar="K", help="lists have up to 2^K elements (default: 20)")
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART",
        help=f"of {', '.join(PARTS)} (default: all)")  # fmt: skip
    add("--repeats", type=positive, default=5, metavar="N", help="timed runs of each case (default: 5)")
    add("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER", help="default: study")
    add("--name", metavar="NAME", help="of the files (default: lists, the date and the device)")
    add("--commit", metavar="HASH", help="the commit to record, where git does not know it")
    add("--redraw", type=Path, metavar="FILE", help="tables and pictures beside this record; no run")
    return found


if __name__ == "__main__":
    sys.exit(main())
