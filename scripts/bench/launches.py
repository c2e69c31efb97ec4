"""Measures launch overhead on a GPU by launch method; the reason why device-driven rounds are a graph launching itself.

    python -m scripts.bench.launches [--json FILE]

A sequence of 10 or 50 short kernels runs 200 times: launched by the host into a stream; by tail launches of a kernel,
which then launches itself; as a graph by the host; as a graph that launches itself; as the body of a graph's loop. The
table has microseconds per kernel, medians of five runs. Needs nvcc of CUDA 12.4 or later, and a GPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from scripts.lib.machines import commit, cuda_compiler, gpu_driver, machine

DRIVERS = {
    "stream": "host, into a stream",
    "tail-launch": "device, kernel by kernel (tail launch)",
    "graph": "host, as a graph",
    "graph-itself": "device, a graph that launches itself",
    "graph-while": "device, a loop in a graph",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; returns the exit code, 4 without nvcc or a GPU."""
    options = parser().parse_args(arguments)
    try:
        found = measured()
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or error
        print(f"bench_launches: nothing could be measured: {said}", file=sys.stderr)
        return 4
    shapes = sorted({(blocks, kernels) for _, blocks, kernels in found})
    print(f"{'microseconds per kernel':40}" + "".join(f"{f'{b:,} blocks x {k}':>18}" for b, k in shapes))
    for driver, name in DRIVERS.items():
        print(f"{name:40}" + "".join(f"{found[driver, b, k]:18.2f}" for b, k in shapes))
    if options.json is not None:
        with options.json.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record(found, options.commit)) + "\n")
    return 0


def measured() -> dict[tuple[str, int, int], float]:
    """Microseconds per kernel, by driver, blocks and kernels of the sequence."""
    source = Path(__file__).with_suffix(".cu")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bench_launches"
        command = [
            "nvcc",
            "-std=c++17",
            "-O3",
            "-arch=native",
            "-rdc=true",
            "-o",
            str(program),
            str(source),
            "-lcudadevrt",
        ]
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        said = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout
    lines = [line.split() for line in said.splitlines()]
    return {(driver, int(blocks), int(kernels)): float(time) for driver, blocks, kernels, time in lines}


def record(found: dict[tuple[str, int, int], float], measured_commit: str | None) -> dict[str, Any]:
    """One line of --json."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": measured_commit or commit(),
        "machine": machine() | {"driver": gpu_driver(), "compiler": cuda_compiler()},
        "microseconds": [
            {"driver": driver, "blocks": blocks, "kernels": kernels, "a_kernel": time}
            for (driver, blocks, kernels), time in found.items()
        ],
    }


def parser() -> argparse.ArgumentParser:
    """Defines the command-line options."""
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--json", type=Path, metavar="FILE", help="append a record, one JSON object per line")
    found.add_argument("--commit", metavar="HASH", help="commit to record where there is no checkout")
    return found


if __name__ == "__main__":
    sys.exit(main())
