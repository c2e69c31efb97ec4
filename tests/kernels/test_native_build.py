"""Native builds: both compilers see the same kernels, no contraction, and no findings of the sanitizers."""

from __future__ import annotations

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.domains.generation import generate
from dmr.io import write
from dmr.memory import signatures
from dmr.memory.cuda.compiler import cubin
from dmr.memory.cuda.nvcc import FLAGS, flags, launches_children
from dmr.memory.declarations import source_folder
from dmr.memory.host import compiler
from dmr.memory.host.compiler import sources_digest
from dmr.mesh.types import Mesh, Pslg
from tests.support.meshes import grid, triangulated
from tests.support.paths import ROOT

CXX = os.environ.get("CXX", "g++")
CXX_FLAGS = ast.literal_eval(re.search(r"^FLAGS = (\[.*?\])$", (ROOT / "setup.py").read_text(), re.M | re.S)[1])

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86 instructions")
FUSED = re.compile(r"\bvfn?m(add|sub)\w*")


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


# The same kernels everywhere


@needs("nm")
def test_the_host_library_holds_the_declared_kernels_and_no_others():
    lines = output_of("nm", "-D", "--defined-only", compiler.LIBRARY).splitlines()
    exported = {name.removeprefix("kernel_") for name in (line.split()[-1] for line in lines) if "kernel_" in name}
    assert exported == set(signatures())


def test_every_declared_kernel_can_be_looked_up():
    assert all(compiler.kernel_address(name) for name in signatures())


@pytest.fixture(scope="module")
def ptx(tmp_path_factory):
    """The PTX of every `.cu` file, by its path."""
    folder = tmp_path_factory.mktemp("ptx")

    def compile_one(source):
        made = folder / f"{source.parent.name}-{source.stem}.ptx"
        output_of("nvcc", *flags(source), "-arch=sm_90", "-ptx", "-I", source_folder(), "-o", made, source)
        return source, made.read_text()

    with ThreadPoolExecutor(2) as workers:
        return dict(workers.map(compile_one, sorted(source_folder().rglob("*.cu"))))


@pytest.mark.slow
@needs("nvcc")
def test_nvcc_compiles_the_same_kernels(ptx):
    declared = {source: {s.name for s in signatures().values() if s.source == source} for source in ptx}
    for source, names in declared.items():  # kernels that only kernels launch
        names.update(re.findall(r"^CHILD_KERNEL\((\w+)", source.read_text(), re.MULTILINE))
    assert {source: set(re.findall(r"\.entry (\w+)\(", text)) for source, text in ptx.items()} == declared


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
        # What the driver itself provides: its own calls, and the launch of a graph.
        assert all(name.startswith("__cuda_syscall_") or name == "cudaGraphLaunch" for name in missing)


# No contraction: a fused multiply-add rounds once where two instructions round twice


@pytest.mark.slow
@needs("nvcc")
def test_nvcc_emits_no_fused_multiply_add(ptx):
    assert not [source.name for source, text in ptx.items() if re.search(r"\bfma\.", text)]


@on_x86
@needs("objdump")
def test_the_host_library_has_no_fused_multiply_add():
    assert not FUSED.search(output_of("objdump", "-d", compiler.LIBRARY))


@pytest.mark.slow
@on_x86
@needs(CXX)
def test_the_flags_forbid_fused_multiply_add(tmp_path):
    source = source_folder() / "geometry" / "predicates.cu"
    compile_with = (CXX, *CXX_FLAGS, "-mfma", "-I", source_folder(), "-x", "c++", "-S", "-o", "-", source)
    assert not FUSED.search(output_of(*compile_with))
    assert FUSED.search(output_of(*compile_with, "-ffp-contract=fast"))  # so the search would find them


def test_no_fast_math_flags():
    assert "-ffp-contract=off" in CXX_FLAGS and "-fmad=false" in FLAGS
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations", "--use_fast_math"} & {*CXX_FLAGS, *FLAGS}


# Sanitizers


def sheared_grid(side=12, shear=3.0):
    """A valid triangulation, nearly none of whose edges is Delaunay."""
    square = grid(np.arange(side) / side)
    x, y = square.vertices.T
    return Mesh(np.column_stack([x + shear * y, y]), square.triangles)


def star(rays=14):
    """Segments that meet at small angles."""
    angle = np.arange(rays) * 2 * np.pi / rays
    vertices = np.concatenate([[[0, 0]], np.stack([np.cos(angle), np.sin(angle)], axis=-1)])
    segments = [[0, ray] for ray in range(1, rays + 1)]
    return triangulated(vertices, "pc", segments=segments)


def spokes():
    """A square with two segments that meet at a very small angle: cut at equal distances from their corner."""
    square = [(-2, -2), (2, -2), (2, 2), (-2, 2)]
    return Pslg([*square, (0, 0), (1.4, 0), (1.1, 1e-4)], [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [4, 6]])


def with_attributes(mesh):
    random = np.random.default_rng(3)
    return replace(
        mesh,
        vertex_attributes=random.random((len(mesh.vertices), 2)),
        triangle_attributes=random.integers(0, 3, (len(mesh.triangles), 1)).astype(float),
        area_bounds=random.random(len(mesh.triangles)) * 0.02,
    )


@pytest.fixture(scope="module")
def small_meshes(tmp_path_factory):
    """A folder of meshes that between them reach every kernel."""
    folder = tmp_path_factory.mktemp("meshes")
    for name, mesh in {
        "random": generate("random", 300),
        "circle": generate("circle", 200),  # large cavities
        "grid": generate("grid", 100),
        "plate": with_attributes(generate("plate", 150)),
        "sheared": sheared_grid(),
        "star": star(),
        "spokes": dmr.triangulate(spokes()),
    }.items():
        write(folder / f"{name}.npz", mesh)
    return folder


def runtime(name):
    """The runtime library of a sanitizer; the test is skipped where the compiler has none."""
    if shutil.which(CXX) is None:
        pytest.skip(f"no compiler {CXX}")
    found = Path(output_of(CXX, f"-print-file-name={name}").strip())
    if not found.is_absolute() or not found.exists():
        pytest.skip(f"{CXX} comes without {name}")
    return found


def script(name, *arguments, before=(), **environment):
    return subprocess.run(
        [*before, sys.executable, str(ROOT / "tests" / "support" / "sanitizers" / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONMALLOC": "malloc", **environment},
    )


def results(outcome):
    """The lines that a script printed, from JSON; it must have ended well and without a report."""
    assert outcome.returncode == 0 and "Sanitizer" not in outcome.stderr, outcome.stderr[-6000:]
    return [json.loads(line) for line in outcome.stdout.splitlines()]


ASAN = ("-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# What is read before it was written holds a pattern, and would change the results.
ASAN_OPTIONS = "detect_leaks=0:max_malloc_fill_size=1000000000:malloc_fill_byte=165"


@pytest.fixture(scope="module")
def under_asan(tmp_path_factory):
    """The kernels built with ASan and UBSan, and the environment that they need."""
    environment = {"LD_PRELOAD": str(runtime("libasan.so")), "ASAN_OPTIONS": ASAN_OPTIONS}
    return build(tmp_path_factory.mktemp("asan"), kernel_sources(), *ASAN), environment


@pytest.fixture(scope="module")
def plain_results(small_meshes):
    """What the installed library gives."""
    return results(script("kernels.py", small_meshes))


@pytest.mark.slow
def test_small_inputs_reach_every_kernel(plain_results):
    assert plain_results[-1] == ["never launched", []]


@pytest.mark.slow
def test_address_sanitizer_finds_nothing_in_the_kernels(under_asan, small_meshes, plain_results):
    library, environment = under_asan
    assert results(script("kernels.py", small_meshes, library, **environment)) == plain_results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "folder", "files"),
    [
        ("texts.py", "dmr/io", True),
        ("edge_texts.py", "static_graph/io", True),
        ("triangulation.py", "dmr/triangulation", False),
    ],
)
def test_address_sanitizer_finds_nothing_in_the_other_libraries(program, folder, files, tmp_path):
    """Each program prints a digest per result, or the sentence of an error; `files`: whether it needs a folder."""
    environment = {"LD_PRELOAD": str(runtime("libasan.so")), "ASAN_OPTIONS": ASAN_OPTIONS}
    library = build(tmp_path, sorted((ROOT / folder).glob("*.cpp")), *ASAN)
    given = (tmp_path,) if files else ()
    found = results(script(program, *given, library, **environment))
    assert found == results(script(program, *given))
    assert 0 < sum(outcome == "read" or len(outcome) == 16 for *_, outcome in found) < len(found)


def built_with_tsan(folder, sources):
    """Kernels built with TSan, and how to run them."""
    environment = {"LD_PRELOAD": str(runtime("libtsan.so")), "TSAN_OPTIONS": "halt_on_error=1"}
    flags = ("-O1", "-g1", "-fsanitize=thread", "-DPOLL_EVERY=1000000")
    fixed_addresses = ("setarch", "-R") if shutil.which("setarch") else ()  # older runtimes need them
    return build(folder, sources, *flags), {"before": fixed_addresses, **environment}


# The sources of the kernels that threads.py and faults.py launch: a kernel that is missing ends them with an error.
THREADED = {
    "angles", "breadth_first", "device_loop", "fixed_point", "flips", "gathering", "generation", "growth",
    "host", "incoming", "checking", "marking", "near_far", "near_far_pass", "points", "search_narrow",
    "small_rounds", "ordering", "quality", "retriangulation", "rounds", "rows", "scan", "sequential_ranking",
    "export", "single_block_rounds", "sorting", "topology",
}  # fmt: skip


@pytest.fixture(scope="module")
def under_tsan(tmp_path_factory):
    """The kernels of threads.py built with TSan, and how to run them."""
    return built_with_tsan(tmp_path_factory.mktemp("tsan"), [s for s in kernel_sources() if s.stem in THREADED])


@pytest.fixture(scope="module")
def every_result(small_meshes):
    """What the installed library gives, for every combination of options."""
    return results(script("kernels.py", small_meshes, "", "every"))


@pytest.mark.slow
@pytest.mark.large
def test_thread_sanitizer_finds_nothing_in_the_kernels(tmp_path, small_meshes, every_result):
    library, environment = built_with_tsan(tmp_path, kernel_sources())
    assert results(script("kernels.py", small_meshes, library, "every", **environment)) == every_result


@pytest.mark.slow
@pytest.mark.large
def test_address_sanitizer_finds_nothing_with_any_options(under_asan, small_meshes, every_result):
    library, environment = under_asan
    assert results(script("kernels.py", small_meshes, library, "every", **environment)) == every_result


def as_expected(found):
    """Whether every run of threads.py gave what one thread gives."""
    *runs, (_, codes) = found
    return bool(runs) and all(count == right > 0 for _, count, right in runs) and not any(codes)


@pytest.mark.slow
def test_calls_from_many_threads_give_the_results_of_one():
    found = results(script("threads.py"))
    assert as_expected(found) and len(found[-1][1]) == 3  # children of fork, too


@pytest.mark.slow
def test_thread_sanitizer_finds_nothing_in_calls_from_many_threads(under_tsan):
    library, environment = under_tsan
    assert as_expected(results(script("threads.py", library, **environment)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sanitizer", "fault", "report", "kernel"),
    [
        ("under_asan", "overrun", "heap-buffer-overflow", "fill_indices"),
        ("under_tsan", "race", "data race", "scatter_indices"),
    ],
)
def test_the_sanitizers_detect_a_fault(sanitizer, fault, report, kernel, request):
    library, environment = request.getfixturevalue(sanitizer)
    outcome = script("faults.py", library, fault, **environment)
    assert outcome.returncode != 0
    assert report in outcome.stderr and kernel in outcome.stderr
