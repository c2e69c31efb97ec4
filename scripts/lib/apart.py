"""Repeats one refinement in a separate process and measures its times, its digest and its memory.

    python -m scripts.lib.apart mesh.npz '{"device": "cpu", "threads": 1}' --repeats 3 --validate

prints one JSON object. Memory can only be measured reliably in a process that has done nothing else: the process keeps
memory freed by earlier runs (numpy's arrays, the GPU's memory pool), and a second run reuses it. Therefore the first
run counts for memory, the others for time. The other scripts call `refine_apart`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dmr
from dmr.errors import InternalError
from dmr.memory import open_device
from scripts.lib.measuring import digest, refinement_phases, timed


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Memory of a run, in bytes.

    Attributes:
        taken: memory of the run beyond the baseline (Python, its modules, the input's arrays). On the CPU, the largest
            resident set of the process during the run less that before it; on a GPU, all device memory that the run
            allocated, since the pool keeps its memory.
        peak: memory including the baseline; on a GPU, that of all its processes, including the context's.
        points: vertices of the result.
    """

    taken: int
    peak: int
    points: int

    @property
    def a_point(self) -> float:
        """Bytes per vertex of the result."""
        return self.taken / self.points


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Measurements of a separate process.

    Attributes:
        device, threads, rounds, acceptance: of the last run; vertices, triangles: of its result.
        sha256: digest of that mesh; complete: whether no limit ended the run.
        memory: memory of the first run; None if the system does not report it.
        wall: seconds of the timed runs, arrays to arrays; refine: seconds of their refinement alone.
        valid: whether the exact checker proved the result; None if it did not run.
    """

    device: str
    threads: int
    rounds: int
    acceptance: float
    vertices: int
    triangles: int
    sha256: str
    complete: bool
    memory: Memory | None
    wall: list[float]
    refine: list[float]
    valid: bool | None


class ApartError(dmr.DmrError):
    """Failure of the separate process.

    Args:
        code: its return code: an exit code of dmr, or minus the number of a signal.
        said: its standard error, whose last line is reported.
    """

    def __init__(self, code: int, said: str) -> None:
        self.exit_code = code if code > 0 else InternalError.exit_code
        words = (said.strip().splitlines() or ["it said nothing"])[-1]
        super().__init__(f"the refinement in a separate process ended with {code}: {words}")


def refine_apart(
    path: Path, how: Mapping[str, Any], *, repeats: int = 0, validate: bool = False, hashed: bool = True
) -> Apart:
    """Refines the mesh in a file in a separate process, once without timing and then `repeats` times with.

    Args:
        path: the mesh, in a format that `dmr.read` takes.
        how: arguments of `dmr.refine`, plain values.
        repeats: number of timed runs.
        validate: prove the last result with the exact checker.
        hashed: compute the result's digest; it is empty otherwise.

    Raises:
        ApartError: the process failed; with its last line of standard error.
    """
    command = [sys.executable, "-m", "scripts.lib.apart", str(path), json.dumps(dict(how))]
    command += ["--repeats", str(repeats), *["--validate"] * validate, *["--no-digest"] * (not hashed)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise ApartError(ended.returncode, ended.stderr)
    found = json.loads(ended.stdout)
    memory = found.pop("memory")
    return Apart(**found, memory=None if memory is None else Memory(**memory))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the measurement and prints it as JSON; returns 0, or the exit code of the error that ended it."""
    options = parser().parse_args(arguments)
    try:
        found = measure(options.mesh, json.loads(options.how), options.repeats, options.validate, not options.no_digest)
    except dmr.DmrError as error:
        print(f"apart: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(asdict(found)))
    return 0


def measure(path: Path, how: dict[str, Any], repeats: int, validate: bool, hashed: bool) -> Apart:
    """Measures in this process what `refine_apart` returns."""
    mesh = dmr.read(path)
    assert isinstance(mesh, dmr.Mesh)
    dmr.refine(small_mesh(), **how)  # loads the libraries and creates the GPU's context
    gauge = Gauge(how.get("device", "auto"))
    result = dmr.refine(mesh, **how)
    read = gauge.read()
    memory = None if read is None else Memory(taken=read[0], peak=read[1], points=len(result.mesh.vertices))
    wall, refine = [], []
    for _ in range(repeats):
        del result
        seconds, result = timed(lambda: dmr.refine(mesh, **how))
        wall.append(seconds)
        refine.append(sum(refinement_phases(result.seconds).values()))
    return Apart(
        device=result.device,
        threads=result.threads,
        rounds=result.rounds,
        acceptance=result.acceptance,
        vertices=len(result.mesh.vertices),
        triangles=len(result.mesh.triangles),
        sha256=digest(result.mesh) if hashed else "",
        complete=result.complete,
        memory=memory,
        wall=wall,
        refine=refine,
        valid=dmr.validate(result.mesh, input=mesh, min_angle=how.get("min_angle", 30.0)).ok if validate else None,
    )


def small_mesh() -> dmr.Mesh:
    """A mesh too large to be refined by several recipes, but too small to affect the measurement."""
    return dmr.generate("random", 200, 1)


class Gauge:
    """Measures the memory allocated between its creation and a call of `read`.

    Args:
        device: device of the refinement, as for `dmr.refine`.
    """

    def __init__(self, device: str) -> None:
        self._device = open_device(device)
        if self._device.threads:
            _forget_peak()
        self._before = self._taken("VmRSS")

    def read(self) -> tuple[int, int] | None:
        """Bytes allocated since creation, and the peak; None if the system does not report them."""
        peak = self._taken("VmHWM")
        return None if peak is None or self._before is None else (peak - self._before, peak)

    def _taken(self, entry: str) -> int | None:
        """Bytes in use: on a GPU by all processes together, else an entry of this process' status."""
        if self._device.threads:
            return _resident(entry)
        from dmr.memory.cuda.device import CudaDevice

        assert isinstance(self._device, CudaDevice)
        return self._device.total_memory - self._device.free_memory()


def _forget_peak() -> None:
    """Resets the peak of this process' resident set to its current size (Linux; proc(5), clear_refs)."""
    with suppress(OSError):  # on failure the peak of reading the input remains, which is seldom the larger one
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _resident(entry: str) -> int | None:
    """Current (VmRSS) or peak (VmHWM) resident set of this process in bytes; None if the system does not report it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{entry}:\s+(\d+) kB", status, re.MULTILINE)
    return 1024 * int(found[1]) if found else None


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("mesh", type=Path, help="a mesh, in a format that dmr.read takes")
    add("how", help="arguments of dmr.refine as a JSON object")
    add("--repeats", type=int, default=0, metavar="N", help="timed runs after the first one (default: 0)")
    add("--validate", action="store_true", help="prove the last result")
    add("--no-digest", action="store_true", help="do not compute the result's digest")
    return found


if __name__ == "__main__":
    sys.exit(main())
