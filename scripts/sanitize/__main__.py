"""Runs every family of kernels under compute-sanitizer on a GPU: memcheck, racecheck, synccheck and initcheck.

    python -m scripts.sanitize                                                # all steps, some minutes
    python -m scripts.sanitize --family bfs-collapse-global --tool synccheck  # one step, with the tool's own output
    python -m scripts.sanitize --list
    python -m scripts.sanitize --device cpu                                   # the families alone, without a GPU

The families are those of `families.py`. A step runs one tool over one family in a separate process; several
steps run at a time. The kernels are compiled with line numbers, into a separate cache. Every result must equal that of
one CPU thread, bit for bit.

Exits with 1 if a tool reports anything except a known exception (`EXCEPTIONS`), a step dies or takes too long, a result
differs, or no family launches some kernel; with 4 if there is no GPU or no compute-sanitizer.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from platformdirs import user_cache_path

from dmr.memory import gpu_absence, open_device, signatures
from scripts.lib.measuring import positive
from scripts.sanitize.families import FAMILIES, noted_launches, run_family
from scripts.sanitize.steps import (
    EXCEPTIONS,
    FIRST_PORT,
    FOLLOWS_THE_DEVICE,
    TOOLS,
    Digests,
    Step,
    differences,
    is_known,
    reports,
    run_tool,
    sanitize,
)

# Faults in `probes.cu` that the tools must report; and programs without a fault, whose graph is launched by
# the host or by itself.
PLANTED = {"memcheck": "overrun", "racecheck": "race", "synccheck": "barrier", "initcheck": "uninitialised"}
FAULTLESS = ("graph-by-host", "graph-by-itself")
PROBE_LIMIT = 60.0  # seconds
SHOWN = 8  # number of kinds of reports shown per step

# Kernels that only run on a CPU, for results needed there.
HOST_ONLY = frozenset({
    "count_sides_out", "list_sides_out", "find_neighbours", "find_closing_edge", "measure_shapes",
    "invert_order", "link_neighbours", "level_in_sequence", "search_in_sequence", "unite_in_sequence",
    "search_small_graph",
})  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps and prints the table; returns the exit code."""
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
    warm = [sys.executable, "-m", "scripts.sanitize.families", "warm", options.device]
    if subprocess.run(warm, env=environment, stdin=subprocess.DEVNULL, check=False).returncode:
        return 1
    blind = blind_tools(options.tool or list(TOOLS), environment)
    alone = len(families) == 1 and len(options.tool or TOOLS) == 1
    steps = [Step(tool, family) for tool in options.tool or TOOLS for family in families]
    expected = {family: on_one_thread(family) for family in families}
    begun = time.perf_counter()

    def run(step: Step) -> Step:
        loops = options.device_loops or step.tool in FOLLOWS_THE_DEVICE
        sanitize(step, options.device, environment, options.limit, expected[step.family], device_loops=loops)
        if options.logs is not None:
            options.logs.mkdir(parents=True, exist_ok=True)
            (options.logs / f"{step.tool}-{step.family}.txt").write_text(step.output, encoding="utf-8")
        return step

    with ThreadPoolExecutor(options.jobs) as workers:
        for step in workers.map(run, steps):
            print(step.output if alone else f"{step.tool:10} {step.family:24} {outcome(step)}", flush=True)
    print(f"\n{len(steps)} steps in {time.perf_counter() - begun:.0f} s")
    if blind:
        print(f"{', '.join(blind)}: no report of the fault that is planted for it, so the other results say nothing")
    return report(steps, families) or bool(blind)


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    made = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    made.add_argument("--family", nargs="+", choices=list(FAMILIES), metavar="NAME", help="these families only")
    made.add_argument("--tool", nargs="+", choices=list(TOOLS), help="these tools only")
    made.add_argument("--device", default="cuda", help="cuda, cuda:N, or cpu (without tools)")
    made.add_argument("--jobs", type=positive, default=6, help="steps at a time (6)")
    made.add_argument("--limit", type=positive, default=240, help="seconds that a step may take (240)")
    made.add_argument("--device-loops", action="store_true", help="leave loops to the GPU under every tool")
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
    """Environment in which nvcc writes line numbers and kernels are cached separately."""
    folder = user_cache_path("dmr") / "sanitizer"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    nvcc, wrapper = shutil.which("nvcc"), folder / "bin" / "nvcc"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONUNBUFFERED": "1"}
    if nvcc is not None and Path(nvcc) != wrapper:
        wrapper.write_text(f'#!/bin/sh\nexec "{Path(nvcc).resolve()}" -lineinfo "$@"\n')
        wrapper.chmod(0o755)
        environment["PATH"] = f"{wrapper.parent}{os.pathsep}{environment['PATH']}"
    return environment


def blind_tools(tools: Sequence[str], environment: dict[str, str]) -> list[str]:
    """Prints the tools' reports on `probes.cu`; returns the tools that miss the fault planted for them."""
    source, blind = Path(__file__).with_name("probes.cu"), []
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "probes")
        subprocess.run(
            ["nvcc", "-std=c++17", "-arch=native", "-rdc=true", "-o", program, str(source), "-lcudadevrt"],
            env=environment, stdin=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        for tool in tools:
            for probe in (PLANTED[tool], *FAULTLESS):
                output, code = run_tool(tool, [program, probe], environment, FIRST_PORT, PROBE_LIMIT)
                found = reports(output).total()
                print(f"{tool:10} {probe:24} {found:6} reports, exit code {code}")
                if probe == PLANTED[tool] and not found:
                    blind.append(tool)
    return blind


def on_one_thread(family: str) -> Digests:
    """Digests of a family's results on one CPU thread."""
    return run_family(family, open_device("cpu", 1), say=None)


def outcome(step: Step) -> str:
    """Summary of a step, with its reports."""
    expected = f" ({step.expected} known)" if step.expected else ""
    died = f"(the tool died {step.deaths} x) " if step.deaths else ""
    lines = [f"{step.found.total():6} reports{expected} {step.seconds:6.1f} s {died}{step.failure}"]
    lines += [f"    {count:6} x {text}" for text, count in step.found.most_common(SHOWN)]
    return "\n".join(lines)


def report(steps: Sequence[Step], families: Sequence[str], device: str = "cuda") -> int:
    """Prints the table and the failures; returns the exit code."""
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
    """Table cell of a step."""
    died = "!" if step.failure else ""
    return f"{step.unexpected}{died} ({step.seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
