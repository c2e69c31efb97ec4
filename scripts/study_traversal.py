"""The study of load-balanced traversals: every scheme of the papers on the same graphs, measured, compared and drawn.

    python scripts/study_traversal.py                                          # small R-MAT graphs, on any machine
    python scripts/study_traversal.py --device cuda --graphs web-Stanford.txt.gz@21213 rmat-thesis random
    python scripts/study_traversal.py --parts warps collapse --graphs rmat-4m random-4m
    python scripts/study_traversal.py --redraw study/traversal-h200.json       # tables and pictures again, no run

GRAPHS are files (@NODE says where searches start), rmat-thesis, rmat-gtgraph, rmat-graph500 and random (1 M nodes, 8 M
edges), rmat-4m and random-4m (4 M nodes, 48 M edges), rmat-16m (256 M edges), and rmat-N. Edges without weights get
whole numbers from 1 to 100. PARTS: mda (tables 6.1 and 6.2 of the thesis, figures 6.2 to 6.4 and 6.6), warps (maximum
warp), collapse (graphs on manycores), timeline (figure 6.5), gteps (searches from 16 sources). Of each case a warm-up
and the timed runs; a time is that of the rounds, without transfers.

FOLDER gets NAME.json (everything) after each graph; in the end NAME.csv, NAME.md and a picture a kind, eight files in
all. The page is printed. Needs matplotlib, which comes with the extra [view]. Exit code 5: a scheme found other
distances than the baseline.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traversal_plots
import traversal_tables
from machines import commit, cuda_compiler, gpu_driver, host_compiler, machine
from study_files import default_name, prepare, put, read, say
from traversal_cases import PARTS
from traversal_inputs import load
from traversal_runs import run_input

from dmr.errors import DmrError
from dmr.memory import open_device

FORMAT = "traversal 1"  # of the JSON; rises when a reader of the old one would go wrong
SMALL = ("rmat-20000", "rmat-100000")
ON_GPU = ("rmat-thesis", "rmat-gtgraph", "rmat-graph500", "random")
ALL_PARTS = (*PARTS, "timeline", "gteps")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code: 5 where distances differ."""
    options = parser().parse_args(arguments)
    try:
        if importlib.util.find_spec("matplotlib") is None:
            raise DmrError("the pictures need matplotlib: install it, or the extra [view]")
        if options.redraw:
            study = read(options.redraw, FORMAT, "inputs")
            say(*(f"wrote {path}" for path in put(derived(study, options.redraw.parent))))
        else:
            study = run(options, sys.argv[1:] if arguments is None else arguments)
    except DmrError as error:
        print(f"study_traversal: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("study_traversal: interrupted; graphs that were finished are kept", file=sys.stderr)
        return 130
    print(traversal_tables.to_markdown(study, []), end="")
    return 0 if all(run["agrees"] for given in study["inputs"] for run in given["runs"]) else 5


def run(options: argparse.Namespace, arguments: Sequence[str]) -> dict[str, Any]:
    """Measures what was asked for. The record is written after each graph, what follows from it at the end."""
    device = open_device(options.device, options.threads)
    on_gpu = device.threads == 0
    graphs = list(dict.fromkeys(options.graphs or (ON_GPU if on_gpu else SMALL)))
    study: dict[str, Any] = {
        "format": FORMAT,
        "name": options.name or "traversal-" + default_name(device.description, device.threads),
        "device": device.description,
        "machine": {
            **machine(),
            "driver": gpu_driver() if on_gpu else None,
            "compiler": cuda_compiler() if on_gpu else host_compiler(),
        },
        "commit": options.commit or commit(),
        "command": f"python scripts/study_traversal.py {shlex.join(arguments)}".rstrip(),
        "inputs": [],
    }
    prepare(options.output)
    for name in graphs:
        study["inputs"].append(run_input(load(name), options.parts, device, options.repeats, say))
        say(*(f"wrote {path}" for path in put({options.output / f"{study['name']}.json": _json(study).encode()})))
    say(*(f"wrote {path}" for path in put(derived(study, options.output))))
    return study


def derived(study: dict[str, Any], folder: Path) -> dict[Path, bytes]:
    """Tables and pictures, by the file that they belong in."""
    name = study["name"]
    drawn = {f"{name}-{end}.png": picture for end, picture in traversal_plots.pictures(study).items()}
    page = traversal_tables.to_markdown(study, list(drawn))
    texts = {f"{name}.csv": traversal_tables.to_csv(study).encode(), f"{name}.md": page.encode()}
    return {folder / file: content for file, content in {**texts, **drawn}.items()}


def _json(record: dict[str, Any]) -> str:
    """Indented, with lists of plain values on one line."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: re.sub(r"\n\s*", " ", found[0]), text) + "\n"


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    defaults = f"default: {' and '.join(SMALL)} on a CPU, those of 1 M nodes on a GPU"
    add("--device", default="auto", metavar="NAME", help="auto (a GPU where one works), cpu, cuda, cuda:1, ...")
    add("--threads", type=int, metavar="N", help="CPU threads (default: all cores)")
    add("--graphs", nargs="+", metavar="GRAPH", help=defaults)
    add("--parts", nargs="+", choices=ALL_PARTS, default=list(ALL_PARTS), metavar="PART",
        help=f"of {', '.join(ALL_PARTS)} (default: all)")  # fmt: skip
    add("--repeats", type=at_least_1, default=5, metavar="N", help="timed runs of each case (default: 5)")
    add("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER", help="default: study")
    add("--name", metavar="NAME", help="of the files (default: traversal, the date and the device)")
    add("--commit", metavar="HASH", help="the commit to record, where git does not know it")
    add("--redraw", type=Path, metavar="FILE", help="tables and pictures beside this record; no run")
    return found


def at_least_1(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number


if __name__ == "__main__":
    sys.exit(main())
