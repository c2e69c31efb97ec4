"""Times small meshes: the import of dmr, a first refinement, and refinements of 100 to 10,000 triangles.

    python -m scripts.bench.small                                  # the CPU, one thread and all cores: half a minute
    python -m scripts.bench.small --device cuda --repeats 21 --json results.jsonl

Launch overhead dominates the time of such small meshes: it depends on rounds, launches and, on the CPU, the Python code
between them, not on triangles. The inputs are Delaunay meshes of uniform random points, seed 12345, and the samples in
`meshes`, including outlines, all refined to 30 degrees. First, times of fresh processes in milliseconds:

    import numpy, import dmr    the imports; bytecode is compiled beforehand, as for an installed package
    dmr.refine                  the first access to it, with its imports
    first call                  the first refinement of a process, of 1,000 triangles, which loads the libraries

Then, for each mesh, medians in milliseconds:

    call     `dmr.refine`, from arrays to arrays; cpu: processor time of all threads of the process in that time
    refine   the refinement phases of the recipe that was kept
    tries    recipes tried: several up to 128 triangles, of which the smallest result is kept

The targets are at most 50 ms per call and, on a GPU, at most 3 ms for the phases; `over` marks a mesh that misses one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import dmr
from dmr.domains.generation import THESIS_SEED
from dmr.errors import InternalError
from scripts.lib.machines import machine
from scripts.lib.measuring import (
    append_record,
    benchmark_parser,
    circumstances,
    positive,
    refinement_phases,
    timed,
    where,
)

TRIANGLES = (100, 300, 1_000, 3_000, 10_000)
SAMPLES = Path(__file__).resolve().parents[2] / "meshes"
MOST_MILLISECONDS = {"call": 50.0, "refine on a GPU": 3.0}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One mesh on one device, in milliseconds per run; part of a record of --json."""

    mesh: str
    triangles_in: int
    triangles: int
    device: str
    threads: int
    call: list[float]
    cpu: list[float]
    refine: list[float]
    rounds: int
    launches: int
    tries: int

    def over(self) -> bool:
        """Whether a median is above its target."""
        on_gpu = self.threads == 0 and statistics.median(self.refine) > MOST_MILLISECONDS["refine on a GPU"]
        return on_gpu or statistics.median(self.call) > MOST_MILLISECONDS["call"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and records; returns 0, or the exit code of an error."""
    options = parser().parse_args(arguments)
    print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
    try:
        first = {what: in_fresh_processes(code, options.repeats) for what, code in statements(options.device[0])}
        for what, times in first.items():
            print(f"{what:40} {statistics.median(times):8.1f} ms   {min(times):.1f}..{max(times):.1f}")
        print(HEAD)
        rows = []
        for name, mesh in inputs(options.triangles):
            for device in options.device:
                for threads in options.threads if device == "cpu" else [None]:
                    rows.append(measure(name, mesh, device, threads, options.repeats))
                    print(line(rows[-1]), flush=True)
    except dmr.DmrError as error:
        print(f"bench_small: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{sum(not row.over() for row in rows)} of {len(rows)} within the targets")
    if options.json is not None:
        on_gpu = any(row.threads == 0 for row in rows)
        found = {"first_ms": first, "rows": [asdict(row) for row in rows]}
        append_record(options.json, {**circumstances(on_gpu, options.commit), **found})
    return 0


# ---- Measuring -----------------------------------------------------------------------------------------------------


def statements(device: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Code timed in fresh processes: its name, and (code that runs before, code that is timed)."""
    yield "import numpy", ("", "import numpy")
    yield "import dmr", ("", "import dmr")
    yield "dmr.refine", ("import dmr", "dmr.refine")
    made = "import logging, dmr; logging.disable(); dmr.refine; mesh = dmr.generate('random', 510, 12345)"
    yield f"first call, {device}", (made, f"dmr.refine(mesh, device={device!r})")


def in_fresh_processes(code: tuple[str, str], repeats: int) -> list[float]:
    """Milliseconds of the second piece of code, run after the first; a new process per run.

    Raises:
        InternalError: the code fails; with its last line of standard error.
    """
    before, clocked = code
    text = f"import time\n{before}\nstart = time.perf_counter()\n{clocked}\nprint(time.perf_counter() - start)"
    found = []
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for _ in range(repeats + 1):  # the first run writes the bytecode
            ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment)
            if ended.returncode:
                raise InternalError(f"{clocked!r} failed: {(ended.stderr.strip().splitlines() or ['no word'])[-1]}")
            found.append(1e3 * float(ended.stdout.split()[-1]))
    return found[1:]


def inputs(wanted: Sequence[int]) -> Iterator[tuple[str, dmr.Mesh | dmr.Pslg]]:
    """Random meshes of about `wanted` triangles, and the samples in `meshes` no larger than the largest of them."""
    for triangles in wanted:
        yield f"random {triangles:,}", random_mesh(triangles)
    for path in sorted((*SAMPLES.glob("*.ele"), *SAMPLES.glob("*.poly"))):
        mesh = dmr.read(path)
        if triangles_of(mesh) <= max(wanted):
            yield path.name, mesh


def random_mesh(triangles: int) -> dmr.Mesh:
    """The smallest random mesh with at least this many triangles."""
    points = max(4, triangles // 2)
    while len((mesh := dmr.generate("random", points, THESIS_SEED)).triangles) < triangles:
        points += 1
    return mesh


def triangles_of(mesh: dmr.Mesh | dmr.Pslg) -> int:
    """Number of triangles of a mesh, or of the triangulation of an outline."""
    return len((mesh if isinstance(mesh, dmr.Mesh) else dmr.triangulate(mesh)).triangles)


def measure(name: str, mesh: dmr.Mesh | dmr.Pslg, device: str, threads: int | None, repeats: int) -> Row:
    """Refines a mesh repeatedly; the first run does not count."""
    call, cpu, refine = [], [], []
    result = dmr.refine(mesh, device=device, threads=threads)
    for _ in range(repeats):
        before = time.process_time()
        seconds, result = timed(lambda: dmr.refine(mesh, device=device, threads=threads))
        cpu.append(1e3 * (time.process_time() - before))
        call.append(1e3 * seconds)
        refine.append(1e3 * sum(refinement_phases(result.seconds).values()))
    return Row(
        mesh=name,
        triangles_in=triangles_of(mesh),
        triangles=len(result.mesh.triangles),
        device=result.device,
        threads=result.threads,
        call=call,
        cpu=cpu,
        refine=refine,
        rounds=result.rounds,
        launches=sum(result.launches.values()),
        tries=result.tries,
    )


# ---- Output --------------------------------------------------------------------------------------------------------

FORMAT = "{:14} {:>9} {:>8} {:20} {:>8} {:>15} {:>8} {:>8} {:>6} {:>8} {:>5} {}"
HEAD = FORMAT.format(
    "mesh", "triangles", "out", "where", "call", "min..max", "cpu", "refine", "rounds", "launches", "tries", ""
).rstrip()


def line(row: Row) -> str:
    """Table row of a mesh."""
    call, cpu, refine = (f"{statistics.median(times):.1f}" for times in (row.call, row.cpu, row.refine))
    spread = f"{min(row.call):.1f}..{max(row.call):.1f}"
    return FORMAT.format(
        row.mesh, f"{row.triangles_in:,}", f"{row.triangles:,}", where(row.device, row.threads), call, spread, cpu,
        refine, row.rounds, f"{row.launches:,}", row.tries, "over" if row.over() else "",
    ).rstrip()  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "call")
    add = found.add_argument
    add("--triangles", nargs="+", type=positive, default=list(TRIANGLES), metavar="N",
        help=f"sizes of the random meshes (default: {' '.join(map(str, TRIANGLES))})")  # fmt: skip
    add("--device", nargs="+", default=["cpu"], metavar="NAME", help="cpu, cuda, cuda:1, ... (default: cpu)")
    add(
        "--threads", nargs="+", type=int, default=[1, None], metavar="N", help="CPU threads (default: 1, and all cores)"
    )
    add("--repeats", type=positive, default=5, metavar="N", help="timed runs of each (default: 5)")
    return found


if __name__ == "__main__":
    sys.exit(main())
