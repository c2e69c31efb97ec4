"""The sanitizers of addresses and of undefined behaviour find nothing in the native libraries."""

from __future__ import annotations

import pytest

from tests.support.native_builds import build, kernel_sources
from tests.support.paths import ROOT
from tests.support.sanitizers.programs import is_detected, results, runtime, script

# With -O1 the checks take two to four times as long to compile.
ASAN = ("-Og", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Memory that is read before it was written holds a pattern, and would change the results.
ASAN_OPTIONS = "detect_leaks=0:max_malloc_fill_size=1000000000:malloc_fill_byte=165"


def asan_environment():
    """The variables that a process with instrumented libraries needs."""
    # ASan looks the functions of C++ exceptions up at its start, when Python has not loaded them.
    preloaded = f"{runtime('libasan.so')} {runtime('libstdc++.so')}"
    return {"LD_PRELOAD": preloaded, "ASAN_OPTIONS": ASAN_OPTIONS}


@pytest.fixture(scope="module")
def under_asan(tmp_path_factory):
    """The kernels built with ASan and UBSan, and the environment that they need."""
    return build(tmp_path_factory.mktemp("asan"), kernel_sources(), *ASAN), asan_environment()


@pytest.fixture(scope="module")
def plain_results(small_meshes):
    """The results of the installed library."""
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
        ("archives.py", "dmr/io/archives", False),
        ("unions.py", "dmr/distributed/unions", False),
        ("coarse_fronts.py", "dmr/refinement/placement/coarse_front", False),
    ],
)
def test_address_sanitizer_finds_nothing_in_the_other_libraries(program, folder, files, tmp_path):
    """Each program prints a digest per result, or the sentence of an error; `files`: whether it needs a folder."""
    within = "*.cpp" if folder == "dmr/io" else "**/*.cpp"  # its subfolder is another library
    sources = sorted((ROOT / folder).glob(within))
    if program in ("archives.py", "unions.py"):
        sources.append(ROOT / "dmr" / "triangulation" / "serial" / "threads.cpp")
    library = build(tmp_path, sources, *ASAN)
    given = (tmp_path,) if files else ()
    found = results(script(program, *given, library, **asan_environment()))
    assert found == results(script(program, *given))
    read = sum(outcome == "read" or len(outcome) == 16 for *_, outcome in found)
    assert 0 < read <= len(found) - (program not in ("unions.py", "coarse_fronts.py"))  # these refuse nothing


@pytest.fixture(scope="module")
def every_result(small_meshes):
    """The results of the installed library, for every combination of options."""
    return results(script("kernels.py", small_meshes, "", "every"))


@pytest.mark.slow
@pytest.mark.large
def test_address_sanitizer_finds_nothing_with_any_options(under_asan, small_meshes, every_result):
    library, environment = under_asan
    assert results(script("kernels.py", small_meshes, library, "every", **environment)) == every_result


@pytest.mark.slow
def test_address_sanitizer_detects_a_fault(under_asan):
    assert is_detected("overrun", "heap-buffer-overflow", "fill_indices", *under_asan)
