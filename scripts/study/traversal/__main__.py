"""Study of load-balanced traversals: every scheme of the papers on the same graphs, measured, compared and drawn.

    python -m scripts.study.traversal                                          # small R-MAT graphs, on any machine
    python -m scripts.study.traversal --device cuda --graphs web-Stanford.txt.gz@21213 rmat-thesis random
    python -m scripts.study.traversal --parts warps collapse --graphs rmat-4m random-4m
    python -m scripts.study.traversal --redraw study/traversal-h200.json       # tables and pictures again, no run

GRAPHS are files (@NODE gives the source), rmat-thesis, rmat-gtgraph, rmat-graph500 and random (1 M nodes, 8 M edges),
rmat-4m and random-4m (4 M nodes, 48 M edges), rmat-16m (256 M edges), and rmat-N. Edges without weights get random
integers from 1 to 100. PARTS: mda (tables 6.1 and 6.2 of the thesis, figures 6.2 to 6.4 and 6.6), warps (maximum warp),
collapse (graphs on manycores), timeline (figure 6.5), gteps (searches from 16 sources). Each case has a warm-up and the
timed runs; times are those of the rounds, without transfers.

FOLDER gets NAME.json (everything) after each graph; at the end NAME.csv, NAME.md and one picture per kind, nine files
in all. The page is also printed. --redraw of several files joins their graphs under --name. Needs matplotlib, which
comes with the extra [view]. Exit code 5: a scheme found other distances than the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from dmr.memory import open_device
from scripts.lib.traversals.inputs import load
from scripts.study.common import Record, Study, add_common, add_parts
from scripts.study.files import say
from scripts.study.traversal import plots as traversal_plots
from scripts.study.traversal import records as traversal_records
from scripts.study.traversal import tables as traversal_tables
from scripts.study.traversal.cases import PARTS
from scripts.study.traversal.runs import run_input

FORMAT = "traversal 2"  # version of the JSON format; increased by incompatible changes
SMALL = ("rmat-20000", "rmat-100000")
ON_GPU = ("rmat-thesis", "rmat-gtgraph", "rmat-graph500", "random")
ALL_PARTS = (*PARTS, "timeline", "gteps")
STUDY = Study(
    "traversal", FORMAT, "inputs", traversal_tables.to_markdown, traversal_tables.to_csv, traversal_plots.pictures
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code, 5 if distances differ."""
    return STUDY.main(parser(), arguments, run, lambda record: not traversal_records.disagreeing(record))


def run(options: argparse.Namespace, arguments: Sequence[str]) -> Record:
    """Measures the chosen graphs and parts. Writes the record after each graph, and the derived files at the end."""
    device = open_device(options.device, options.threads)
    record = STUDY.begin(device, options, arguments, [])
    for name in dict.fromkeys(options.graphs or (SMALL if device.threads else ON_GPU)):
        record["inputs"].append(run_input(load(name), options.parts, device, options.repeats, say))
        STUDY.keep(record, options.output)
    STUDY.draw(record, options.output)
    return record


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common(found, "traversal, the date and the device")
    add = found.add_argument
    defaults = f"default: {' and '.join(SMALL)} on a CPU, those of 1 M nodes on a GPU"
    add("--graphs", nargs="+", metavar="GRAPH", help=defaults)
    add_parts(found, ALL_PARTS)
    return found


if __name__ == "__main__":
    sys.exit(main())
