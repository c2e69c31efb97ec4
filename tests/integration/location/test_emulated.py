"""The CUDA version of the kernels of point location, on an emulator of a GPU's threads, gives the bits of the CPU."""

from __future__ import annotations

import pytest

from dmr.memory import open_device
from scripts.sanitize.meshes import locations
from tests.support.emulated import emulator

pytestmark = pytest.mark.slow


def test_locations_on_the_emulated_gpu_equal_those_of_the_cpu(tmp_path):
    sources = [*emulator.sources_in("locate"), "primitives/scan.cu", "primitives/sorting.cu"]
    emulated = emulator.EmulatedDevice(emulator.build(tmp_path, sources))
    found = {name: run() for name, run in locations(emulated)}
    assert found == {name: run() for name, run in locations(open_device("cpu", 1))} and len(found) == 5
