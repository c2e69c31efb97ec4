"""Runs nvcc: flags, file names and parallel compilation of GPU modules (`.cu` files), for the package and its build.

`setup.py` loads this file by its path, before numpy is installed: of `dmr` it imports only `dmr.common.system`, which
needs nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from dmr.common.system.process_groups import group_is_gone, kill_group, start_group

# -fmad=false: a fused multiply-add rounds once where the CPU rounds twice, and the meshes would differ.
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

# The modules that take longest to compile, slowest first: they start first, and short ones fill the other processors.
SLOWEST = (
    "large_passes",
    "persistent_rounds",
    "single_block",
    "breadth_first",
    "search_wide",
    "near_far_pass",
    "single_block_rounds",
    "search_real",
    "search_narrow",
    "relaxation",
)

POLL_SECONDS = 0.005  # between two polls of the running processes
ENDING_SECONDS = 0.2  # the longest wait for killed processes
SIGNAL_SECONDS = 0.1  # the longest wait without handling signals: one that comes just before a wait does not end it
STARTING_SECONDS = 0.5  # the longest wait for a thread that an interrupt may have kept from being started


class CompilationError(Exception):
    """nvcc rejected a module; the message holds its output."""


def launches_children(source: Path) -> bool:
    """Whether kernels of a `.cu` file launch kernels, or graphs of them."""
    return re.search(r"\bLAUNCH_(CHILD|GRAPH_AGAIN)\(", source.read_text(encoding="utf-8")) is not None


def flags(source: Path) -> tuple[str, ...]:
    """Returns nvcc's options for a `.cu` file, without the architecture and the kind of output."""
    return (*FLAGS, RELOCATABLE) if launches_children(source) else FLAGS


@cache
def _headers_hash(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for header in sorted(folder.rglob("*.cuh")):
        digest.update(header.read_bytes())
    return digest.digest()


def cubin_name(source: Path, folder: Path, architecture: str, compiler: str = "") -> str:
    """Returns the file name of a module's machine code, with a hash of everything that the code depends on.

    Args:
        source: the `.cu` file; folder: the folder of all kernel sources.
        architecture: "sm_90", ...
        compiler: the version of nvcc, or empty for code that came with the package.
    """
    digest = hashlib.sha256(source.read_bytes() + _headers_hash(folder))
    linked = launches_children(source)
    digest.update("\n".join((*flags(source), *LINK * linked, architecture, compiler)).encode())
    return f"{source.stem}-{architecture}-{digest.hexdigest()[:24]}.cubin"


@dataclass
class Module:
    """One module to compile.

    Attributes:
        source: the `.cu` file; target: the file for its machine code.
    """

    source: Path
    target: Path
    _commands: list[list[str]] = field(default_factory=list)
    _result: Path = Path()
    _process: subprocess.Popen[bytes] | None = None
    _output: IO[bytes] | None = None

    def start(self, scratch: Path, folder: Path, architecture: str) -> None:
        """Starts nvcc; its files go to `scratch`."""
        mine = scratch / self.target.stem
        mine.mkdir()
        made, common = mine / "compiled.cubin", ["nvcc", f"-arch={architecture}", "-cubin"]
        self._commands = [[*common, "-o", str(made), str(self.source), *flags(self.source), "-I", str(folder)]]
        if launches_children(self.source):
            linked = mine / "linked.cubin"
            self._commands.append([*common, "-o", str(linked), str(made), *LINK])
            made = linked
        self._result = made
        self._output = (mine / "output").open("w+b")
        self._start_next(mine)

    def _start_next(self, mine: Path) -> None:
        assert self._output is not None
        # nvcc's temporary files go to our folder, which is removed even if nvcc is killed.
        environment = {**os.environ, "TMPDIR": str(mine)}
        self._process = start_group(self._commands.pop(0), self._output, environment)

    def finished(self) -> bool:
        """Whether the machine code is complete; starts the next step if a step has ended.

        Raises:
            CompilationError: nvcc failed.
        """
        assert self._process is not None and self._output is not None
        code = self._process.poll()
        if code is None:
            return False
        if code:
            self._output.seek(0)
            said = self._output.read().decode(errors="replace").strip()
            raise CompilationError(f"nvcc could not compile {self.source.name} (exit code {code}):\n{said}")
        if self._commands:
            self._start_next(self._result.parent)
            return False
        self._result.replace(self.target)  # atomic, even if two processes compile the module
        return True

    def kill(self) -> None:
        """Ends nvcc and its child processes, if they run."""
        if self._process is not None:
            kill_group(self._process)

    def is_gone(self) -> bool:
        """Whether no process of nvcc is left; after `kill`, they need a moment to end."""
        return self._process is None or group_is_gone(self._process)

    def close(self) -> None:
        """Closes the file that holds nvcc's output."""
        if self._output is not None:
            self._output.close()


def _end(modules: Sequence[Module]) -> None:
    """Ends compilations, and waits until none of their processes writes files."""
    for module in modules:
        module.kill()
    last = time.monotonic() + ENDING_SECONDS
    while not all(module.is_gone() for module in modules) and time.monotonic() < last:
        time.sleep(POLL_SECONDS)
    for module in modules:
        module.close()


class _Work(threading.Thread):
    """Runs compilations concurrently, on a thread: no signal handler can interrupt it between two of its steps."""

    def __init__(self, modules: Sequence[Module], folder: Path, architecture: str, workers: int) -> None:
        super().__init__(name="dmr nvcc")
        self._waiting = sorted(modules, key=lambda module: _rank(module.source))
        self._folder, self._architecture, self._workers = folder, architecture, workers
        self.given_up = threading.Event()
        self.ended = threading.Event()  # Thread.join cannot be waited for again after an interrupted wait
        self.error: BaseException | None = None
        self.begun = False

    def give_up(self) -> None:
        """Ends the running compilations, and returns when none is left."""
        self.given_up.set()
        last = time.monotonic() + STARTING_SECONDS
        while not self.ended.wait(POLL_SECONDS) and (self.begun or time.monotonic() < last):
            pass

    def run(self) -> None:
        self.begun = True
        where = self._waiting[0].target.parent
        running: list[Module] = []
        try:
            with tempfile.TemporaryDirectory(dir=where, prefix="compiling-", ignore_cleanup_errors=True) as scratch:
                try:
                    while (self._waiting or running) and not self.given_up.is_set():
                        while self._waiting and len(running) < self._workers:
                            running.append(self._waiting.pop(0))
                            running[-1].start(Path(scratch), self._folder, self._architecture)
                        for module in [module for module in running if module.finished()]:
                            module.close()
                            running.remove(module)
                        self.given_up.wait(POLL_SECONDS)
                finally:
                    _end(running)
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()


def _rank(source: Path) -> tuple[int, int]:
    """Sort key: slow modules first, then large ones."""
    place = SLOWEST.index(source.stem) if source.stem in SLOWEST else len(SLOWEST)
    return place, -source.stat().st_size


def compile_modules(modules: Iterable[Module], folder: Path, architecture: str, workers: int) -> None:
    """Compiles modules, several at a time; returns when all are complete.

    An exception in the calling thread (Ctrl-C) ends every nvcc process and removes its files.

    Args:
        modules: the modules; all targets are in one folder, which exists.
        folder: the folder of all kernel sources.
        architecture: "sm_90", ...
        workers: the most nvcc processes at a time.

    Raises:
        CompilationError: nvcc failed; the other compilations are stopped.
        OSError: nvcc does not start, or a file cannot be written.
    """
    listed = list(modules)
    if not listed:
        return
    work = _Work(listed, folder, architecture, max(workers, 1))
    try:
        work.start()  # waits until the thread runs, and may be interrupted at that moment
        while not work.ended.wait(SIGNAL_SECONDS):
            pass
    finally:
        work.give_up()
    if work.error is not None:
        raise work.error
