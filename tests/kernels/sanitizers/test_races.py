"""Calls from many threads give the results of one, and the thread sanitizer finds no race in them."""

from __future__ import annotations

import shutil

import pytest

from tests.support.native_builds import build, kernel_sources
from tests.support.sanitizers.programs import is_detected, results, runtime, script


def built_with_tsan(folder, sources):
    """Kernels built with TSan, and how to run them."""
    environment = {"LD_PRELOAD": str(runtime("libtsan.so")), "TSAN_OPTIONS": "halt_on_error=1"}
    flags = ("-O1", "-g1", "-fsanitize=thread", "-DPOLL_EVERY=1000000")
    fixed_addresses = ("setarch", "-R") if shutil.which("setarch") else ()  # older runtimes need them
    return build(folder, sources, *flags), {"before": fixed_addresses, **environment}


# The sources of the kernels that threads.py and faults.py launch: a kernel that is missing ends them with an error.
THREADED = {
    "acute_corners", "angles", "breadth_first", "device_loop", "fixed_point", "flips", "gathering", "generation",
    "growth", "host", "incoming", "checking", "large_passes", "marking",
    "near_far", "near_far_pass", "points", "search_narrow",
    "single_block", "ordering", "quality", "retriangulation", "rounds", "rows", "scan", "sequential_ranking",
    "export", "single_block_rounds", "sorting", "topology",
}  # fmt: skip


@pytest.fixture(scope="module")
def under_tsan(tmp_path_factory):
    """The kernels of threads.py built with TSan, and how to run them."""
    return built_with_tsan(tmp_path_factory.mktemp("tsan"), [s for s in kernel_sources() if s.stem in THREADED])


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
def test_thread_sanitizer_detects_a_race(under_tsan):
    assert is_detected("race", "data race", "scatter_indices", *under_tsan)


@pytest.mark.slow
@pytest.mark.large
def test_thread_sanitizer_finds_nothing_in_the_kernels(tmp_path, small_meshes):
    library, environment = built_with_tsan(tmp_path, kernel_sources())
    every_result = results(script("kernels.py", small_meshes, "", "every"))
    assert results(script("kernels.py", small_meshes, library, "every", **environment)) == every_result
