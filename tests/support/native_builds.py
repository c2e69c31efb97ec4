"""Compiles native sources with the flags of setup.py, for tests of the compilers and under sanitizers."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from dmr.memory.declarations import source_folder
from dmr.memory.host.compiler import sources_digest
from tests.support.paths import ROOT

CXX = os.environ.get("CXX", "g++")
CXX_FLAGS = ast.literal_eval(re.search(r"^FLAGS = (\[.*?\])$", (ROOT / "setup.py").read_text(), re.M | re.S)[1])


def needs(*tools):
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not installed")


def output_of(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True, **more).stdout


def build(folder, sources, *flags):
    """A shared library of some sources, with setup.py's flags and then these."""

    sources_define = f'-DHOST_SOURCES="{sources_digest()}"'

    def compile_one(source):
        made = folder / f"{source.parent.name}-{source.name}.o"
        folders = ("-I", source_folder(), "-I", ROOT)
        output_of(CXX, *CXX_FLAGS, *flags, sources_define, *folders, "-x", "c++", "-c", source, "-o", made)
        return made

    with ThreadPoolExecutor(2) as workers:
        objects = list(workers.map(compile_one, sources))
    library = folder / "library.so"
    output_of(CXX, "-shared", "-pthread", *flags, *objects, "-o", library)
    return library


def kernel_sources():
    return [*sorted(source_folder().rglob("*.cu")), source_folder() / "portable" / "host.cpp"]
