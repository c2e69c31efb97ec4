"""Native builds: both compilers see the same kernels, and none contracts."""

from __future__ import annotations

import platform
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from dmr.memory import signatures
from dmr.memory.cuda.compiler import cubin
from dmr.memory.cuda.nvcc import FLAGS, flags, launches_children
from dmr.memory.declarations import source_folder
from dmr.memory.host import compiler
from tests.support.native_builds import CXX, CXX_FLAGS, compiled, groups_of, needs, output_of, together
from tests.support.paths import ROOT

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86 instructions")
FUSED = re.compile(r"\bvfn?m(add|sub)\w*")


# The same kernels everywhere


@needs("nm")
def test_the_host_library_holds_the_declared_kernels_and_no_others():
    lines = output_of("nm", "-D", "--defined-only", compiler.LIBRARY).splitlines()
    exported = {name.removeprefix("kernel_") for name in (line.split()[-1] for line in lines) if "kernel_" in name}
    assert exported == set(signatures())


def test_every_declared_kernel_can_be_looked_up():
    assert all(compiler.kernel_address(name) for name in signatures())


# Fusing is left to the last stage of the compiler, which these options do not shorten.
QUICKLY = ("-Xcicc", "-O1")


def ptx_of(sources, folder, *more):
    """The PTX of some `.cu` files with the same flags, compiled as one, with `more` options."""
    (options,) = {flags(source) for source in sources}
    command = ("nvcc", *options, "-arch=sm_90", "-ptx", *QUICKLY, *more, "-I", source_folder())
    united, text = together(folder, sources)
    return compiled(command, united, ".ptx", text).read_text()


@pytest.fixture(scope="module")
def ptx(tmp_path_factory):
    """The PTX of every `.cu` file: those of each folder of `cuda_src` together, by their paths."""
    by_flags = {}
    for source in sorted(source_folder().rglob("*.cu")):
        by_flags.setdefault(flags(source), []).append(source)
    groups = [tuple(group) for sources in by_flags.values() for group in groups_of(sources)]
    largest_first = sorted(groups, key=lambda files: -sum(file.stat().st_size for file in files))
    folders = [tmp_path_factory.mktemp("ptx") for _ in largest_first]
    with ThreadPoolExecutor(2) as workers:
        return dict(zip(largest_first, workers.map(ptx_of, largest_first, folders), strict=True))


@pytest.mark.slow
@needs("nvcc")
def test_nvcc_compiles_the_same_kernels(ptx):
    for sources, text in ptx.items():
        declared = {s.name for s in signatures().values() if s.source in sources}
        for source in sources:  # kernels that only kernels launch
            declared.update(re.findall(r"^CHILD_KERNEL\((\w+)", source.read_text(), re.MULTILINE))
        assert set(re.findall(r"\.entry (\w+)\(", text)) == declared, sources


@pytest.mark.slow
@needs("nvcc", "readelf")
def test_child_launching_kernels_are_linked_with_the_device_runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    sources = [source for source in sorted(source_folder().rglob("*.cu")) if launches_children(source)]
    assert [source.name for source in sources] == ["child_relaxation.cu", "device_loop.cu", "child_launch.cu"]
    for source in sources:
        made = cubin(source, (9, 0))
        assert "EXEC" in output_of("readelf", "-h", made)  # ready to be loaded; what is to be linked yet is REL
        written = made.stat().st_mtime_ns
        assert cubin(source, (9, 0)) == made and made.stat().st_mtime_ns == written
        missing = re.findall(r"UND (\w+)$", output_of("readelf", "-sW", made), re.MULTILINE)
        # Symbols of the driver: its own calls, and the launch of a graph.
        assert all(name.startswith("__cuda_syscall_") or name == "cudaGraphLaunch" for name in missing)


# No contraction: a fused multiply-add rounds once where two instructions round twice


@pytest.mark.slow
@needs("nvcc")
def test_nvcc_emits_no_fused_multiply_add(ptx, tmp_path):
    assert not [sources for sources, text in ptx.items() if re.search(r"\bfma\.", text)]
    assert re.search(r"\bfma\.", ptx_of([source_folder() / "geometry" / "predicates.cu"], tmp_path, "-fmad=true"))


@pytest.mark.slow
@on_x86
@needs("objdump")
def test_the_host_library_has_no_fused_multiply_add():
    assert not FUSED.search(output_of("objdump", "-d", compiler.LIBRARY))


@pytest.mark.slow
@on_x86
@needs(CXX)
def test_the_flags_forbid_fused_multiply_add(tmp_path):
    source = source_folder() / "geometry" / "predicates.cu"
    compile_with = (CXX, *CXX_FLAGS, "-mfma", "-I", source_folder(), "-I", ROOT, "-x", "c++", "-S", "-o", "-", source)
    assert not FUSED.search(output_of(*compile_with))
    assert FUSED.search(output_of(*compile_with, "-ffp-contract=fast"))  # so the search would find them


def test_no_fast_math_flags():
    assert "-ffp-contract=off" in CXX_FLAGS and "-fmad=false" in FLAGS
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "--use_fast_math"} & {*CXX_FLAGS, *FLAGS}
