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


# A kernel that launches kernels is compiled as relocatable code, and linked with the device runtime when it is loaded.
RELOCATABLE = "-rdc=true"


def launches_children(source: Path) -> bool:
    """Whether kernels of a `.cu` file launch kernels, or graphs of them."""
    return re.search(r"\bLAUNCH_(CHILD|GRAPH_AGAIN)\(", source.read_text(encoding="utf-8")) is not None


def flags(source: Path) -> tuple[str, ...]:
    """What nvcc is told about a `.cu` file, the architecture and the kind of output apart."""
    return (*FLAGS, RELOCATABLE) if launches_children(source) else FLAGS


@cache
def device_runtime() -> Path:
    """The toolkit's folder that holds the device runtime, libcudadevrt.a, as nvcc itself knows it.

    Raises:
        DeviceUnavailableError: it is not there.
    """
    try:
        said = subprocess.run(["nvcc", "--dryrun", "-cubin", "x.cu"], capture_output=True, text=True).stderr
    except OSError as error:
        raise DeviceUnavailableError(f"nvcc does not run ({error}): the CUDA toolkit must be on the PATH") from None
    root = re.search(r"^#\$ TOP=(.+)$", said, re.MULTILINE)
    found = sorted(Path(root[1].strip()).glob("**/libcudadevrt.a")) if root else []
    if not found:
        raise DeviceUnavailableError("the CUDA toolkit has no libcudadevrt.a, which launches from the device need")
    return found[0].parent


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
    digest.update("\n".join((*flags(source), architecture, _nvcc_version())).encode())
    folder = user_cache_path("dmr") / "cubin"
    target = folder / f"{source.stem}-{architecture}-{digest.hexdigest()[:24]}.cubin"
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    log.warning("compiling %s for %s, once (`dmr devices --warm` does it ahead)", source.name, architecture)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / "out.cubin"
        command = ["nvcc", *flags(source), f"-arch={architecture}", "-cubin", "-I", str(source_folder())]
        outcome = subprocess.run([*command, "-o", str(made), str(source)], capture_output=True, text=True)
        if outcome.returncode:
            raise InternalError(f"nvcc could not compile {source.name}:\n{outcome.stderr or outcome.stdout}")
        made.replace(target)  # whole or not at all, also when two processes compile at once
    return target
