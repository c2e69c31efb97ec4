"""Study of the thesis, chapter 5 and section 6.3: every strategy on the same inputs, measured, proved and drawn.

    python -m scripts.study.refinement                                # two small inputs: two minutes on two cores
    python -m scripts.study.refinement --device cuda                  # the thesis' three inputs and all rows
    python -m scripts.study.refinement --device cuda --inputs thesis-5.6m --rows base deterministic --repeats 9
    python -m scripts.study.refinement --redraw thesis/2026-11-21-h200.json   # tables and pictures again, no run

Inputs are Delaunay meshes of uniform random points in the unit square, seed 12345: the thesis' three, random-0.1m, and
random-N for N points. The end of --help lists the rows. Each row has a warm-up, the timed runs and one run profiled by
phase; the rows take turns. A row that takes more than 3 s runs once. Times are those of the refinement alone, without
the transfer of the mesh. dmr.validate proves the results exactly.

FOLDER gets NAME.json (everything), NAME.csv, NAME.md, NAME-bars.png and NAME-processed.png, all rewritten after each
input; the tables are also printed. --redraw of several files joins their inputs, and their rows on the same input;
--name names the joint study. Needs matplotlib, which comes with the extra [view]. Exit code 5: a result was refused.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dmr
from dmr.domains.generation import THESIS_INPUTS
from dmr.errors import OptionError
from dmr.memory import open_device
from dmr.refinement.options import RefineOptions
from scripts.lib.machines import commit
from scripts.lib.measuring import INPUTS, points_of, positive
from scripts.study.common import add_common, carried_out, described
from scripts.study.files import default_name, prepare, say
from scripts.study.refinement import records as study_records
from scripts.study.refinement import tables as study_tables
from scripts.study.refinement.rows import chosen, explained
from scripts.study.refinement.runs import VALIDATED, Plan, run_input

ON_CPU, ON_GPU = ("random-0.1m", "thesis-0.5m"), tuple(THESIS_INPUTS)
CPU_REPEATS, GPU_REPEATS = 2, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or draws the study; returns the exit code, 5 if a result is invalid."""
    options = parser().parse_args(arguments)

    def work() -> int:
        given = sys.argv[1:] if arguments is None else arguments
        study = redraw(options) if options.redraw else run(options, given)
        print(study_tables.to_markdown(study, study["name"]), end="")
        return 5 if any(row["valid"] is False for found in study["inputs"] for row in found["rows"]) else 0

    return carried_out("refinement", "inputs", work)


def run(options: argparse.Namespace, arguments: Sequence[str]) -> dict[str, Any]:
    """Measures the chosen inputs and rows; writes all files after each input."""
    device = open_device(options.device, options.threads)
    on_gpu = device.threads == 0
    inputs = list(dict.fromkeys(options.inputs or (ON_GPU if on_gpu else ON_CPU)))
    # Check the options here rather than after an hour.
    RefineOptions(min_angle=options.min_angle)
    for name in inputs:
        points_of(name)
    rows, left_out = chosen(options.rows, device)
    for row, reason in left_out.items():
        say(f"the row {row} is left out: {reason}")
    plan = Plan(
        min_angle=options.min_angle,
        repeats=options.repeats or (GPU_REPEATS if on_gpu else CPU_REPEATS),
        device=device.name,
        threads=device.threads or None,
        validate=options.validate,
        jobs=options.jobs,
    )
    study: dict[str, Any] = {
        "format": study_records.FORMAT,
        "name": options.name or default_name(device.description, device.threads),
        **described(device),
        "version": dmr.__version__,
        "commit": options.commit or commit(),
        "min_angle": plan.min_angle,
        "left_out": left_out,
        "inputs": [],
    }
    command = f"python -m scripts.study.refinement {shlex.join(arguments)}".rstrip()
    prepare(options.output)
    for name in inputs:
        study["inputs"].append({**run_input(name, rows, plan, say), "command": command})
        say(*(f"wrote {path}" for path in study_records.write(study, options.output)))
    return study


def redraw(options: argparse.Namespace) -> dict[str, Any]:
    """Regenerates tables and pictures beside the first record; several records are joined under --name."""
    paths: list[Path] = options.redraw
    if len(paths) > 1 and not options.name:
        raise OptionError("several records are joined under a new name: say which with --name")
    study = study_records.joined([study_records.read(path) for path in paths])
    study["name"] = options.name or paths[0].stem
    write = study_records.write if options.name else study_records.write_derived
    say(*(f"wrote {path}" for path in write(study, paths[0].parent)))
    return study


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(
        description=__doc__,
        epilog=f"rows, in the order of table 6.3:\n{explained()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common(found, "the date and the device")
    add = found.add_argument
    defaults = f"default: {' and '.join(ON_CPU)} on the CPU, the thesis' three on a GPU"
    add("--inputs", nargs="+", metavar="NAME", help=f"of {', '.join(INPUTS)} and random-N ({defaults})")
    add("--rows", nargs="+", metavar="NAME", help="default: all that can run on the device")
    add("--repeats", type=positive, metavar="N",
        help=f"timed runs of each row (default: {CPU_REPEATS} on the CPU, {GPU_REPEATS} on a GPU)")  # fmt: skip
    add("-q", "--min-angle", type=float, default=30.0, metavar="DEG", help="default: 30")
    add("--jobs", type=positive, metavar="N", help="proofs at a time (default: one per core, as memory allows)")
    add("--validate", choices=VALIDATED, default=VALIDATED[0],
        help="prove the results of all runs, of each row's median run, or none (default: all)")  # fmt: skip
    add("--redraw", nargs="+", type=Path, metavar="FILE", help="regenerate the files of these records; no run")
    return found


if __name__ == "__main__":
    sys.exit(main())
