"""Finds the machine code of GPU modules: built with the package, in the user's cache folder, or compiled by nvcc."""

from __future__ import annotations

import logging
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

from dmr.common.errors import DeviceUnavailableError, InternalError
from dmr.common.pooling import ForkSafeLock
from dmr.common.threads import available_threads
from dmr.memory.cuda.nvcc import CompilationError, Module, compile_modules, cubin_name
from dmr.memory.declarations import source_folder

log = logging.getLogger("dmr.memory")

PREBUILT = Path(__file__).resolve().parent / "prebuilt"  # written by setup.py

# Jetson boards, whose machine code is not compatible with that of other GPUs of the same major version.
EMBEDDED = ((7, 2), (8, 7))

_compiling = ForkSafeLock()  # if threads need the same modules, one compiles them, and the others find them


def modules() -> list[Path]:
    """Returns every `.cu` file, sorted."""
    return sorted(source_folder().rglob("*.cu"))


def module(name: str) -> Path:
    """Returns the `.cu` file of a module: "scan", "graph/near_far", ...

    Raises:
        InternalError: unknown module.
    """
    source = source_folder() / f"{name}.cu"
    if not source.is_file():
        raise InternalError(f"there is no GPU module {name}")
    return source


def cubin(source: Path, capability: tuple[int, int]) -> Path:
    """Returns the machine code of one module; see `cubins`."""
    return cubins([source], capability)[0]


def cubins(sources: Iterable[Path], capability: tuple[int, int]) -> list[Path]:
    """Returns the machine code of modules, ready to be loaded.

    Modules that neither came with the package nor are in the cache folder are compiled, several at a time, with one
    line in the log. Ctrl-C in the main thread ends the compilation.

    Args:
        sources: the `.cu` files; capability: the compute capability of the GPU.

    Returns:
        A file for each source, in order.

    Raises:
        DeviceUnavailableError: nvcc is missing, or the cache folder cannot be written.
        InternalError: a source does not compile; the message includes the compiler's output.
    """
    wanted = list(sources)
    found = {source: prebuilt(source, capability) for source in wanted}
    missing = [source for source, code in found.items() if code is None]
    if missing:
        found.update(_from_cache(missing, f"sm_{capability[0]}{capability[1]}"))
    return [code for code in map(found.__getitem__, wanted) if code is not None]


def is_prebuilt(capability: tuple[int, int]) -> bool:
    """Whether all modules came compiled with the package, so that nvcc is not needed."""
    return PREBUILT.is_dir() and all(prebuilt(source, capability) is not None for source in modules())


def prebuilt(source: Path, capability: tuple[int, int]) -> Path | None:
    """Returns the machine code of a module that came with the package; None if there is none for this GPU.

    Code for an earlier minor version of the same major version runs as well.
    """
    if not PREBUILT.is_dir():
        return None
    major, most = capability
    for minor in range(most, -1, -1):
        if minor != most and ((major, minor) in EMBEDDED or capability in EMBEDDED):
            continue
        code = PREBUILT / cubin_name(source, source_folder(), f"sm_{major}{minor}")
        if code.is_file():
            return code
    return None


def _from_cache(sources: list[Path], architecture: str) -> dict[Path, Path]:
    """Returns machine code in the user's cache folder, by source; compiles missing modules."""
    folder = user_cache_path("dmr") / "cubin"
    version = _nvcc_version()
    targets = {source: folder / cubin_name(source, source_folder(), architecture, version) for source in sources}
    if all(target.is_file() for target in targets.values()):
        return targets
    with _compiling:
        missing = [Module(source, target) for source, target in targets.items() if not target.is_file()]
        if missing:
            plural = "s" * (len(missing) > 1)
            log.warning(
                "compiling %d GPU module%s for %s, once (`dmr devices --warm` compiles all of them in advance)",
                len(missing), plural, architecture,
            )  # fmt: skip
        try:
            folder.mkdir(parents=True, exist_ok=True)
            compile_modules(missing, source_folder(), architecture, available_threads())
        except CompilationError as error:
            raise InternalError(str(error)) from None
        except OSError as error:
            raise DeviceUnavailableError(
                f"GPU modules cannot be compiled in {folder} ({error}): free space there, or set XDG_CACHE_HOME to "
                "another cache folder"
            ) from None
    return targets


@cache
def _nvcc_version() -> str:
    try:
        return subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        found = shutil.which("nvcc")
        raise DeviceUnavailableError(
            f"nvcc does not run ({error}): the CUDA toolkit must be on the PATH" + f"; tried {found}" * bool(found)
        ) from None
