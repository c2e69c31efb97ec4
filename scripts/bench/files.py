"""Times reading and writing the mesh of a standard input in several formats.

    python -m scripts.bench.files                                          # .ele .npz .vtu .vtk .msh .ply
    python -m scripts.bench.files --input thesis-5.6m --formats .ele .npz --json results.jsonl

The formats take turns; the first turn is a warm-up that does not count. The table has median seconds and megabytes. If
a mesh is not the same after it was written and read, stderr names the format and the exit code is 5.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import dmr
from scripts.lib.machines import machine
from scripts.lib.measuring import (
    INPUTS,
    add_record,
    benchmark_parser,
    digest,
    positive,
    run_benchmark,
    standard_input,
    timed,
)

FORMATS = (".ele", ".npz", ".vtu", ".vtk", ".msh", ".ply")
FORMAT = "{:>7} {:>9} {:>9} {:>9}"


@dataclass(kw_only=True)
class Row:
    """One format; the fields of a record of --json, times in seconds, a list entry per run."""

    suffix: str
    triangles: int
    writing: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)
    bytes: int = 0
    same: bool = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; returns the exit code, 5 if a mesh does not survive."""
    options = parser().parse_args(arguments)
    return run_benchmark("bench_files", lambda faults: measure(options, faults))


def measure(options: argparse.Namespace, faults: list[str]) -> None:
    """Measures, prints and records all formats; adds those that change the mesh to `faults`."""
    mesh = standard_input(options.input)
    rows = [Row(suffix=suffix, triangles=len(mesh.triangles)) for suffix in options.formats]
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    print(FORMAT.format("format", "write", "read", "MB"))
    for turn in range(options.repeats + 1):
        for row in rows:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                run(row, mesh, Path(folder), counts=turn > 0)
    for row in rows:
        times = (f"{statistics.median(seconds):.3f}" for seconds in (row.writing, row.reading))
        print(FORMAT.format(row.suffix, *times, f"{row.bytes / 1e6:.0f}"))
        if not row.same:
            faults.append(f"{row.suffix}: the mesh that was read is not the one that was written")
        add_record(options, asdict(row), on_gpu=False)


def run(row: Row, mesh: dmr.Mesh, folder: Path, *, counts: bool) -> None:
    """Writes and reads the mesh once."""
    path = folder / f"mesh{row.suffix}"
    writing, files = timed(lambda: dmr.write(path, mesh))
    reading, found = timed(lambda: dmr.read(path))
    assert isinstance(found, dmr.Mesh)
    row.bytes = sum(file.stat().st_size for file in files)
    row.same = row.same and digest(found) == digest(mesh)
    if counts:
        row.writing.append(writing)
        row.reading.append(reading)


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "format")
    add = found.add_argument
    add("--input", default="thesis-1.1m", metavar="NAME", help=f"of {', '.join(INPUTS)}, and random-N (N points)")
    add("--formats", nargs="+", default=list(FORMATS), metavar="SUFFIX", help=f"default: {' '.join(FORMATS)}")
    add("--repeats", type=positive, default=3, metavar="N", help="timed runs of each format (default: 3)")
    add("--folder", type=Path, metavar="FOLDER", help="where the temporary folders are made")
    return found


if __name__ == "__main__":
    sys.exit(main())
