"""Refines under NVIDIA's Nsight Compute (ncu) and reads the counters that ncu prints.

Its table is mixed with its messages (==PROF== ...) and the program's output. With `--page raw`, each line holds one
launch with one column per metric, and a second header line gives the units. Otherwise, each line holds one metric of
one launch. Both layouts are read; additional or missing columns do not matter.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dmr.errors import DeviceUnavailableError, DmrError

KERNELS = (  # in their order within a round
    "survey_bad", "gather_candidates",
    "grow_cavities",
    "mark_cavity", "remark_cavity", "remark_cavity_literally", "check_marks",
    "mark_in_three_phases", "mark_cavity_atomic",
    "check_ownership", "resolve_conflicts",
    "retriangulate", "link_winners",
    "check_listed", "check_by_cavity", "check_by_children",
)  # fmt: skip
Launch = dict[str, Any]  # "kernel", and by metric: nanoseconds, bytes, percent or a count; None for n/a


@dataclass(frozen=True)
class Figure:
    """Figure of a launch in the tables: a metric, or a sum of metrics, in a given unit."""

    column: str  # name in the CSV
    head: str  # name in the page
    decimals: int  # in the page; the CSV has two more
    metrics: tuple[str, ...]
    unit: int = 1

    def of(self, launches: Sequence[Launch]) -> float | None:
        """Sum over launches; None if there are none, or ncu reports n/a."""
        values: list[Any] = [launch.get(metric) for launch in launches for metric in self.metrics]
        if not values or None in values:
            return None
        total: float = sum(values)
        return round(total / self.unit, self.decimals + 2) if self.decimals else total


GRID = "launch__grid_size"
TIME = Figure("longest_us", "longest, us", 1, ("gpu__time_duration.sum",), 1000)
FIGURES = (
    TIME,
    Figure("grid", "grid", 0, (GRID,)),
    Figure("threads_of_32", "threads of 32", 1, ("smsp__thread_inst_executed_per_inst_executed.ratio",)),
    Figure("warps_active_percent", "warps, %", 1, ("sm__warps_active.avg.pct_of_peak_sustained_active",)),
    Figure("dram_percent", "DRAM, %", 1, ("dram__throughput.avg.pct_of_peak_sustained_elapsed",)),
    Figure("l2_percent", "L2, %", 1, ("lts__throughput.avg.pct_of_peak_sustained_elapsed",)),
    Figure("atomic_sectors", "atomic sectors", 0, ("lts__t_sectors_op_atom.sum", "lts__t_sectors_op_red.sum")),
    Figure("registers", "registers", 0, ("launch__registers_per_thread",)),
    Figure("dram_bytes", "DRAM, bytes", 0, ("dram__bytes.sum",)),
)
METRICS = [metric for figure in FIGURES for metric in figure.metrics]
# Base units are requested; a version of ncu that scales anyway states the unit beside the number.
SCALES = {
    "us": 1e3, "usecond": 1e3, "ms": 1e6, "msecond": 1e6, "s": 1e9, "second": 1e9,
    "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Ksector": 1e3, "Msector": 1e6, "Gsector": 1e9,
}  # fmt: skip
HINDRANCES = {
    "ERR_NVGPUCTRPERM": "ncu may not read this GPU's performance counters (ERR_NVGPUCTRPERM): run it as root, or ask "
    "for the driver's option NVreg_RestrictProfilingToAdminUsers=0",
    "LibraryNotLoaded": "ncu cannot start its profiler on this host (LibraryNotLoaded), as in sandboxes that keep "
    "performance counters from their guests: take another host",
}

ACCOUNT = "refined: "  # prefix of the line with the program's report
# As with Python's -P, nothing is imported from the working folder.
PROGRAM = f"""\
import json, sys
if sys.path[0] == "":
    del sys.path[0]
import dmr
from dmr.domains.generation import THESIS_SEED
from dmr.memory import open_device
points, after, steiner, marking, balance, device = sys.argv[1:]

def watch(number, bad, triangles):
    if number == int(after):  # a callback runs outside of the device's context
        import pycuda.driver
        opened = open_device(device)
        with opened.lock, opened.current:
            pycuda.driver.start_profiler()

try:
    mesh = dmr.generate("random", int(points), THESIS_SEED)
    progress = watch if int(after) else None
    how = dict(steiner=steiner, marking=marking, balance=balance)
    done = dmr.refine(mesh, **how, loop="host", device=device, progress=progress)
    account = dict(device=done.device, triangles=len(mesh.triangles), rounds=done.rounds, launches=done.launches)
    account |= dict(children=done.checks["children"], error=None, exit_code=0)
except dmr.DmrError as error:
    account = dict(error=str(error), exit_code=error.exit_code)
print({ACCOUNT!r} + json.dumps(account))
sys.exit(account["exit_code"])
"""


class NoFiguresError(DmrError):
    """A refinement ran, or started, but gave no figures."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A refinement under ncu.

    Attributes:
        account: the program's report: device, triangles of the input, rounds, launches, children.
        seen: the launches, in ncu's order.
        said: ncu's errors and warnings; whole: whether ncu reported no error.
        unknown: metrics that this ncu does not know.
    """

    account: dict[str, Any]
    seen: list[Launch]
    said: list[str]
    whole: bool
    unknown: list[str] = field(default_factory=list)


def find(ncu: str) -> str:
    """Path of an ncu, given by its name or path.

    Raises:
        DeviceUnavailableError: there is none.
    """
    found = shutil.which(ncu)
    if found is None:
        raise DeviceUnavailableError(
            f"there is no program {ncu}: it is NVIDIA's Nsight Compute, which comes with the CUDA toolkit; put it on "
            "the PATH, or give its path with --ncu"
        )
    return found


def version(ncu: str, timeout: float) -> str | None:
    """Version of an ncu, such as "2025.3.1.0"; None if unknown."""
    found = re.search(r"Version ([\d.]+)", _ended([ncu, "--version"], timeout)[0])
    return found[1] if found else None


def profile(
    ncu: str,
    metrics: Sequence[str],
    after: int,
    count: int,
    points: int,
    strategy: tuple[str, str, str],
    timeout: float,
) -> Profile:
    """Refines a mesh of random points under ncu.

    An ncu that does not know a metric may give no figures at all. In that case it runs again without that metric.

    Args:
        ncu: its path.
        metrics: names of the metrics.
        after: rounds to skip before profiling.
        count: number of launches of `KERNELS` to profile after these rounds.
        points: number of points of the mesh.
        strategy: rule for Steiner points, marking and balance.
        timeout: time limit in seconds, after which ncu and the program are killed.

    Raises:
        DeviceUnavailableError: there is no GPU, or ncu may not read its counters.
        NoFiguresError: there are no figures for any other reason.
    """
    program = [sys.executable, "-c", PROGRAM, str(points), str(after), *strategy, "cuda"]
    chosen = ["-k", f"regex:^({'|'.join(KERNELS)})$", "-c", str(count)]
    chosen += ["--profile-from-start", "off"] if after else []  # the program starts the profiler
    # Clocks are not changed, because others may be using the host.
    layout = ["--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    printed, complaints, code = _ended([ncu, *layout, "--metrics", ",".join(metrics), *chosen, *program], timeout)
    lines = printed.splitlines() + complaints.splitlines()
    for sign, sentence in HINDRANCES.items():
        if sign in printed or sign in complaints:
            raise DeviceUnavailableError(sentence)
    accounts = [line.partition(ACCOUNT)[2] for line in lines if ACCOUNT in line]
    account = json.loads(accounts[-1]) if accounts else {"error": None, "exit_code": None}
    if account["exit_code"] == DeviceUnavailableError.exit_code:
        raise DeviceUnavailableError(account["error"])
    seen = parse(printed, metrics)
    said = [line for line in dict.fromkeys(lines) if line.startswith(("==ERROR==", "==WARNING=="))]
    unfound = " ".join(line for line in said if "find metric" in line)
    unknown = [name for name in metrics if re.search(rf"\b{name.partition('.')[0]}\b", unfound)]
    if not seen and 0 < len(unknown) < len(metrics):
        rest = [name for name in metrics if name not in unknown]
        again = profile(ncu, rest, after, count, points, strategy, timeout)
        return replace(again, unknown=unknown + again.unknown)
    if account["exit_code"] != 0 or not seen:
        last_words = next((line for line in reversed(complaints.splitlines()) if line.strip()), "")
        what = "ncu saw none of the kernels" if accounts else "the refinement did not end"
        raise NoFiguresError(account["error"] or "; ".join(filter(None, dict.fromkeys([what, last_words, *said]))))
    whole = code == 0 and not any(line.startswith("==ERROR==") for line in said)
    return Profile(account=account, seen=seen, said=said, whole=whole, unknown=unknown)


def _ended(command: Sequence[str], timeout: float) -> tuple[str, str, int]:
    """Runs a command; returns its stdout, its stderr and its exit code."""
    # Number formats depend on the locale: C has a decimal point and no thousands separators.
    plain = os.environ | {"LC_ALL": "C"}
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            errors="replace", env=plain, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise DeviceUnavailableError(f"{command[0]} does not start: {error.strerror}") from None
    with process:
        try:
            printed, complaints = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise NoFiguresError(f"not done after {timeout:g} seconds, the limit (--timeout)") from None
        finally:  # the program is a child of ncu: kill both
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return printed, complaints, process.returncode


def parse(printed: str, metrics: Sequence[str]) -> list[Launch]:
    """Reads ncu's table.

    Args:
        printed: the table, in either layout, and any lines around it.
        metrics: metrics to read; those missing in the table are None in each launch.

    Raises:
        NoFiguresError: a line of the table is broken.
    """
    found: dict[tuple[str, str], Launch] = {}
    head: list[str] = []
    units: Mapping[str, str] = {}
    for line in printed.splitlines():
        cells = next(csv.reader([line]), [])
        if "ID" in cells and "Kernel Name" in cells:
            head, units = cells, {}
            continue
        if len(cells) != len(head):
            if head and line.startswith('"'):
                raise NoFiguresError(f"ncu's table has a broken line: {line[:100]}")
            continue
        record = dict(zip(head, cells, strict=True))
        if not record.get("Kernel Name"):
            units = record
            continue
        # The name of a C++ function is followed by its parameters.
        launch = {"kernel": record["Kernel Name"].partition("(")[0], **dict.fromkeys(metrics)}
        launch = found.setdefault((record.get("Process ID", ""), record["ID"]), launch)
        given = {name: (record[name], units.get(name, "")) for name in metrics if name in record}
        if "Metric Name" in record:
            given = {record["Metric Name"]: (record["Metric Value"], record["Metric Unit"])}
        launch.update({name: _number(*given[name]) for name in given if name in metrics})
        if launch.get(GRID) is None:  # some versions report it only in a separate column: "(8, 1, 1)"
            sides = re.findall(r"\d+", record.get("Grid Size", ""))
            launch[GRID] = math.prod(map(int, sides)) if sides else None
    return list(found.values())


def _number(text: str, unit: str) -> float | None:
    plain = text.replace(",", "").strip()
    if not plain or "n/a" in plain:
        return None
    try:
        number = float(plain) * SCALES.get(unit, 1)
    except ValueError:
        raise NoFiguresError(f"ncu's table has {text!r} where a number belongs") from None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number
