"""Describes the machine of a measurement: processor, driver, compilers and state of the checkout."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import numpy as np

from dmr.memory.host.compiler import LIBRARY


def machine() -> dict[str, str | int]:
    """Processor, cores that this process may use, system, and versions of Python and numpy."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "processor": processor(),
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def processor() -> str:
    """Name of the processor as Linux reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (text.partition(":")[2].strip() for text in lines if text.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def gpu_driver() -> str | None:
    """Version of NVIDIA's driver; None if unknown."""
    said = _output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return said.splitlines()[0].strip() if said else None


def cuda_compiler() -> str | None:
    """Version of the nvcc on the PATH, which compiles the GPU's kernels: "nvcc 13.0.88"; None without one."""
    release = re.search(r"release [\d.]+, V([\d.]+)", _output_of("nvcc", "--version") or "")
    return f"nvcc {release[1]}" if release else None


def host_compiler() -> str | None:
    """Compiler of the CPU's kernels, as recorded in the library: "GCC: (Debian 12.2.0-14) 12.2.0"."""
    try:
        content = LIBRARY.read_bytes()
    except OSError:
        return None
    found = re.findall(rb"GCC: \([^()\0]*\) [\d.]+|clang version [^\0]*", content)
    return ", ".join(sorted({name.decode(errors="replace").strip() for name in found})) or None


def commit() -> str | None:
    """Commit of the checkout that holds this script, with a + if files differ from it; None if unknown."""
    at = ("git", "-C", str(Path(__file__).resolve().parent))
    found = _output_of(*at, "rev-parse", "HEAD")
    changed = _output_of(*at, "status", "--porcelain", "--untracked-files=no")
    return None if found is None or changed is None else found.strip() + ("+" if changed.strip() else "")


def _output_of(*command: str) -> str | None:
    """Output of a program; None if it is missing or failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
