"""Builds the native libraries: plain shared objects with a C interface, loaded through ctypes.

They need no Python headers and fit every Python 3, so that one wheel a platform serves all. Where a GPU is visible, or
DMR_CUDA_ARCHITECTURES names architectures, GPU modules are compiled as well (dmr/memory/cuda/ahead.py). Everything else
about the package is in setup.cfg.
"""

from __future__ import annotations

import importlib
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from os import environ
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

ROOT = Path(__file__).resolve().parent

# No contraction: a fused multiply-add rounds once where the GPU build rounds twice, and the meshes would differ.
FLAGS = ["-std=c++17", "-O3", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-pthread", "-Wall", "-Wextra"]

COMPILER = shlex.split(environ.get("CXX", "g++"))


@cache
def digest(folder: Path) -> str:
    """The digest of the sources of the kernels (compared by dmr/memory/host/compiler.py)."""
    total = sha256()
    for source in sorted(folder.rglob("*.cu*")):
        total.update(source.read_bytes())
    return total.hexdigest()[:32]


def gpu_builder() -> Any:
    """The module dmr/memory/cuda/ahead.py, loaded by its path: dmr.memory imports numpy, which may not be installed."""
    package = ModuleType("dmr_gpu_build")
    package.__path__ = [str(ROOT / "dmr" / "memory" / "cuda")]
    sys.modules[package.__name__] = package
    sys.path.insert(0, str(ROOT))  # for dmr.common, which needs nothing but the standard library
    return importlib.import_module("dmr_gpu_build.ahead")


def compile_with(*arguments: str) -> None:
    """Runs the C++ compiler, which prints what is wrong."""
    done = subprocess.run([*COMPILER, *arguments], check=False, cwd=ROOT)
    if done.returncode:
        raise CompileError(f"{COMPILER[0]} failed with exit code {done.returncode}; its messages are above")


class NativeLibrary(Extension):
    """A shared object made of C++ and `.cu` sources, found by the file name of its last part."""


class BuildNative(build_ext):
    """Compiles each source with the C++ compiler (a `.cu` file is C++ to it) and links them."""

    def run(self) -> None:
        """Builds the libraries, and GPU modules where that is wanted."""
        if shutil.which(COMPILER[0]) is None:
            raise CompileError(
                f"dmr is compiled by a C++ compiler, and there is no {COMPILER[0]}: install one (Debian, Ubuntu: apt "
                "install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install), or name yours in CXX"
            )
        super().run()
        builder = gpu_builder()
        target = (ROOT if self.inplace else Path(self.build_lib)) / "dmr" / "memory" / "cuda" / "prebuilt"
        try:
            builder.build_ahead(ROOT / "cuda_src", target)
        except builder.AheadError as error:
            raise CompileError(str(error)) from None

    def build_extension(self, ext: Extension) -> None:
        """Compiles and links one library."""
        target = Path(self.get_ext_fullpath(ext.name))
        objects = Path(self.build_temp) / ext.name
        objects.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        extra = environ.get("CXXFLAGS", "").split()

        def compile_one(source: str) -> Path:
            made = objects / (source.replace("/", "_") + ".o")
            defined = f'-DHOST_SOURCES="{digest(ROOT / "cuda_src")}"'
            folders = ("-I", ".", "-I", "cuda_src")
            compile_with(*FLAGS, *extra, defined, *folders, "-x", "c++", "-c", source, "-o", str(made))
            return made.resolve()

        objects = objects.resolve()
        with ThreadPoolExecutor(self.parallel or 2) as workers:
            made = list(workers.map(compile_one, ext.sources))
        compile_with("-shared", "-pthread", *extra, *map(str, made), "-o", str(target.resolve()))

    def get_ext_filename(self, fullname: str) -> str:
        """No Python tag in the name: the library is not a Python module."""
        return fullname.replace(".", "/") + ".so"


class PlatformWheel(bdist_wheel):
    """A wheel for this platform and every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """The tag py3-none-platform."""
        return "py3", "none", super().get_tag()[2]


def sources(*patterns: str) -> list[str]:
    """The files of the checkout that match, sorted, relative to its root."""
    return sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))


def main() -> None:
    """Builds the package; `pip install` runs this."""
    setup(
        ext_modules=[
            NativeLibrary("dmr.memory.host._kernels", sources("cuda_src/**/*.cu", "cuda_src/portable/host.cpp")),
            NativeLibrary("dmr.io._triangle_text", sources("dmr/io/*.cpp")),
            NativeLibrary("dmr.triangulation._triangulation", sources("dmr/triangulation/**/*.cpp")),
            NativeLibrary(
                "dmr.io.archives._archives",
                sources("dmr/io/archives/*.cpp", "dmr/triangulation/serial/threads.cpp"),
            ),
            NativeLibrary(
                "dmr.distributed.unions._unions",
                sources("dmr/distributed/unions/*.cpp", "dmr/triangulation/serial/threads.cpp"),
            ),
            NativeLibrary(
                "dmr.refinement.placement.coarse_front._coarse_front",
                sources("dmr/refinement/placement/coarse_front/*.cpp"),
            ),
            NativeLibrary("static_graph.io._edge_text", sources("static_graph/io/*.cpp")),
        ],
        cmdclass={"build_ext": BuildNative, "bdist_wheel": PlatformWheel},
    )


main()
