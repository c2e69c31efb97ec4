"""The CUDA version of the kernels of point location and of sizes, emulated, gives the bits of the CPU."""

from __future__ import annotations

import pytest

from dmr.memory import open_device
from scripts.sanitize.meshes import locations, size_sources
from tests.support.emulated import emulator

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    sources = [
        *emulator.sources_in("locate", "sizing"),
        "geometry/points.cu",
        "primitives/gathering.cu",
        "primitives/scan.cu",
        "primitives/sorting.cu",
    ]
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), sources))


def test_sizes_on_the_emulated_gpu_equal_those_of_the_cpu(emulated):
    found = {name: run() for name, run in size_sources(emulated)}
    assert found == {name: run() for name, run in size_sources(open_device("cpu", 1))} and len(found) >= 10


def test_locations_on_the_emulated_gpu_equal_those_of_the_cpu(emulated):
    found = {name: run() for name, run in locations(emulated)}
    assert found == {name: run() for name, run in locations(open_device("cpu", 1))} and len(found) == 7
