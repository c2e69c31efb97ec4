"""Runs every family of kernels under compute-sanitizer on a GPU: memcheck, racecheck, synccheck and initcheck.

    python scripts/sanitize_gpu.py                                                # all of it, some minutes
    python scripts/sanitize_gpu.py --family bfs-collapse-global --tool synccheck  # one step, with the tool's own output
    python scripts/sanitize_gpu.py --list
    python scripts/sanitize_gpu.py --device cpu                                   # the families alone, without a GPU

The families are those of `sanitizer_families.py`. A step is one tool over one family, in its own process; several run
at a time. The kernels are compiled with line numbers, into a separate cache. Every result must be that of one thread of
the CPU, bit for bit.

Exits with 1 where a tool reports anything but a known exception (`EXCEPTIONS`), where a step dies or takes too long,
where a result differs, or where no family launches a kernel; with 4 where there is no GPU or no compute-sanitizer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from measuring import positive
from platformdirs import user_cache_path
from sanitizer_families import FAMILIES, noted_launches, run_family

from dmr.memory import gpu_absence, open_device, signatures

# The tools, and what each is given. Only memcheck follows work that the GPU launches: NVIDIA's manual excludes dynamic
# parallelism for the others. A graph that launches itself is such work: over it synccheck reports barriers that are
# reached by all threads, and racecheck may end the process (`sanitizer_probes.cu` has a program of 20 lines where it
# can be seen). So under those tools the host launches the kernels of loops, turn by turn.
TOOLS = {
    "synccheck": (),
    "racecheck": ("--racecheck-report", "all"),
    "initcheck": (),
    "memcheck": (),
}
FOLLOWS_THE_DEVICE = ("memcheck",)

# The faults of `sanitizer_probes.cu` that the tools are to report; and a program without a fault, whose graph the host
# launches, or which launches itself.
PLANTED = {"memcheck": "overrun", "racecheck": "race", "synccheck": "barrier", "initcheck": "uninitialised"}
FAULTLESS = ("graph-by-host", "graph-by-itself")
Digests = dict[str, str | None]

PRINTED = 2000  # reports of a step that are printed; those beyond are counted
TRIES = 2  # of a step whose tool is killed by a signal before it has counted its reports
PROBE_LIMIT = 60.0  # seconds
FIRST_PORT, PORTS = 49152, 10  # on which the tool talks with what it runs: other ones for each step
SHOWN = 8  # kinds of reports of a step that are shown below the table

# Kernels that run on a CPU only, for results that are wanted there.
HOST_ONLY = frozenset({"count_sides_out", "list_sides_out", "find_neighbours", "find_closing_edge", "measure_shapes"})


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
    """One tool over one family, and what came of it.

    Attributes:
        found: how often each kind of report was made, by its text; expected: of them, those of known exceptions.
        failure: why the step counts as failed beside the reports, or empty.
        deaths: how often the tool itself was killed by a signal, which is no word about the kernels.
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
        """Whether nothing was found that is not expected."""
        return not self.failure and self.unexpected == 0

    @property
    def unexpected(self) -> int:
        """How many reports are no known exceptions."""
        return self.found.total() - self.expected


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps, prints the table; returns the exit code."""
    options = parser().parse_args(arguments)
    if options.list:
        for name, family in FAMILIES.items():
            print(f"{name:24} {(family.__doc__ or '').splitlines()[0]}")
        return 0
    families = options.family or list(FAMILIES)
    if options.device == "cpu":
        return without_tools(families)
    missing = gpu_absence() or (None if shutil.which("compute-sanitizer") else "compute-sanitizer is not on the PATH")
    if missing:
        print(f"sanitize_gpu: {missing}", file=sys.stderr)
        return 4
    environment = with_line_numbers()
    here = Path(__file__).resolve().parent
    warm = [sys.executable, "-m", "dmr", "devices", "--warm"]
    compiled = subprocess.run(warm, env=environment, cwd=here, stdin=subprocess.DEVNULL, check=False)
    if compiled.returncode:
        return 1
    if not try_tools(options.tool or list(TOOLS), environment):
        return 1
    alone = len(families) == 1 and len(options.tool or TOOLS) == 1
    steps = [Step(tool, family) for tool in options.tool or TOOLS for family in families]
    expected = {family: on_one_thread(family) for family in families}
    begun = time.perf_counter()
    with ThreadPoolExecutor(options.jobs) as workers:
        for step in workers.map(lambda step: sanitize(step, environment, options, expected[step.family]), steps):
            print(step.output if alone else f"{step.tool:10} {step.family:24} {outcome(step)}", flush=True)
    print(f"\n{len(steps)} steps in {time.perf_counter() - begun:.0f} s")
    return report(steps, families)


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--family", nargs="+", choices=list(FAMILIES), metavar="NAME", help="these families only")
    made.add_argument("--tool", nargs="+", choices=list(TOOLS), help="these tools only")
    made.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu: without tools")
    made.add_argument("--jobs", type=positive, default=6, help="steps at a time (6)")
    made.add_argument("--limit", type=positive, default=240, help="seconds that a step may take (240)")
    made.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the tools' output there")
    made.add_argument("--list", action="store_true", help="list the families and stop")
    return made


def without_tools(families: Sequence[str]) -> int:
    """Runs families on the CPU, with one thread and with several; returns the exit code."""
    steps = []
    for family in families:
        step = Step("none", family)
        begun = time.perf_counter()
        with noted_launches() as launched:
            step.digests = run_family(family, open_device("cpu", 3), say=None)
        step.launched, step.seconds = launched, time.perf_counter() - begun
        step.failure = differences(step, on_one_thread(family))
        steps.append(step)
        print(f"{family:24} {len(step.digests):3} cases {step.seconds:6.2f} s {step.failure}")
    return report(steps, families, device="cpu")


def with_line_numbers() -> dict[str, str]:
    """An environment in which nvcc writes line numbers, and kernels have a cache of their own."""
    folder = user_cache_path("dmr") / "sanitizer"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    nvcc, wrapper = shutil.which("nvcc"), folder / "bin" / "nvcc"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    if nvcc is not None and Path(nvcc) != wrapper:
        wrapper.write_text(f'#!/bin/sh\nexec "{Path(nvcc).resolve()}" -lineinfo "$@"\n')
        wrapper.chmod(0o755)
        environment["PATH"] = f"{wrapper.parent}{os.pathsep}{environment['PATH']}"
    return environment


def try_tools(tools: Sequence[str], environment: dict[str, str]) -> bool:
    """Prints what the tools say of `sanitizer_probes.cu`; returns whether each reports its planted fault."""
    source = Path(__file__).with_name("sanitizer_probes.cu")
    all_reported = True
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "probes")
        subprocess.run(
            ["nvcc", "-std=c++17", "-arch=native", "-rdc=true", "-o", program, str(source), "-lcudadevrt"],
            env=environment, stdin=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        for tool in tools:
            for probe in (PLANTED[tool], *FAULTLESS):
                output, code = run_tool(tool, [program, probe], environment, FIRST_PORT, PROBE_LIMIT)
                found = reports(output)
                print(f"{tool:10} {probe:24} {found.total():6} reports, exit code {code}")
                all_reported &= probe != PLANTED[tool] or bool(found)
    if not all_reported:
        print("a tool does not report the fault that was made for it: what it says of the kernels is worth nothing")
    return all_reported


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


def sanitize(step: Step, environment: dict[str, str], options: argparse.Namespace, expected: Digests) -> Step:
    """Runs one step, and fills in what came of it; `expected` are the digests of its results."""
    place = list(FAMILIES).index(step.family) * len(TOOLS) + list(TOOLS).index(step.tool)
    command = [sys.executable, str(Path(__file__).with_name("sanitizer_families.py")), step.family, options.device]
    if step.tool not in FOLLOWS_THE_DEVICE:
        command.append("host-loops")
    begun = time.perf_counter()
    for _ in range(TRIES):
        port = FIRST_PORT + PORTS * (1 + place)
        step.output, code = run_tool(step.tool, command, environment, port, options.limit)
        if code is None or code >= 0 or "SUMMARY" in step.output:
            break
        step.deaths += 1
    step.seconds = time.perf_counter() - begun
    if options.logs is not None:
        options.logs.mkdir(parents=True, exist_ok=True)
        (options.logs / f"{step.tool}-{step.family}.txt").write_text(step.output)
    examine(step, code, options.limit, expected)
    return step


def examine(step: Step, code: int | None, limit: float, expected: Digests) -> None:
    """Fills in a step what its output says.

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


def on_one_thread(family: str) -> Digests:
    """The digests of a family's results on one thread of a CPU."""
    return run_family(family, open_device("cpu", 1), say=None)


def differences(step: Step, expected: Digests) -> str:
    """Which results are not those of one thread of a CPU, in words; empty where all are."""
    wrong = [case for case, found in step.digests.items() if found != expected[case]]
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


def outcome(step: Step) -> str:
    """A step in a line."""
    expected = f" ({step.expected} known)" if step.expected else ""
    died = f"(the tool died {step.deaths} x) " if step.deaths else ""
    lines = [f"{step.found.total():6} reports{expected} {step.seconds:6.1f} s {died}{step.failure}"]
    lines += [f"    {count:6} x {text}" for text, count in step.found.most_common(SHOWN)]
    return "\n".join(lines)


def report(steps: Sequence[Step], families: Sequence[str], device: str = "cuda") -> int:
    """Prints the table and what is not as it should be; returns the exit code."""
    tools = list(dict.fromkeys(step.tool for step in steps))
    if device != "cpu":
        print(f"{'reports (seconds)':24}" + "".join(f"{tool:>18}" for tool in tools))
        for family in families:
            row = {step.tool: step for step in steps if step.family == family}
            print(f"{family:24}" + "".join(f"{cell(row[tool]):>18}" for tool in tools))
    unclean = [step for step in steps if not step.clean]
    for step in unclean:
        print(f"{step.tool} over {step.family}: {step.unexpected} reports. {step.failure}")
    never: set[str] = set()
    if len(families) == len(FAMILIES):
        never = set(signatures()) - set().union(*(step.launched for step in steps)) - HOST_ONLY
        if never:
            print(f"no family launches: {', '.join(sorted(never))}")
    used = {known for known in EXCEPTIONS for step in steps for text in step.found if is_known(step, text)}
    for known in used:
        print(f"known: {known.report} ({known.tools} over {known.families})")
        print(f"    the tool: {known.limitation}\n    the kernels: {known.safe}")
    print("clean" if not unclean and not never else "not clean")
    return 1 if unclean or never else 0


def cell(step: Step) -> str:
    """A step in the table."""
    died = "!" if step.failure else ""
    return f"{step.unexpected}{died} ({step.seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
