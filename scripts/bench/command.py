"""Times whole commands, `dmr refine` and Triangle's own program: process start, files in, refinement, files out.

    python -m scripts.bench.command                                       # dmr alone, 550,000 points
    python -m scripts.bench.command --triangle ../triangle/triangle --repeats 7 --json results.jsonl
    python -m scripts.bench.command --inputs thesis-5.6m --formats .npz --threads 2 --repeats 1

Inputs are Delaunay meshes of uniform random points in the unit square, seed 12345, written to a temporary folder (--in
chooses where) by `dmr generate`. The programs run in turn, so that other load on the machine affects all of them
alike; the first round is a warm-up that does not count. Before each run the old result is removed and pending writes
are flushed to disk, so that no run waits for another's output. The table has for each program:

    wall      seconds from before the process starts to after its end: the median of the runs, and their range
    user, system    medians of the processor time in seconds, over all threads
    peak      peak main memory over all runs, as the system counts it (resident pages, including mapped files)
    ratio     wall over Triangle's, medians; size: triangles of the result over Triangle's

Every program must write the same bytes in each run. The results of dmr are proved once, by `dmr validate` against the
input. Triangle runs as `triangle -rq30 INPUT`. It reads and writes the same .node and .ele files as dmr, but does not
protect against half-written files, whereas dmr waits until its output is on the disk. Triangle's program is compiled
from triangle.c (the sdist of the package `triangle` 20200424 holds one: cc -O3 -DREAL=double -DVOID=void triangle.c
-lm), and is free for non-commercial use only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import dmr
from dmr.domains.generation import THESIS_SEED
from dmr.errors import DmrError, OptionError
from scripts.lib.cells import figure
from scripts.lib.child_processes import Cost, ProgramError, run_measured
from scripts.lib.machines import commit, machine
from scripts.lib.measuring import INPUTS, points_of

FORMATS = (".ele", ".npz")
INPUT = "input.1"
OURS = [sys.executable, "-m", "dmr"]


@dataclass(kw_only=True)
class Program:
    """One command on one input and the costs of its runs; the fields of a record of --json.

    Attributes:
        command: its arguments; results: the files that it writes.
        triangles: number of triangles of the result.
        costs: costs of the runs that count.
        sha256: digest of the result's files.
        valid: whether the result was proved valid; None if not checked.
        ratio, size: time and triangles over Triangle's; None without Triangle.
    """

    input: str
    name: str
    threads: int | None
    command: list[str]
    results: list[str]
    costs: list[Cost] = field(default_factory=list)
    triangles: int = 0
    sha256: str = ""
    valid: bool | None = None
    ratio: float | None = None
    size: float | None = None

    @property
    def wall(self) -> float:
        """Median wall time in seconds."""
        return statistics.median(cost.wall for cost in self.costs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a result is invalid."""
    options = parser().parse_args(arguments)
    all_valid = True
    try:
        check(options)
        print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
        print(HEAD)
        for name in options.inputs:
            with tempfile.TemporaryDirectory(prefix="bench-command-", dir=options.folder) as folder:
                set_up_children(Path(folder))
                for program in measure(name, Path(folder), options):
                    all_valid &= program.valid is not False
                    print(line(program), flush=True)
                    if options.json is not None:
                        append(options.json, program, options)
    except DmrError as error:
        print(f"bench_command: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"bench_command: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0 if all_valid else 5


def check(options: argparse.Namespace) -> None:
    """Raises OptionError early for options that would otherwise fail only after minutes."""
    for name in options.inputs:
        points_of(name)
    if options.repeats < 1:
        raise OptionError(f"--repeats must be at least 1, not {options.repeats}")
    if options.triangle is not None:
        found = shutil.which(options.triangle)
        if found is None:
            raise OptionError(f"--triangle: there is no program {options.triangle}")
        options.triangle = str(Path(found).resolve())


def set_up_children(folder: Path) -> None:
    """Makes child processes import the same dmr as this script, with bytecode compiled once as when installed."""
    here = Path(dmr.__file__).resolve().parents[1]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")]))
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def measure(name: str, folder: Path, options: argparse.Namespace) -> list[Program]:
    """Runs all programs on one input in turn."""
    programs = [ours(name, suffix, threads, options) for suffix in options.formats for threads in options.threads]
    peer = None if options.triangle is None else triangle(name, options)
    if peer is not None:
        programs.append(peer)
    make_input(name, folder, {".ele" for _ in [peer] if peer is not None} | set(options.formats))
    for round in range(options.repeats + 1):
        for program in programs:
            run(program, folder, counts=round > 0)
    valid: dict[str, bool] = {}  # by digest, since thread counts and repeats give the same bytes
    for program in programs:
        if program is not peer and not options.no_validate:
            if program.sha256 not in valid:
                valid[program.sha256] = proved(program, folder, options.min_angle)
            program.valid = valid[program.sha256]
        if peer is not None:
            program.ratio = program.wall / peer.wall
            program.size = program.triangles / peer.triangles
    return programs


def ours(name: str, suffix: str, threads: int | None, options: argparse.Namespace) -> Program:
    """`dmr refine` from a file to one with the same suffix; each program has a separate output file."""
    stem = f"ours-{threads or 'all'}"
    of_threads = [] if threads is None else ["--threads", str(threads)]
    command = [*OURS, "refine", f"{INPUT}{suffix}", "-o", f"{stem}{suffix}", "-q", f"{options.min_angle:.17g}"]
    return Program(
        input=name,
        name=f"dmr {suffix}",
        threads=threads,
        command=[*command, "--device", options.device, *of_threads],
        results=[f"{stem}{suffix}"] if suffix == ".npz" else [f"{stem}.node", f"{stem}.ele"],
    )


def triangle(name: str, options: argparse.Namespace) -> Program:
    """The original Triangle program, which names its result after its input."""
    return Program(
        input=name,
        name="triangle .ele",
        threads=1,
        command=[options.triangle, f"-rq{options.min_angle:.17g}", INPUT],
        results=["input.2.node", "input.2.ele"],
    )


def make_input(name: str, folder: Path, suffixes: set[str]) -> None:
    """Writes the mesh of an input in each format, in separate processes because of `Cost.peak`."""
    for suffix in sorted(suffixes):
        settings = ["random", str(points_of(name)), "--seed", str(THESIS_SEED), "-o", f"{INPUT}{suffix}"]
        run_measured([*OURS, "generate", *settings], folder)


def run(program: Program, folder: Path, *, counts: bool) -> None:
    """Runs a program once and compares its result with that of its first run.

    Raises:
        ProgramError: the run failed, or its result differs.
    """
    for result in program.results:
        (folder / result).unlink(missing_ok=True)
    os.sync()
    cost = run_measured(program.command, folder)
    found = digest([folder / result for result in program.results])
    if program.sha256 and program.sha256 != found:
        raise ProgramError(f"{program.name} on {program.input}: the files of two runs differ")
    program.sha256 = found
    if counts:
        program.costs.append(cost)
        return
    program.triangles = count_triangles(folder / program.results[-1])


def digest(paths: Sequence[Path]) -> str:
    """SHA-256 of the concatenated files."""
    found = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(2**20):
                found.update(block)
    return found.hexdigest()


def count_triangles(path: Path) -> int:
    """Reads a result's number of triangles from the header of its array or table."""
    if path.suffix == ".npz":
        import zipfile

        import numpy as np

        with zipfile.ZipFile(path) as archive, archive.open("triangles.npy") as file:
            np.lib.format.read_magic(file)
            shape, _, _ = np.lib.format.read_array_header_1_0(file)
            return int(shape[0])
    with path.open("rb") as file:
        return int(file.readline().split()[0])


def proved(program: Program, folder: Path, min_angle: float) -> bool:
    """Whether `dmr validate` proves the result a valid mesh of its input without an angle below the bound."""
    suffix = Path(program.results[-1]).suffix
    settings = ["--input", f"{INPUT}{suffix}", "--min-angle", f"{min_angle:.17g}"]
    try:
        run_measured([*OURS, "validate", program.results[-1], *settings], folder)
    except ProgramError as error:
        print(f"bench_command: {error}", file=sys.stderr)
        return False
    return True


# ---- Output ------------------------------------------------------------------------------------------------------

FORMAT = "{:12} {:13} {:>7} {:>7} {:>15} {:>7} {:>7} {:>9} {:>10} {:>6} {:>6} {:>7}"
HEAD = FORMAT.format(
    "input", "program", "threads", "wall", "min..max", "user", "system", "peak", "out", "size", "ratio", "valid"
)


def line(program: Program) -> str:
    """Table row of a program."""
    walls = [cost.wall for cost in program.costs]
    return FORMAT.format(
        program.input,
        program.name,
        "all" if program.threads is None else program.threads,
        f"{program.wall:.3f}",
        f"{min(walls):.3f}..{max(walls):.3f}",
        f"{statistics.median(cost.user for cost in program.costs):.3f}",
        f"{statistics.median(cost.system for cost in program.costs):.3f}",
        f"{max(cost.peak for cost in program.costs) / 1e6:,.0f} MB",
        f"{program.triangles:,}",
        figure(program.size, ".3f"),
        figure(program.ratio, ".2f"),
        {None: "-", True: "proved", False: "INVALID"}[program.valid],
    )


def append(path: Path, program: Program, options: argparse.Namespace) -> None:
    """Appends a record to a file of one JSON object per line. Commands are recorded without this machine's folders."""
    record = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": dmr.__version__,
        "commit": commit(),
        "machine": machine(),
        "options": {name: getattr(options, name) for name in ("min_angle", "device", "repeats")},
        **asdict(program),
    }
    record["command"] = [Path(program.command[0]).name, *program.command[1:]]
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--inputs", nargs="+", default=["thesis-1.1m"], metavar="NAME",
        help=f"of {', '.join(INPUTS)} and random-N (default: thesis-1.1m)")  # fmt: skip
    add("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), metavar="SUFFIX", help="default: .ele .npz")
    add("-q", "--min-angle", type=float, default=30.0, metavar="DEG", help="default: 30")
    add("--device", default="cpu", metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add("--threads", nargs="+", type=int, default=[None], metavar="N", help="CPU threads (default: all cores)")
    add("--repeats", type=int, default=5, metavar="N", help="timed runs of each program (default: 5)")
    add("--triangle", metavar="PROGRAM", help="the original Triangle program, timed for comparison")
    add("--no-validate", action="store_true", help="do not prove the results")
    add("--in", dest="folder", type=Path, metavar="FOLDER", help="where the temporary folder is made")
    add("--json", type=Path, metavar="FILE", help="append a record of each program, one JSON object per line")
    return found


if __name__ == "__main__":
    sys.exit(main())
