"""Runs one tool of compute-sanitizer over one family of kernels and evaluates its reports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from scripts.sanitize.families import FAMILIES

# The tools and their options. Only memcheck follows work launched by the GPU: NVIDIA's manual excludes dynamic
# parallelism for the others. A CUDA graph that launches itself is such work. On loops that are such graphs, version
# 2025.3.1 reported all threads of blocks of `sum_tiles_int32` and `relax_deferred` (synccheck), or crashed with the
# process (racecheck). Therefore, under those tools, the host launches the kernels of loops turn by turn.
TOOLS = {
    "synccheck": (),
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "memcheck": (),
}
FOLLOWS_THE_DEVICE = ("memcheck",)

Digests = dict[str, str | None]

PRINTED = 2000  # reports printed per step; further ones are only counted
TRIES = 2  # tries of a step whose tool is killed by a signal before it has counted its reports
FIRST_PORT, PORTS = 49152, 10  # for the connection of the tool to its program; different ports for each step


@dataclass(frozen=True)
class Known:
    """Expected reports.

    Attributes:
        tools, families, report: patterns of the tools' names, the families' names and the reports.
        limitation: limitation of the tool; safe: why the kernels are correct.
    """

    tools: str
    families: str
    report: str
    limitation: str
    safe: str


EXCEPTIONS = (
    Known(
        tools="synccheck|racecheck|initcheck",
        families="refine-balances|bfs-child-launch|sssp-child-launch",
        report="Warning: CUDA Dynamic Parallelism is not supported by the selected tool",
        limitation="these tools do not follow kernels that kernels launch, and say so once per process",
        safe="children have no barrier and no shared memory, memcheck follows them, and the results are the CPU's",
    ),
)


@dataclass
class Step:
    """One tool over one family, and the result.

    Attributes:
        found: number of reports by their text; expected: number of those that are known exceptions.
        failure: another reason why the step failed, or empty.
        deaths: how often the tool itself was killed by a signal, which says nothing about the kernels.
        launched: kernels that ran; digests: digests of the results, by case.
    """

    tool: str
    family: str
    seconds: float = 0.0
    found: Counter[str] = field(default_factory=Counter)
    expected: int = 0
    failure: str = ""
    deaths: int = 0
    launched: set[str] = field(default_factory=set)
    digests: Digests = field(default_factory=dict)
    output: str = ""

    @property
    def clean(self) -> bool:
        """Whether all reports are expected, and nothing failed."""
        return not self.failure and self.unexpected == 0

    @property
    def unexpected(self) -> int:
        """Number of reports that are not known exceptions."""
        return self.found.total() - self.expected


def run_tool(
    tool: str, command: Sequence[str], environment: dict[str, str], port: int, limit: float
) -> tuple[str, int | None]:
    """Runs a program under a tool; returns the output, and the exit code or None if it was killed after `limit` s."""
    under = [
        "compute-sanitizer", "--tool", tool, *TOOLS[tool], "--print-limit", str(PRINTED), "--show-backtrace", "device",
        "--require-cuda-init", "no", "--port", str(port), "--max-connections", str(PORTS),
    ]  # fmt: skip
    with subprocess.Popen(
        [*under, *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=limit)[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # only the tool and its program are in that session
            return process.communicate()[0], None


def sanitize(
    step: Step,
    device: str,
    environment: dict[str, str],
    limit: float,
    expected: Digests,
    *,
    device_loops: bool,
) -> None:
    """Runs one step, and stores the result in it.

    Args:
        step: the step.
        device: "cuda" or "cuda:N".
        environment: environment of the process.
        limit: time limit in seconds.
        expected: expected digests of its results.
        device_loops: whether loops are CUDA graphs that launch themselves; otherwise the host launches their kernels.
    """
    place = list(FAMILIES).index(step.family) * len(TOOLS) + list(TOOLS).index(step.tool)
    command = [sys.executable, "-m", "scripts.sanitize.families", step.family, device]
    if not device_loops:
        command.append("host-loops")
    begun = time.perf_counter()
    for _ in range(TRIES):
        port = FIRST_PORT + PORTS * (1 + place)
        step.output, code = run_tool(step.tool, command, environment, port, limit)
        if code is None or code >= 0 or "SUMMARY" in step.output:
            break
        step.deaths += 1
    step.seconds = time.perf_counter() - begun
    examine(step, code, limit, expected)


def examine(step: Step, code: int | None, limit: float, expected: Digests) -> None:
    """Reads the result of a step from its output and stores it in the step.

    Args:
        step: with the output; code: the exit code, or None if it was killed after `limit` seconds.
        expected: expected digests of its results.
    """
    step.found = reports(step.output)
    step.expected = sum(count for text, count in step.found.items() if is_known(step, text))
    result = next((line for line in step.output.splitlines() if line.startswith('{"digests"')), None)
    if code is None:
        step.failure = f"not done after {limit} s, in case: {last_case(step.output)}"
    elif result is None:
        step.failure = f"died with exit code {code} in case: {last_case(step.output)}"
    else:
        said = json.loads(result)
        step.digests, step.launched = said["digests"], set(said["launched"])
        step.failure = differences(step, expected)
        if code and not step.failure and not step.found:
            step.failure = f"exit code {code}"


def last_case(output: str) -> str:
    """Name of the case that ran when the output ended."""
    cases = [line.removeprefix("case: ") for line in output.splitlines() if line.startswith("case: ")]
    return cases[-1] if cases else "none"


def differences(step: Step, expected: Digests) -> str:
    """Names the results that differ from those of one CPU thread; empty if none does."""
    cases = {**expected, **step.digests}
    wrong = [case for case in cases if step.digests.get(case, "missing") != expected.get(case, "missing")]
    return f"results differ from one thread of the CPU: {'; '.join(wrong)}" if wrong else ""


def reports(output: str) -> Counter[str]:
    """Counts the kinds of reports in a tool's output, by their first lines without threads and addresses."""
    found: Counter[str] = Counter()
    lines = [line.removeprefix("=========").rstrip() for line in output.splitlines() if line.startswith("=========")]
    for number, line in enumerate(lines):
        if not line.strip() or line.startswith("     ") or re.search(r"COMPUTE-SANITIZER|SUMMARY", line):
            continue
        if re.match(r" (Program hit|Target application returned|No attachable process)", line):
            line = " " + line.strip().split(" on CUDA API")[0]
        where = [detail.strip() for detail in lines[number + 1 : number + 4] if re.match(r" {5}(at|and|in) ", detail)]
        text = " ".join([line.strip(), *where[: line.count("Race reported") + 1]])
        found[re.sub(r"\+0x[0-9a-f]+|\[\d+ hazards?\]| by thread.*|0x[0-9a-f]+", "", text).strip()] += 1
    told = [int(count) for count in re.findall(r"SUMMARY: (\d+) (?:error|hazard)", output)]
    if sum(told) > found.total():
        found["reports beyond those that are printed"] += sum(told) - found.total()
    return found


def is_known(step: Step, text: str) -> bool:
    """Whether a report is a known exception."""
    return any(
        re.fullmatch(known.tools, step.tool)
        and re.fullmatch(known.families, step.family)
        and re.search(known.report, text)
        for known in EXCEPTIONS
    )
