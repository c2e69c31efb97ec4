"""The CUDA version of the triangulation's kernels, run by an emulator of a GPU's threads, gives the serial code's bits."""

from __future__ import annotations

import pytest

from dmr.triangulation.rounds import triangulate_points
from tests.support.emulated import emulator
from tests.support.point_sets import POINT_SETS, assert_as_by_serial_code

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    sources = emulator.sources_in("mesh", "triangulate", "refine/marking")
    sources += ["primitives/scan.cu", "primitives/sorting.cu"]
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), sources))


@pytest.mark.parametrize("name", POINT_SETS)
def test_the_emulated_gpu_makes_the_triangulation_of_the_serial_code(name, device):
    points = POINT_SETS[name]
    assert_as_by_serial_code(triangulate_points(points, device), points)
