"""Compiles native sources with the flags of setup.py, for tests of the compilers and under sanitizers.

What is compiled stays in `build/tests` until a source changes: most of it serves several modules of tests, and all of
it the next run.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from dmr.memory.declarations import source_folder
from dmr.memory.host.compiler import sources_digest
from tests.support.paths import ROOT

CXX = os.environ.get("CXX", "g++")
CXX_FLAGS = ast.literal_eval(re.search(r"^FLAGS = (\[.*?\])$", (ROOT / "setup.py").read_text(), re.M | re.S)[1])

HOST = source_folder() / "portable" / "host.cpp"  # the only source that compares the digest of all kernels
PORTABLE = source_folder() / "portable" / "portable.cuh"  # every kernel includes it
KEPT = ROOT / "build" / "tests"
KEPT_SECONDS = 7 * 24 * 3600  # since the last use


def needs(*tools):
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def output_of(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def compiled(command: Iterable[str | Path], source: Path, suffix: str = ".o", text: str = "") -> Path:
    """Compiles a source; returns the result of an earlier call if nothing has changed since.

    Args:
        command: the compiler and its flags, without source and result.
        source: the file. It may include any header of the checkout; text: the text of what else it includes.
        suffix: of the result's name.
    """
    words = [str(word) for word in command]
    digest = sha256("\0".join([_version(words[0]), *words, text]).encode() + source.read_bytes() + _headers())
    made = _kept() / f"{source.stem}-{digest.hexdigest()[:32]}{suffix}"
    if made.exists():
        made.touch()
        return made
    with tempfile.TemporaryDirectory(dir=made.parent) as scratch:
        fresh = Path(scratch) / made.name
        output_of(*words, source, "-o", fresh)
        fresh.replace(made)  # atomic: other processes may compile it, too
    return made


@cache
def _version(compiler: str) -> str:
    return output_of(compiler, "--version")


@cache
def _headers() -> bytes:
    """A digest of all headers of the checkout."""
    return sha256(b"".join(header.read_bytes() for header in _all_headers())).digest()


def _all_headers() -> Iterator[Path]:
    for folder in (source_folder(), ROOT / "dmr", ROOT / "static_graph", ROOT / "tests" / "support"):
        yield from sorted(path for path in folder.rglob("*.[ch]*") if path.suffix in (".cuh", ".hpp", ".h"))


@cache
def _kept() -> Path:
    """The folder of results, without those that were not used for long."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob("*-*.*"):
        if time.time() - old.stat().st_mtime > KEPT_SECONDS:
            old.unlink(missing_ok=True)
    return KEPT


def including(command: Iterable[str | Path], header: Path) -> tuple[str | Path, ...]:
    """A command whose sources begin with a header that is compiled once for all of them.

    Half of the time to compile a source of kernels is spent on the headers that all of them include.
    """
    compiled_header = compiled((*command, "-x", "c++-header"), header, f"{header.suffix}.gch")
    return (*command, "-include", compiled_header.with_suffix(""))


def groups_of(sources: Iterable[Path]) -> list[list[Path]]:
    """Divides `.cu` files into groups that `together` can unite: those of a folder that use the engine, and the rest.

    Constants of the engine have the names of those of traversals.
    """
    groups: dict[tuple[Path, bool], list[Path]] = {}
    for source in sources:
        groups.setdefault((source.parent, "graph/engine/" in source.read_text()), []).append(source)
    return list(groups.values())


def together(folder: Path, sources: list[Path], added: Callable[[Path], str] = lambda source: "") -> tuple[Path, str]:
    """Writes one source that includes some `.cu` files of a folder; returns it, and the text of these files.

    Half of a compiler's time for a file is its start, and the headers. Each file is in a separate namespace, because
    their functions have the same names; kernels have C linkage. What the files include comes before. `added` returns
    the text behind a file, in its namespace.
    """
    texts = [source.read_text() for source in sources]
    includes = dict.fromkeys(line for text in texts for line in re.findall(r"^#include .*", text, re.MULTILINE))
    bodies = [f'namespace file_{k} {{\n#include "{source}"\n{added(source)}}}' for k, source in enumerate(sources)]
    united = folder / f"{sources[0].parent.name}-{sources[0].stem}.cu"
    united.write_text("\n".join([*includes, *bodies]))
    return united, "".join(texts)


def build(folder, sources, *flags):
    """A shared library of some sources, with setup.py's flags and then these, and without its warnings."""
    command = (CXX, *CXX_FLAGS, "-w", *flags, "-I", source_folder(), "-I", ROOT)
    kernels = [source for source in sources if source.suffix == ".cu"]
    if kernels:
        command = including(command, PORTABLE)
    command = (*command, "-x", "c++", "-c")
    named = {HOST: (f'-DHOST_SOURCES="{sources_digest()}"',)}
    files = [(source, "") for source in sources if source.suffix != ".cu"]
    files += [together(folder, group) for group in groups_of(kernels)]
    with ThreadPoolExecutor(2) as workers:
        objects = list(
            workers.map(lambda file: compiled((*command, *named.get(file[0], ())), file[0], text=file[1]), files)
        )
    library = folder / "library.so"
    output_of(CXX, "-shared", "-pthread", *flags, *objects, "-o", library)
    return library


def kernel_sources():
    return [*sorted(source_folder().rglob("*.cu")), HOST]
