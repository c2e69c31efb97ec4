"""One refinement, again and again, in a process of its own: its times, its digest, and the memory that it took.

    python scripts/apart.py mesh.npz '{"device": "cpu", "threads": 1}' --repeats 3 --validate

prints one JSON object. Memory is only measured well in a process that has done nothing else: what earlier runs gave
back stays with the process (numpy's arrays, the GPU's memory pool), and a second run finds it there. So the first run
counts for memory, the others for time. The other scripts call `refine_apart`.
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

from measuring import digest, refinement_phases, timed

import dmr
from dmr.errors import InternalError
from dmr.memory import open_device


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What a run took, in bytes.

    Attributes:
        taken: beyond what was there before it (Python, its modules, the input's arrays). On the CPU the largest
            resident set of the process during the run less that before it; on a GPU what the run took of the device's
            memory, all of it, since the pool keeps what it took.
        peak: with what was there before it; on a GPU what all of its processes hold, the context's own memory too.
        points: vertices of the result.
    """

    taken: int
    peak: int
    points: int

    @property
    def a_point(self) -> float:
        """Bytes for each vertex of the result."""
        return self.taken / self.points


@dataclass(frozen=True, kw_only=True)
class Apart:
    """What the process did.

    Attributes:
        device, threads, rounds, acceptance: of the last run; vertices, triangles: of its result.
        sha256: of that mesh; complete: whether no limit ended the run.
        memory: of the first run; None where the system does not say.
        wall: seconds of the timed runs, arrays to arrays; refine: of their refinement alone.
        valid: whether the exact checker proved the result; None where it was not asked.
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
    """The process did not do what it was asked for.

    Args:
        code: what it ended with: an exit code of dmr's, or less the number of a signal.
        said: its standard error; the last line counts.
    """

    def __init__(self, code: int, said: str) -> None:
        self.exit_code = code if code > 0 else InternalError.exit_code
        words = (said.strip().splitlines() or ["it said nothing"])[-1]
        super().__init__(f"the refinement in a process of its own ended with {code}: {words}")


def refine_apart(
    path: Path, how: Mapping[str, Any], *, repeats: int = 0, validate: bool = False, hashed: bool = True
) -> Apart:
    """Refines the mesh in a file in a process of its own, once, and then `repeats` times for the clock.

    Args:
        path: the mesh, in a format that `dmr.read` takes.
        how: arguments of `dmr.refine`, plain values.
        repeats: timed runs.
        validate: prove the last result by the exact checker.
        hashed: take the result's digest; empty without.

    Raises:
        ApartError: the process failed; with its own words.
    """
    command = [sys.executable, str(Path(__file__).resolve()), str(path), json.dumps(dict(how))]
    command += ["--repeats", str(repeats), *["--validate"] * validate, *["--no-digest"] * (not hashed)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        raise ApartError(ended.returncode, ended.stderr)
    found = json.loads(ended.stdout)
    memory = found.pop("memory")
    return Apart(**found, memory=None if memory is None else Memory(**memory))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs, and prints what came of it as JSON; returns the exit code of the error that ended it, if one did."""
    options = parser().parse_args(arguments)
    try:
        found = measure(options.mesh, json.loads(options.how), options.repeats, options.validate, not options.no_digest)
    except dmr.DmrError as error:
        print(f"apart: {error}", file=sys.stderr)
        return error.exit_code
    print(json.dumps(asdict(found)))
    return 0


def measure(path: Path, how: dict[str, Any], repeats: int, validate: bool, hashed: bool) -> Apart:
    """What `refine_apart` returns, measured in this process."""
    mesh = dmr.read(path)
    assert isinstance(mesh, dmr.Mesh)
    dmr.refine(small_mesh(), **how)  # libraries are loaded, the GPU's context is there
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
    """Large enough not to be refined by several recipes, small enough to leave no traces."""
    return dmr.generate("random", 200, 1)


class Gauge:
    """Memory that is taken between its making and a call of `read`.

    Args:
        device: where the refinement runs, as `dmr.refine` takes it.
    """

    def __init__(self, device: str) -> None:
        self._device = open_device(device)
        if self._device.threads:
            _forget_peak()
        self._before = self._taken("VmRSS")

    def read(self) -> tuple[int, int] | None:
        """Bytes taken since, and the peak; None where the system does not tell."""
        peak = self._taken("VmHWM")
        return None if peak is None or self._before is None else (peak - self._before, peak)

    def _taken(self, entry: str) -> int | None:
        """Bytes that are taken: of a GPU by all processes together; else what an entry about this process says."""
        if self._device.threads:
            return _resident(entry)
        from dmr.memory.cuda.device import CudaDevice

        assert isinstance(self._device, CudaDevice)
        return self._device.total_memory - self._device.free_memory()


def _forget_peak() -> None:
    """The peak of this process' resident set starts again, at what it has now (Linux; proc(5), clear_refs)."""
    with suppress(OSError):  # else the peak so far stays: it is that of reading the input, seldom the larger one
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _resident(entry: str) -> int | None:
    """Bytes that this process has in memory (VmRSS) or had at most (VmHWM); None where the system does not say."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(rf"^{entry}:\s+(\d+) kB", status, re.MULTILINE)
    return 1024 * int(found[1]) if found else None


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("mesh", type=Path, help="a mesh, in a format that dmr.read takes")
    add("how", help="arguments of dmr.refine as a JSON object")
    add("--repeats", type=int, default=0, metavar="N", help="timed runs after the first one (default: 0)")
    add("--validate", action="store_true", help="prove the last result")
    add("--no-digest", action="store_true", help="do not take the result's digest")
    return found


if __name__ == "__main__":
    sys.exit(main())
