"""Helpers of the refinement benchmarks: inputs, timing, refinement phases, digests and records."""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import dmr
from dmr.domains.generation import THESIS_INPUTS, THESIS_SEED
from dmr.errors import OptionError
from scripts.lib.machines import commit, cuda_compiler, gpu_driver, host_compiler, machine

T = TypeVar("T")

# Numbers of uniform random points in the unit square; their Delaunay meshes have about twice as many triangles.
INPUTS = {"random-0.1m": 50_000, **THESIS_INPUTS}
# Phases of a run outside of the refinement: building the data structures, and returning the result.
AROUND = ("triangulate", "admit", "flip", "download", "total")


@dataclass(kw_only=True)
class Configuration:
    """A device and a number of threads, and the verdict on its results.

    Attributes:
        same: whether all results have the same bits; None if not compared.
    """

    device: str
    threads: int
    same: bool | None = None

    @property
    def where(self) -> str:
        """Readable name of the device."""
        return where(self.device, self.threads)


@dataclass(kw_only=True)
class Refined(Configuration):
    """Timed refinements of one input, the last result, and verdicts on all of them; None if not checked.

    Attributes:
        wall: seconds of each run; phases: median seconds of each phase.
        unrefined: reasons and counts of triangles that violate a bound; sha256: the distinct digests of the results.
        valid: whether all results were proved; size, ratio: triangles and time over those of `peer`, Triangle.
    """

    wall: list[float]
    phases: dict[str, float]
    vertices: int
    triangles: int
    rounds: int
    acceptance: float
    complete: bool
    unrefined: dict[str, int]
    sha256: list[str]
    valid: bool | None = None
    size: float | None = None
    ratio: float | None = None
    peer: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def figures(last: dmr.Refinement, seconds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
        """Returns what the last result says; `seconds` are those of all runs."""
        return {
            "device": last.device,
            "threads": last.threads,
            "phases": {phase: statistics.median(run.get(phase, 0.0) for run in seconds) for phase in last.seconds},
            "vertices": len(last.mesh.vertices),
            "triangles": len(last.mesh.triangles),
            "rounds": last.rounds,
            "acceptance": last.acceptance,
            "complete": last.complete,
        }


def run_benchmark(program: str, body: Callable[[list[str]], None]) -> int:
    """Runs a benchmark; prints errors and faults to stderr.

    Args:
        program: its name in messages; body: the benchmark, which adds the faults of results to the list.

    Returns:
        The exit code: 0, 5 if there are faults, or that of the error that ended it.
    """
    faults: list[str] = []
    try:
        body(faults)
    except dmr.DmrError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return error.exit_code
    for fault in faults:
        print(f"{program}: {fault}", file=sys.stderr)
    return 5 if faults else 0


def points_of(name: str) -> int:
    """Number of points of a standard input.

    Raises:
        OptionError: no such input.
    """
    number = re.fullmatch(r"random-(\d+)", name)
    if name not in INPUTS and number is None:
        raise OptionError(f"there is no input {name}: choose from {', '.join(INPUTS)} and random-N (N points)")
    return int(number[1]) if number else INPUTS[name]


def standard_input(name: str) -> dmr.Mesh:
    """Makes one of `INPUTS`, or "random-N": N points of the same seed.

    Raises:
        OptionError: no such input, or fewer points than a mesh needs.
    """
    return dmr.generate("random", points_of(name), THESIS_SEED)


def refinement_phases(seconds: Mapping[str, float]) -> dict[str, float]:
    """Phases of the refinement alone, from `Refinement.seconds`; their sum is its time."""
    return {phase: s for phase, s in seconds.items() if phase not in AROUND}


def digest(mesh: dmr.Mesh) -> str:
    """SHA-256 of vertices and triangles."""
    found = hashlib.sha256()
    for array, kind in ((mesh.vertices, "<f8"), (mesh.triangles, "<i4")):
        found.update(np.ascontiguousarray(array, kind).reshape(-1).data)
    return found.hexdigest()


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Wall time of a call in seconds, and its return value."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def circumstances(on_gpu: bool, measured_commit: str | None = None) -> dict[str, Any]:
    """Common fields of all records: date, version and commit of the sources, machine.

    Args:
        on_gpu: name the GPU's driver and compiler instead of the compiler of the CPU's kernels.
        measured_commit: the commit, if there is no checkout.
    """
    tools = {"driver": gpu_driver(), "compiler": cuda_compiler()} if on_gpu else {"compiler": host_compiler()}
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": dmr.__version__,
        "commit": measured_commit or commit(),
        "machine": machine() | tools,
    }


def benchmark_parser(description: str | None, record_of: str) -> argparse.ArgumentParser:
    """Makes the parser of a benchmark, with the options that record its results.

    Args:
        description: the docstring of its module; record_of: what each record is about.
    """
    found = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = f"append a record of each {record_of}, one JSON object per line"
    found.add_argument("--json", type=Path, metavar="FILE", help=text)
    found.add_argument("--commit", metavar="HASH", help="commit to record where there is no checkout")
    return found


def add_record(options: argparse.Namespace, fields: Mapping[str, Any], *, on_gpu: bool) -> None:
    """Appends a record, with its circumstances, to the file of --json, if there is one (`benchmark_parser`)."""
    if options.json is not None:
        append_record(options.json, {**circumstances(on_gpu, options.commit), **fields})


def append_record(path: Path, record: Mapping[str, Any]) -> None:
    """Appends a record to a file of one JSON object per line."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def where(device: str, threads: int) -> str:
    """Readable name of a device: "cpu, 2 threads", "cuda:0 (NVIDIA H200)" (which has 0 threads)."""
    return device if threads == 0 else f"{device}, {threads} thread{'s'[: threads != 1]}"


def positive(text: str) -> int:
    """Parses an integer of at least 1 for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {number}")
    return number
