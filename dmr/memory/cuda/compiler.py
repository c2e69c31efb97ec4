"""Compiles `.cu` files with nvcc, and keeps the result in the user's cache folder by the hash of what made it."""

from __future__ import annotations

import hashlib
import logging
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
    """The machine code of one `.cu` file for a compute capability, compiled unless the cache holds it.

    Raises:
        DeviceUnavailableError: nvcc is missing.
        InternalError: the source does not compile; holds the compiler's own words.
    """
    architecture = f"sm_{capability[0]}{capability[1]}"
    digest = hashlib.sha256(source.read_bytes() + _headers_hash())
    digest.update("\n".join((*FLAGS, architecture, _nvcc_version())).encode())
    folder = user_cache_path("dmr") / "cubin"
    target = folder / f"{source.stem}-{architecture}-{digest.hexdigest()[:24]}.cubin"
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    log.warning("compiling %s for %s, once (`dmr devices --warm` does it ahead)", source.name, architecture)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "out.cubin"
        command = ["nvcc", *FLAGS, f"-arch={architecture}", "-cubin", "-I", str(source_folder()), "-o", str(made)]
        outcome = subprocess.run([*command, str(source)], capture_output=True, text=True)
        if outcome.returncode:
            raise InternalError(f"nvcc could not compile {source.name}:\n{outcome.stderr or outcome.stdout}")
        made.replace(target)  # whole or not at all, also when two processes compile at once
    return target
