"""Compiles `.cu` files with nvcc, and keeps the result in the user's cache folder by the hash of what made it."""

from __future__ import annotations

import hashlib
import logging
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from dmr.errors import DeviceUnavailableError, InternalError
from dmr.memory.signatures import source_folder

log = logging.getLogger("dmr.memory")

# -fmad=false: a contracted multiply-add rounds once where the CPU rounds twice, and the meshes would differ.
FLAGS = (
    "-O3",
    "-std=c++17",
    "-fmad=false",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-ftz=false",
    "--expt-relaxed-constexpr",
)

# A kernel that launches kernels is compiled as relocatable code, and linked with the device runtime.
RELOCATABLE = "-rdc=true"
LINK = ("-dlink", "-lcudadevrt")


def launches_children(source: Path) -> bool:
    """Whether kernels of a `.cu` file launch kernels, or graphs of them."""
    return re.search(r"\bLAUNCH_(CHILD|GRAPH_AGAIN)\(", source.read_text(encoding="utf-8")) is not None


def flags(source: Path) -> tuple[str, ...]:
    """What nvcc is told about a `.cu` file, the architecture and the kind of output apart."""
    return (*FLAGS, RELOCATABLE) if launches_children(source) else FLAGS


@cache
def _nvcc_version() -> str:
    try:
        return subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise DeviceUnavailableError(f"nvcc does not run ({error}): the CUDA toolkit must be on the PATH") from None


@cache
def _headers_hash() -> bytes:
    digest = hashlib.sha256()
    for header in sorted(source_folder().rglob("*.cuh")):
        digest.update(header.read_bytes())
    return digest.digest()


def cubin(source: Path, capability: tuple[int, int]) -> Path:
    """The machine code of one `.cu` file for a compute capability, ready to be loaded; made unless the cache holds it.

    Raises:
        DeviceUnavailableError: nvcc is missing.
        InternalError: the source does not compile; holds the compiler's own words.
    """
    architecture = f"sm_{capability[0]}{capability[1]}"
    digest = hashlib.sha256(source.read_bytes() + _headers_hash())
    linked = launches_children(source)
    digest.update("\n".join((*flags(source), *LINK * linked, architecture, _nvcc_version())).encode())
    folder = user_cache_path("dmr") / "cubin"
    target = folder / f"{source.stem}-{architecture}-{digest.hexdigest()[:24]}.cubin"
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    log.warning("compiling %s for %s, once (`dmr devices --warm` does it ahead)", source.name, architecture)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "compiled.cubin"
        _nvcc(*flags(source), "-I", str(source_folder()), architecture=architecture, source=source, made=made)
        if linked:
            whole = Path(scratch) / "linked.cubin"
            _nvcc(*LINK, architecture=architecture, source=made, made=whole)
            made = whole
        made.replace(target)  # whole or not at all, also when two processes compile at once
    return target


def _nvcc(*options: str, architecture: str, source: Path, made: Path) -> None:
    command = ["nvcc", f"-arch={architecture}", "-cubin", "-o", str(made), str(source), *options]
    outcome = subprocess.run(command, capture_output=True, text=True)
    if outcome.returncode:
        raise InternalError(f"nvcc could not make {made.name} of {source.name}:\n{outcome.stderr or outcome.stdout}")
