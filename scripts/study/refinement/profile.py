"""Explains the speed of the study's rows by counters of their kernels, read by NVIDIA's Nsight Compute (ncu).

    python -m scripts.study.refinement.profile            # every row that the host drives, on the 1.1 M input
    python -m scripts.study.refinement.profile --input thesis-5.6m --rows base deterministic-host --launches 400
    python -m scripts.study.refinement.profile --steiner petal --rows deterministic-host --after 19
    python -m scripts.study.refinement.profile --redraw thesis/2026-11-21-h200-profile.json   # tables again, no run

It needs a GPU. Rows and inputs are those of scripts.study.refinement, except the row whose rounds the device drives.
Each row refines the input once, in a separate process under ncu, which reads the counters of the first launches of the
kernels that grow, mark, retriangulate and check.

FOLDER gets NAME-profile.json (every launch), NAME-profile.csv and NAME-profile.md (one line per row and kernel), all
rewritten after each row; the tables are also printed. `dmr devices --warm` compiles the kernels ahead, outside the time
limit. Exit code 3: a row is left out, or ncu reported an error; 4: no counters can be read here.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import dmr
from dmr.errors import DeviceUnavailableError, DmrError, OptionError
from dmr.refinement.options import STEINER_RULES
from scripts.lib.machines import commit, cuda_compiler, gpu_driver, machine
from scripts.lib.markdown import aligned_table
from scripts.lib.measuring import INPUTS, points_of
from scripts.study import files as study_files
from scripts.study.files import default_name, prepare, say
from scripts.study.refinement import profile_runs
from scripts.study.refinement.profile_runs import FIGURES, KERNELS, METRICS, TIME, Launch, NoFiguresError
from scripts.study.refinement.rows import ROWS as STUDY_ROWS
from scripts.study.refinement.tables import Line, to_csv

FORMAT = "profile 1"  # version of the JSON format; increased by incompatible changes
EXPLANATION = """\
Each row refined the input once, in a separate process under ncu, which read the counters of the first {launches:,}
launches of these kernels{after}. ncu runs a launch several times, alone and with empty caches: times are
longer than in an undisturbed run, and serve to compare kernels with each other. *Seen* is the number of launches with
figures, of all in the run; the time in all is the sum over these. The columns from *longest* on describe the longest of
them: its time, the blocks of its grid, the mean number of threads (of 32) that take part in an instruction, active
warps and the throughput of DRAM and L2 in percent of the device's peak, sectors of L2 taken by atomic operations (with
or without a result), registers per thread, bytes to and from DRAM."""
FIRST_CHECK = """\
The first launch of check_listed checks all triangles of the input, before the first round; it has a separate line."""
CHILDREN = """\
ncu does not see kernels that are launched from the device: the {children:,} launches of child_check, which do the
checks of this row. The line of check_by_children has only the figures of the launching kernel."""


# The profiler does not see launches by a graph, so only rows with host-driven rounds are profiled.
ROWS = [row for row in STUDY_ROWS if row.loop == "host"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Profiles, or regenerates the tables; returns the exit code."""
    options = parser().parse_args(arguments)
    given = sys.argv[1:] if arguments is None else arguments
    try:
        study = redraw(options.redraw) if options.redraw else run(options, given)
    except DmrError as error:
        print(f"profile_strategies: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("profile_strategies: interrupted; rows that were finished are kept", file=sys.stderr)
        return 130
    print(to_markdown(study), end="")
    return 0 if not study["left_out"] and all(row["whole"] for row in study["rows"]) else 3


def run(options: argparse.Namespace, arguments: Sequence[str]) -> dict[str, Any]:
    """Profiles the rows one after another; writes all files after each."""
    if options.launches < 1 or options.after < 0 or not options.timeout > 0:
        raise OptionError("--launches must be at least 1, --after at least 0, and --timeout more than 0 seconds")
    points, ncu, limit = points_of(options.input), profile_runs.find(options.ncu), options.timeout
    prepare(options.output)
    tools = {"driver": gpu_driver(), "compiler": cuda_compiler(), "ncu": profile_runs.version(ncu, limit)}
    study: dict[str, Any] = {
        "format": FORMAT,
        "name": options.name,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": f"python -m scripts.study.refinement.profile {shlex.join(arguments)}".rstrip(),
        "version": dmr.__version__,
        "commit": options.commit or commit(),
        "device": None,
        "machine": machine() | tools,
        "input": options.input,
        "triangles": None,
        "steiner": options.steiner,
        "after": options.after,
        "launches": options.launches,
        "unknown": [],
        "left_out": {},
        "rows": [],
    }
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        metrics = [name for name in METRICS if name not in study["unknown"]]
        try:
            found = profile_runs.profile(
                ncu, metrics, options.after, options.launches, points,
                (options.steiner, row.marking, row.balance), limit,
            )  # fmt: skip
        except NoFiguresError as error:
            study["left_out"][row.name] = str(error)
            say(f"{row.name} is left out: {error}")
            continue
        say(*(f"this ncu does not know {name}: going on without it" for name in found.unknown), *found.said)
        say(f"{row.name}: the counters of {len(found.seen)} launches")
        study["unknown"] += found.unknown
        study["device"], study["triangles"] = found.account["device"], found.account["triangles"]
        study["name"] = study["name"] or default_name(study["device"])
        launches = {kernel: count for kernel, count in found.account["launches"].items() if kernel in KERNELS}
        study["rows"].append({
            "row": row.name, "title": row.title, "marking": row.marking, "balance": row.balance,
            "rounds": found.account["rounds"], "children": found.account["children"], "launches": launches,
            "said": found.said, "whole": found.whole, "seen": found.seen,
        })  # fmt: skip
        write(study, options.output)
    if not study["rows"]:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in study["left_out"].items())
        raise DeviceUnavailableError(f"no row could be profiled: {reasons}")
    say(*(f"wrote {path}" for path in write(study, options.output)))  # again: later rows may have been left out
    return study


def redraw(path: Path) -> dict[str, Any]:
    """Regenerates the tables beside a record."""
    study = read(path)
    say(*(f"wrote {path}" for path in write_derived(study, path.parent)))
    return study


# ---- Files ---------------------------------------------------------------------------------------------------------


def write(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the record, and then the tables derived from it; returns the files."""
    # One launch per line.
    record = re.sub(r"\{\s*\"kernel\"[^{}]*\}", lambda found: " ".join(found[0].split()), json.dumps(study, indent=1))
    path = folder / f"{study['name']}-profile.json"
    return [*study_files.put({path: f"{record}\n".encode()}), *write_derived(study, folder)]


def write_derived(study: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the tables; returns the files."""
    texts = {"csv": to_csv(lines(study)), "md": to_markdown(study)}
    return study_files.put({folder / f"{study['name']}-profile.{end}": text.encode() for end, text in texts.items()})


def read(path: Path) -> dict[str, Any]:
    """Reads a record; older ones without --after and --steiner get their defaults.

    Raises:
        FileError: no such file, or not a record of this format.
    """
    return {"after": 0, "steiner": "off-center", **study_files.read(path, FORMAT, "rows")}


# ---- Tables --------------------------------------------------------------------------------------------------------


def lines(study: dict[str, Any]) -> list[Line]:
    """One flat line per row and kernel that ran in it, in the order of a round; times in microseconds."""
    return [line for row in study["rows"] for kernel in KERNELS for line in _lines(study, row, kernel)]


def _lines(study: dict[str, Any], row: dict[str, Any], kernel: str) -> list[Line]:
    seen = [launch for launch in row["seen"] if launch["kernel"] == kernel]
    count = row["launches"].get(kernel, 0)
    if kernel == "check_listed" and seen and study["after"] == 0:
        first = _line(study, row, "check_listed, first", seen[:1], 1)
        return [first, _line(study, row, kernel, seen[1:], count - 1)] if count > 1 else [first]
    return [_line(study, row, kernel, seen, count)] if count or seen else []


def _line(study: dict[str, Any], row: dict[str, Any], kernel: str, seen: Sequence[Launch], count: int) -> Line:
    times = {k: time for k, launch in enumerate(seen) if (time := TIME.of([launch])) is not None}
    longest = [seen[max(times, key=lambda k: times[k])]] if times else []
    return {
        **{name: study[name] for name in ("date", "commit", "device", "input")},
        **{name: row[name] for name in ("row", "marking", "balance")},
        "kernel": kernel,
        "launches": count,
        "seen": len(seen),
        "all_us": TIME.of(seen),
        **{figure.column: figure.of(longest) for figure in FIGURES},
    }


def to_markdown(study: dict[str, Any]) -> str:
    """Page with the conditions of the measurement and one table per row."""
    machine, after = study["machine"], study["after"]
    tools = ", ".join(f"{name} {machine[name] or 'unknown'}" for name in ("ncu", "driver", "compiler", "python"))
    parts = [
        f"# The kernels of the strategies on {study['device']}",
        f"Measured {study['date']}, commit {study['commit'] or 'unknown'}, dmr {study['version']}; {tools}. "
        f"Input: {study['input']}, {study['triangles']:,} triangles, refined to 30 degrees, points by the rule "
        f"{study['steiner']}.",
        EXPLANATION.format(launches=study["launches"], after=f" after round {after:,}" if after else "")
        + ("" if after else f"\n{FIRST_CHECK}"),
        f"```sh\n{study['command']}\n```",
    ]
    missing = {name for row in study["rows"] for launch in row["seen"] for name in METRICS if launch.get(name) is None}
    if missing:
        parts.append(f"n/a: ncu does not have {', '.join(name for name in METRICS if name in missing)} here.")
    parts += [f"Left out: `{row}`: {reason}" for row, reason in study["left_out"].items()]
    found = lines(study)
    for row in study["rows"]:
        parts.append(f"## {row['title']}")
        parts.append(f"Marking {row['marking']}, balance {row['balance']}, {row['rounds']:,} rounds.")
        if row["balance"].startswith("child-launch"):
            parts.append(CHILDREN.format(children=row["children"]))
        if row["said"]:
            parts.append("\n".join(["```text", *row["said"], "```"]))
        body = [_cells(line) for line in found if line["row"] == row["row"]]
        parts.append(aligned_table(["kernel", "seen", "in all, us", *(figure.head for figure in FIGURES)], body))
    return "\n\n".join(parts) + "\n"


def _cells(line: Line) -> list[str]:
    blank = "n/a" if line["seen"] else "-"
    shown = [(line["all_us"], TIME), *((line[figure.column], figure) for figure in FIGURES)]
    figures = [blank if value is None else f"{value:,.{figure.decimals}f}" for value, figure in shown]
    return [line["kernel"], f"{line['seen']:,} of {line['launches']:,}", *figures]


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--input", default="thesis-1.1m", metavar="NAME",
        help=f"of {', '.join(INPUTS)} and random-N (default: thesis-1.1m)")  # fmt: skip
    add("--rows", nargs="+", choices=[row.name for row in ROWS], metavar="NAME",
        help=f"of {', '.join(row.name for row in ROWS)} (default: all)")  # fmt: skip
    add("--launches", type=int, default=200, metavar="N", help="launches to profile per row (default: 200)")
    add("--steiner", choices=STEINER_RULES, default="off-center", help="the rule for points (default: the study's)")
    add("--after", type=int, default=0, metavar="N", help="skip N rounds before profiling (default: 0)")
    add("--timeout", type=float, default=120.0, metavar="SECONDS", help="time limit per row (default: 120)")
    add("--ncu", default="ncu", metavar="PATH", help="NVIDIA's Nsight Compute (default: ncu, on the PATH)")
    add("-o", "--output", type=Path, default=Path("study"), metavar="FOLDER", help="default: study")
    add("--name", metavar="NAME", help="name of the files (default: the date and the card)")
    add("--commit", metavar="HASH", help="commit to record where there is no checkout")
    add("--redraw", type=Path, metavar="FILE", help="regenerate the tables of this record; no run")
    return found


if __name__ == "__main__":
    sys.exit(main())
