"""What figures were measured on: the machine, its driver and compilers, the state of the checkout."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

import numpy as np

from dmr.memory.host.compiler import LIBRARY


def machine() -> dict[str, str | int]:
    """The processor, the cores that this process may use, the system, Python and numpy."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "processor": processor(),
        "cores": cores,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def processor() -> str:
    """The processor's name, as Linux knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = (text.partition(":")[2].strip() for text in lines if text.startswith("model name"))
    return next(names, platform.processor() or "unknown")


def gpu_driver() -> str | None:
    """The version of NVIDIA's driver; None where it does not say."""
    said = _said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return said.splitlines()[0].strip() if said else None


def cuda_compiler() -> str | None:
    """The nvcc on the PATH, which compiles the GPU's kernels: "nvcc 13.0.88"; None where there is none."""
    release = re.search(r"release [\d.]+, V([\d.]+)", _said("nvcc", "--version") or "")
    return f"nvcc {release[1]}" if release else None


def host_compiler() -> str | None:
    """What compiled the CPU's kernels, as the library itself says: "GCC: (Debian 12.2.0-14) 12.2.0"."""
    try:
        content = LIBRARY.read_bytes()
    except OSError:
        return None
    found = re.findall(rb"GCC: \([^()\0]*\) [\d.]+|clang version [^\0]*", content)
    return ", ".join(sorted({name.decode(errors="replace").strip() for name in found})) or None


def commit() -> str | None:
    """The commit of the checkout that this script lies in, with a + where files differ from it; None where unknown."""
    at = ("git", "-C", str(Path(__file__).resolve().parent))
    found = _said(*at, "rev-parse", "HEAD")
    changed = _said(*at, "status", "--porcelain", "--untracked-files=no")
    return None if found is None or changed is None else found.strip() + ("+" if changed.strip() else "")


def _said(*command: str) -> str | None:
    """What a program printed; None where it is not there, or failed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
