"""Emulates a GPU's threads on one CPU thread, with the kernels as nvcc sees them compiled by the C++ compiler.

Barriers, shuffles and atomics are those of `cuda_src/portable/emulated.cuh`; threads take turns in a random order. Thus
a barrier that not all threads reach, lanes that wait for others in vain, and results that depend on the order are found
without a GPU. The memory model of a GPU is not emulated; the tests marked `gpu` cover it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from dmr.memory.arguments import DeviceCount, bound_of
from dmr.memory.arrays import Loop
from dmr.memory.declarations import Kernel, constant, declarations, source_folder
from dmr.memory.host.device import HostDevice
from tests.support.native_builds import compiled, groups_of, including, output_of, together

HERE = Path(__file__).resolve().parent
BLOCK, MOST_BLOCKS = 128, 3  # few blocks, so that threads stride
FLAGS = ("-std=c++17", "-O1", "-g1", "-fPIC", "-ffp-contract=off", "-w", "-DEMULATED")


def sources_in(*folders: str) -> list[str]:
    """The `.cu` files of some folders of `cuda_src`, for `build`."""
    root = source_folder()
    return [str(file.relative_to(root)) for folder in folders for file in sorted((root / folder).rglob("*.cu"))]


def build(folder: Path, sources: list[str], kernels: Iterable[Kernel] | None = None) -> ctypes.CDLL:
    """Compiles some `.cu` files of `cuda_src` (their paths there) into a library of emulated kernels.

    Other files are given by their absolute paths, with the declarations of their `kernels`.

    Skips the calling test if there is no compiler.
    """
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")
    kernels = [*declarations().kernels.values(), *(kernels or ())]
    groups = groups_of(source_folder() / source for source in sources)
    files = [(HERE / "threads.cpp", ""), *(together(folder, group, partial(_launchers, kernels)) for group in groups)]
    command = including((compiler, *FLAGS, "-I", HERE, "-I", source_folder()), HERE / "device.hpp")
    command = (*command, "-x", "c++", "-c")
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        objects = list(workers.map(lambda file: compiled(command, file[0], text=file[1]), files))
    library = folder / "emulated.so"
    output_of(compiler, "-shared", *objects, "-o", library)
    return ctypes.CDLL(str(library))


def _launchers(kernels: Iterable[Kernel], source: Path) -> str:
    """Definitions of a launch function for each of the kernels of a `.cu` file."""
    return "".join(
        f'extern "C" void emulated_{name}(unsigned blocks, unsigned threads, const std::uint64_t *slots) {{\n'
        f"    emulated::launch({name}, blocks, threads, slots);\n}}\n"
        for name in (kernel.name for kernel in kernels if kernel.source == source)
    )


class Repetition(Loop):
    """Sequence of launches that the host repeats."""

    def __init__(self, body, stop):
        self._body, self._stop = body, stop

    def run(self, meanwhile=None):
        """Repeats the sequence until it stops."""
        if meanwhile is not None:
            meanwhile()
        self._body()
        while not self._stop.download()[0]:
            self._body()


class EmulatedDevice(HostDevice):
    """Device with main memory that runs kernels as a GPU would. A grid whose blocks synchronise has a single block."""

    launches_children = True
    prelude = "portable/emulated.cuh"
    multiprocessors = 1

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__(1)
        self.threads = 0  # as in CudaDevice
        self._library = library

    def looked_up(self, number):
        """Address of a number on the device, or 0, and its value on the host."""
        return (number.place.pointer, 0) if isinstance(number, DeviceCount) else (0, number)

    def foreseen(self, number):
        """Returns the bound of a number."""
        return bound_of(number)

    def loop(self, body, stop):
        """As `Device.loop`, but without recording."""
        return Repetition(body, stop)

    def _run(self, signature, count, values):
        threads = constant("TEAM_SIZE") if signature.team else BLOCK
        bound = bound_of(count)
        blocks = 1 if signature.grid else min(bound if signature.team else -(-bound // threads), MOST_BLOCKS)
        slots = struct.pack("<qQq", 0, *self.looked_up(count))
        for letter, value in zip(signature.letters, values, strict=True):
            slots += struct.pack(f"<{'Q' if letter == 'P' else letter}", value).ljust(8, b"\0")
        launch = getattr(self._library, f"emulated_{signature.name}")
        launch(blocks, threads, ctypes.create_string_buffer(slots))
