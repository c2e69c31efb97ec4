"""Compiles GPU modules when the package is built, so that the first call on a GPU does not have to.

It does so if a GPU is visible, or for the architectures listed in DMR_CUDA_ARCHITECTURES ("sm_90;sm_80"; "none"
turns it off). `setup.py` uses this file before numpy is installed: it imports only the standard library, `nvcc.py`, and
modules of `dmr.common` that need no more.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dmr.common.threads import available_threads

from .nvcc import CompilationError, Module, compile_modules, cubin_name

VARIABLE = "DMR_CUDA_ARCHITECTURES"
OLDEST = (7, 0)  # the oldest compute capability supported

# Runs in a separate process: a driver that hangs or crashes does not take the build with it.
_ASK = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
count, device, major, minor = (ctypes.c_int() for _ in range(4))
if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
    for number in range(count.value):
        cuda.cuDeviceGet(ctypes.byref(device), number)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        print(major.value, minor.value)
"""
_ASK_SECONDS = 30.0


class AheadError(Exception):
    """Modules cannot be compiled for the requested architectures; the message gives the reason."""


def named_architectures(environment: Mapping[str, str]) -> list[str] | None:
    """Returns the architectures listed in DMR_CUDA_ARCHITECTURES; None if it is not set.

    Raises:
        AheadError: the variable is malformed.
    """
    text = environment.get(VARIABLE, "").strip()
    if not text:
        return None
    if text.lower() == "none":
        return []
    names = [name for name in re.split(r"[;,\s]+", text) if name]
    for name in names:
        if re.fullmatch(r"sm_[1-9]\d{1,2}", name) is None:
            raise AheadError(f'{VARIABLE} = {text!r}: it must be names such as "sm_90;sm_80", or "none", not {name!r}')
    return list(dict.fromkeys(names))


def visible_architectures() -> list[str]:
    """Returns the architectures of this machine's GPUs that dmr can use; an empty list if the driver shows none."""
    try:
        asked = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, timeout=_ASK_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = [tuple(map(int, line.split())) for line in asked.stdout.splitlines()]
    return list(dict.fromkeys(f"sm_{major}{minor}" for major, minor in found if (major, minor) >= OLDEST))


def build_ahead(sources: Path, target: Path) -> list[str]:
    """Compiles all modules for the listed or visible architectures; removes outdated files.

    Args:
        sources: the folder `cuda_src`; target: the folder of the package for machine code.

    Returns:
        The architectures.

    Raises:
        AheadError: compilation for a listed architecture fails. For visible GPUs a line on stderr reports it instead,
            and modules are compiled on first use.
    """
    named = named_architectures(os.environ)
    architectures = visible_architectures() if named is None else named
    try:
        if architectures and shutil.which("nvcc") is None:
            raise AheadError("nvcc is not on the PATH")
        kept = [_build_for(sources, target, architecture) for architecture in architectures]
    except (AheadError, CompilationError, OSError) as error:
        sentence = f"GPU modules cannot be compiled for {', '.join(architectures)}: {error}"
        if named is not None:
            raise AheadError(sentence) from None
        print(f"dmr: {sentence}; they will be compiled on first use", file=sys.stderr)
        architectures, kept = [], []
    for old in set(target.glob("*.cubin")).difference(*kept):
        old.unlink()
    return architectures


def _build_for(sources: Path, target: Path, architecture: str) -> set[Path]:
    """Compiles the missing modules for one architecture; returns the files of all modules."""
    target.mkdir(parents=True, exist_ok=True)
    files = {target / cubin_name(source, sources, architecture): source for source in sorted(sources.rglob("*.cu"))}
    missing = [Module(source, file) for file, source in files.items() if not file.is_file()]
    if missing:
        print(f"dmr: compiling {len(missing)} GPU modules for {architecture}", file=sys.stderr)
    compile_modules(missing, sources, architecture, available_threads())
    return set(files)
