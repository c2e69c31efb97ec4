"""Times refinements in tiles beside plain ones, from millions of triangles to a billion, with phases and memory.

    python -m scripts.study.large_tiles --triangles 16.8e6 67e6 135e6 --device cuda          # a square in eight tiles
    python -m scripts.study.large_tiles --cases ring --triangles 1e9 --tile 20e6 --device cuda --no-plain

Cases are "square", the unit square with a largest area; "coast", a square with an irregular closed curve of 100,000
segments, whose inside has half of the largest area of the outside; and "ring", the same with a regular polygon, all of
whose vertices are on one circle. Each refinement runs in a separate process, after a small one that loads kernels and
libraries, and starts the workers; files lie in --folder. The log of phases goes to stderr as it happens. With
--commands, whole commands are timed, from the start of the process to its end, beside the time that writing as many
bytes takes: use a --folder on a disk. Otherwise, --by-group prints a line per group of tasks: seconds, of these those
in which at most one process ran a task, seconds of the longest task, and of all tasks together. --timeline prints when
each task and each of its steps began and ended, and what the machine's cores did meanwhile. Columns:

    tiles      tiles of the first pass, and passes
    tiled      seconds of `dmr.distributed.refine`, with the files of the result
    plain      seconds of `dmr.refine` and of writing its mesh as .npz; ratio: tiled over their sum
    device     MiB of the GPU's memory that were in use at most, by both (without --workers and --commands)
    host       MiB of the largest resident set of the process, by both; with --workers, of the coordinator
    as many    (with --commands) seconds to write as many bytes as the parts have, to one file, and flush them
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dmr
from dmr.common.system.resident import resident_sets
from dmr.distributed.engines import Engine, chosen_engine
from dmr.distributed.jobs.process_pool import ProcessPool
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from dmr.distributed.pipeline import refine_by
from dmr.errors import InternalError
from dmr.memory import open_device
from scripts.lib.machines import machine
from scripts.lib.measuring import add_record, benchmark_parser, run_benchmark, timed
from scripts.lib.outlines import coast
from scripts.lib.task_times import Recorder

CASES = ("square", "coast", "ring")
SEGMENTS = 100_000
HALF_WIDTH = 2.0  # of the square around a curve of radius 1, about
AREA_SHARE = 0.582  # of the largest area that the mean area of a refined square is, measured
SMALL = 40_000  # triangles of the run that loads kernels
TILES = 8
MEBIBYTE = 2**20
WRITTEN_AT_ONCE = 2**24  # bytes
BLOCK = 512  # bytes, in which the system counts what a file takes up


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and records; returns 0, or the exit code of an error."""
    options = parser().parse_args(arguments)
    if options.apart is not None:
        return run_benchmark("large_tiles", lambda _: print(json.dumps(measured(json.loads(options.apart)))))

    def body(_: list[str]) -> None:
        print(" | ".join(f"{k}: {v}" for k, v in machine().items()))
        print(f"{'case':8}{'triangles':>14}{'tiles':>9}{'tiled':>8}{'plain':>8}{'writing':>9}{'ratio':>7}", end="")
        print(f"{'device':>16}{'host':>16}{'as many' if options.commands else '':>9}")
        for case in options.cases:
            for count in options.triangles:
                record = compared(case, count, options)
                add_record(options, record, on_gpu=options.device != "cpu")
                show(record)
                if options.by_group:
                    show_groups(record["tiled"].get("groups", ()))
                if options.timeline:
                    print(*record["tiled"].get("timeline", ()), sep="\n", flush=True)

    return run_benchmark("large_tiles", body)


def compared(case: str, count: float, options: argparse.Namespace) -> dict[str, Any]:
    """Measures one case in tiles and, unless that is not wanted, plain; each in separate processes."""
    common = {
        "case": case, "count": count, "device": options.device, "threads": options.threads,
        "folder": str(options.folder), "tile": options.tile or math.ceil(count / TILES), "workers": options.workers,
    }  # fmt: skip
    measure = of_command if options.commands else apart
    record: dict[str, Any] = {**common, "commands": options.commands, "tiled": measure({**common, "plain": False})}
    if not options.no_plain:
        record["plain"] = measure({**common, "plain": True})
        record["ratio"] = record["tiled"]["seconds"] / (record["plain"]["seconds"] + record["plain"]["writing"])
    return record


def apart(how: dict[str, Any]) -> dict[str, Any]:
    """Returns what `measured` does in a new process, which prints its log on stderr."""
    ended = subprocess.run(
        [sys.executable, "-m", "scripts.study.large_tiles", "--apart", json.dumps(how)], stdout=subprocess.PIPE
    )
    if ended.returncode:
        raise InternalError(f"the refinement in a separate process ended with {ended.returncode}")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def of_command(how: dict[str, Any]) -> dict[str, Any]:
    """Times a whole command: in tiles, with the time to write as many bytes, or plain, which includes its writing."""
    domain, max_area = source(how["case"], how["count"])
    with tempfile.TemporaryDirectory(prefix="dmr-large-tiles-", dir=how["folder"]) as name:
        folder = Path(name)
        outline, out = folder / "case.poly", folder / ("out.npz" if how["plain"] else "out")
        dmr.write(outline, domain)
        command = [sys.executable, "-m", "dmr", "refine", str(outline), "-o", str(out), "--device", how["device"]]
        command += ["--json", "-v"]
        given = {"-a": max_area, "--threads": how["threads"]}
        if not how["plain"]:
            given |= {"--tiles": math.ceil(how["tile"]), "--workers": how["workers"]}
        command += [str(each) for pair in given.items() if pair[1] is not None for each in pair]
        seconds, ended = timed(lambda: subprocess.run(command, stdout=subprocess.PIPE))
        if ended.returncode:
            raise InternalError(f"{' '.join(command)} ended with {ended.returncode}")
        told = json.loads(ended.stdout)
        found = {"seconds": seconds, **{name: told[name] for name in ("vertices", "triangles")}}
        if how["plain"]:
            return {**found, "writing": 0.0, "bytes": out.stat().st_size}
        written = bytes_in(out)
        shutil.rmtree(out)
        as_many = timed(lambda: write_as_many(folder / "bytes", written))[0]
        return {**found, "parts": told["parts"], "passes": told["passes"], "bytes": written, "as_many": as_many}


def bytes_in(folder: Path) -> int:
    """Returns the bytes that files take up, without holes in them."""
    return sum(BLOCK * path.stat().st_blocks for path in folder.iterdir())


def write_as_many(path: Path, count: int) -> None:
    """Writes bytes that do not compress to a file, and waits until they are on the disk."""
    block = np.random.default_rng(0).bytes(WRITTEN_AT_ONCE)
    with path.open("wb", buffering=0) as file:
        for start in range(0, count, WRITTEN_AT_ONCE):
            file.write(block[: count - start])
        os.fsync(file.fileno())


def measured(how: dict[str, Any]) -> dict[str, Any]:
    """Refines a case in this process, and measures seconds and memory."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="dmr-large-tiles-", dir=how["folder"]))
    try:
        with warm_engine(how, Store(folder)) as engine:
            refine = plain if how["plain"] else partial(in_tiles, engine=engine)
            logging.disable()
            small = {**how, "case": "square", "count": SMALL, "tile": SMALL // (4 * (how["workers"] or 1))}
            refine(small, folder / "small")
            logging.disable(logging.NOTSET)
            found = refine(how, folder / "large")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    device: Any = open_device(how["device"], how["threads"])
    sets = resident_sets()
    found["host"] = None if sets is None else sets[1] // MEBIBYTE
    if device.threads == 0 and not how["workers"]:
        found["device"] = device.highest_memory() // MEBIBYTE
    return found


@contextmanager
def warm_engine(how: dict[str, Any], store: Store) -> Iterator[Engine]:
    """Gives an engine whose processes, if there are any, serve one refinement after another."""
    resources = Resources(how["device"], how["threads"])
    if not how["workers"]:
        yield chosen_engine(resources)
        return
    with ProcessPool(store, how["workers"], resources) as pool:

        @contextmanager
        def of(store: Store) -> Iterator[ProcessPool]:
            pool.store = store
            yield pool

        yield of


def in_tiles(how: dict[str, Any], out: Path, engine: Engine) -> dict[str, Any]:
    """Refines in tiles."""
    domain, max_area = source(how["case"], how["count"])
    recorders: list[Recorder] = []

    @contextmanager
    def recorded(store: Store) -> Iterator[Recorder]:
        with engine(store) as runner:
            recorders.append(Recorder(runner))
            yield recorders[-1]

    seconds, parts = timed(
        lambda: refine_by(
            recorded, domain, out, tile_triangles=math.ceil(how["tile"]), on_conflict="error", convex_hull=False,
            overwrite=False, max_area=max_area,
        )
    )  # fmt: skip
    written = bytes_in(out)
    return {
        "seconds": seconds, **parts.counts, "passes": parts.manifest["passes"], "bytes": written,
        "groups": [group.row() for recorder in recorders for group in recorder.groups],
        "timeline": [line for recorder in recorders for line in recorder.timeline()],
    }  # fmt: skip


def plain(how: dict[str, Any], out: Path) -> dict[str, Any]:
    """Refines on one device, and writes the mesh."""
    domain, max_area = source(how["case"], how["count"])
    start = time.perf_counter()
    refined = dmr.refine(domain, max_area=max_area, device=how["device"], threads=how["threads"])
    seconds = time.perf_counter() - start
    path = out.with_suffix(".npz")
    writing, _ = timed(lambda: dmr.write(path, refined.mesh))
    return {
        "seconds": seconds, "writing": writing, "triangles": len(refined.mesh.triangles), "bytes": path.stat().st_size
    }  # fmt: skip


def source(case: str, count: float) -> tuple[dmr.Pslg, float | None]:
    """Returns a domain, and the largest area, that give about `count` triangles."""
    if case == "square":
        return dmr.domains.rectangle(1, 1), 1 / (AREA_SHARE * count)
    ring = coast(SEGMENTS).vertices if case == "coast" else dmr.domains.circle_points(1.0, SEGMENTS)
    x, y = ring.T
    inside = 0.5 * abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    most = ((2 * HALF_WIDTH) ** 2 + inside) / (AREA_SHARE * count)  # the inside counts twice
    corner = 0.99 * HALF_WIDTH
    square = HALF_WIDTH * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    around = np.arange(len(ring))
    segments = [(0, 1), (1, 2), (2, 3), (3, 0), *zip(4 + around, 4 + np.roll(around, -1), strict=True)]
    regions = np.array([(0, 0, 1, most / 2), (corner, corner, 2, most)])
    return dmr.Pslg(np.concatenate([square, ring]), np.array(segments, np.int32), regions=regions), None


def show(record: dict[str, Any]) -> None:
    """Prints a row of the table."""
    tiled, other = record["tiled"], record.get("plain", {})
    passes = tiled["passes"]
    tiles = f"{passes[0]['tiles'] if passes else 1} / {len(passes)}"
    memory = {kind: " / ".join(f"{each.get(kind, '-')}" for each in (tiled, other)) for kind in ("device", "host")}
    times = [f"{other[name]:.2f}" if name in other else "-" for name in ("seconds", "writing")]
    ratio = f"{record['ratio']:.2f}" if "ratio" in record else "-"
    as_many = f"{tiled['as_many']:>9.2f}" if "as_many" in tiled else ""
    print(
        f"{record['case']:8}{tiled['triangles']:>14,}{tiles:>9}{tiled['seconds']:>8.2f}{times[0]:>8}{times[1]:>9}"
        f"{ratio:>7}{memory['device']:>16}{memory['host']:>16}{as_many}",
        flush=True,
    )


def show_groups(groups: Sequence[dict[str, Any]]) -> None:
    """Prints a line per group of tasks, and the sums."""
    columns = ("seconds", "alone", "longest", "together")
    print(f"  {'group':16}{'tasks':>6}" + "".join(f"{name:>10}" for name in columns))
    total = {"function": "all", "tasks": sum(group["tasks"] for group in groups)}
    for group in [*groups, total | {name: sum(group[name] for group in groups) for name in columns}]:
        values = "".join(f"{group[name]:>10.3f}" for name in columns)
        print(f"  {group['function']:16}{group['tasks']:>6}{values}", flush=True)


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = benchmark_parser(__doc__, "refinement")
    add = found.add_argument
    add("--cases", nargs="+", choices=CASES, default=CASES[:1], help="default: square")
    add("--triangles", nargs="+", type=float, default=(1e6,), metavar="N", help="of the results, about")
    add("--tile", type=float, metavar="N", help=f"predicted triangles per tile (default: an {TILES}th)")
    add("--device", default="cpu", help="as for dmr.refine (default: cpu)")
    add("--threads", type=int, metavar="N", help="CPU threads of each task")
    add("--workers", type=int, metavar="N", help="processes (default: this one)")
    add("--folder", type=Path, default=Path("/dev/shm"), help="for the files (default: /dev/shm)")
    add("--commands", action="store_true", help="time whole commands")
    add("--by-group", action="store_true", help="print a line per group of tasks (without --commands)")
    add("--timeline", action="store_true", help="print when each task and its steps ran (without --commands)")
    add("--no-plain", action="store_true", help="refine in tiles only")
    add("--apart", help=argparse.SUPPRESS)
    return found


if __name__ == "__main__":
    sys.exit(main())
