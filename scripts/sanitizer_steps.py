"""One tool of compute-sanitizer over one family of kernels: the process, its reports, known exceptions."""

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
from pathlib import Path

from sanitizer_families import FAMILIES

# The tools, and what each is given. Only memcheck follows work that the GPU launches: NVIDIA's manual excludes dynamic
# parallelism for the others. A CUDA graph that launches itself is such work. Over loops that are such graphs version
# 2025.3.1 reported all threads of blocks of `sum_tiles_int32` and `relax_deferred` (synccheck), and ended with the
# process (racecheck). So under those tools the host launches the kernels of loops, turn by turn.
TOOLS = {
    "synccheck": (),
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "memcheck": (),
}
FOLLOWS_THE_DEVICE = ("memcheck",)

Digests = dict[str, str | None]

PRINTED = 2000  # reports of a step that are printed; those beyond are counted
TRIES = 2  # of a step whose tool is killed by a signal before it has counted its reports
FIRST_PORT, PORTS = 49152, 10  # on which the tool talks with what it runs: other ones for each step


@dataclass(frozen=True)
class Known:
    """Reports that are expected.

    Attributes:
        tools, families, report: patterns of the tools' names, the families' names and the reports.
        limitation: of the tool; safe: why the kernels are right.
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
        found: how often each kind of report was made, by its text; expected: of them, those of known exceptions.
        failure: why the step counts as failed beside the reports, or empty.
        deaths: how often the tool itself was killed by a signal, which says nothing about the kernels.
        launched: kernels that ran; digests: of the results, by case.
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
        """How many reports are no known exceptions."""
        return self.found.total() - self.expected


def run_tool(
    tool: str, command: Sequence[str], environment: dict[str, str], port: int, limit: float
) -> tuple[str, int | None]:
    """Runs a program under a tool; returns the output, and the exit code or None where it was ended after `limit` s."""
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
            os.killpg(process.pid, signal.SIGKILL)  # the tool, and what it runs, are alone in that session
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
        environment: of the process.
        limit: seconds that it may take.
        expected: the digests that its results should have.
        device_loops: whether loops are CUDA graphs that launch themselves; else the host launches their kernels.
    """
    place = list(FAMILIES).index(step.family) * len(TOOLS) + list(TOOLS).index(step.tool)
    command = [sys.executable, str(Path(__file__).with_name("sanitizer_families.py")), step.family, device]
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
    """Stores the result of a step, as read from its output.

    Args:
        step: with the output; code: the exit code, or None where it was ended after `limit` seconds.
        expected: the digests that its results should have.
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
    """The case that ran when the output ended."""
    cases = [line.removeprefix("case: ") for line in output.splitlines() if line.startswith("case: ")]
    return cases[-1] if cases else "none"


def differences(step: Step, expected: Digests) -> str:
    """Which results are not those of one thread of a CPU, in words; empty where all are."""
    cases = {**expected, **step.digests}
    wrong = [case for case in cases if step.digests.get(case, "missing") != expected.get(case, "missing")]
    return f"results differ from one thread of the CPU: {'; '.join(wrong)}" if wrong else ""


def reports(output: str) -> Counter[str]:
    """How often each kind of report is in a tool's output: its first lines, less threads and addresses."""
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
