"""The CUDA version of `dmr`'s kernels, run by an emulator of a GPU's threads, gives the bits of the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

import dmr
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.cuts import edges_of
from dmr.distributed.tiles.cutting import cut
from dmr.distributed.tiles.patch import OWN_ARRAYS, Patch
from dmr.distributed.tiles.refining import refine_coarsely, refine_patch
from dmr.distributed.tiles.separation.margin import Division, FirstPart
from dmr.distributed.tiles.stored import InMemory
from dmr.distributed.tiles.whole import Whole
from dmr.memory import Device, open_device
from dmr.refinement import pipeline, run
from dmr.refinement.options import RefineOptions
from dmr.refinement.placement import front
from dmr.refinement.rounds import device_rounds, host_rounds, team_rounds
from dmr.refinement.steps import large_competition
from dmr.refinement.steps.selection import Choice, Competition
from dmr.refinement.strategies import first_points
from scripts.lib.outlines import case, outline
from tests.support.devices import opening
from tests.support.digests import digest, mesh_digest, result_summary
from tests.support.emulated import emulator
from tests.support.meshes import circle_outline
from tests.support.refinements import CASES, TEAMS

pytestmark = pytest.mark.slow

BY_THE_DEVICE = ("device_loop", "child_launch")  # what launches graphs and kernels from the device is not emulated
SIZES = {"random": 400, "wheel": 500, "plate": 120, "clustered": 200, "graded": 150}


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    sources = emulator.sources_in(
        "primitives", "geometry", "mesh", "optimize", "placement", "refine", "sizing", "locate", "tiles", "triangulate"
    )
    sources = [source for source in sources if Path(source).stem not in BY_THE_DEVICE]
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), sources))


def emulated(mesh, device, monkeypatch, **options):
    """A refinement on the emulated GPU."""
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "open_device", opening(device))
        fine = dmr.refine(mesh, device="cuda", **options)
    assert fine.threads == 0 and (fine.rounds > 0 or fine.steiner["front"] > 0)  # a GPU's, and not for nothing
    return fine


def whole_digest(patch):
    """The digest of a patch."""
    return mesh_digest(patch.mesh), digest(patch.numbers, *(getattr(patch, name) for name in OWN_ARRAYS))


@pytest.mark.parametrize("name", [name for name in CASES if name != "tiny"])
def test_refinements_on_the_emulated_gpu_equal_those_of_the_cpu(name, device, monkeypatch):
    kind, _, options = CASES[name]
    mesh = dmr.generate(kind, SIZES[kind], seed=2)
    expected = dmr.refine(mesh, device="cpu", threads=1, **options)
    assert result_summary(emulated(mesh, device, monkeypatch, **options)) == result_summary(expected)


FINE_CORNER = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 1.96), (0.96, 2), (0, 2)]  # finer than the sizes
WITH_ROOM = [(0, 0), (2, 0), (2, 1.99), (1.99, 2), (0, 2)]  # for a lattice


@pytest.mark.parametrize(
    ("corners", "options"),
    [
        (FINE_CORNER, {"size": 0.25}),
        (WITH_ROOM, {"size": 0.2}),
        (dmr.domains.circle_points(1, 60), {"size": 0.4, "grading": 0.05}),  # and sizes that differ from the lattice's
    ],
)
def test_targets_on_the_emulated_gpu_equal_those_of_the_cpu(corners, options, device, monkeypatch):
    domain = dmr.domains.polygon(corners)
    monkeypatch.setattr(front, "FEWEST_IN_LATTICE", 0)
    expected = dmr.refine(domain, device="cpu", threads=1, **options)
    assert expected.steiner["front"] > 20
    assert result_summary(emulated(domain, device, monkeypatch, **options)) == result_summary(expected)


def test_first_points_on_the_emulated_gpu_equal_those_of_the_cpu(device, monkeypatch):
    monkeypatch.setattr(first_points, "FEWEST", 1)
    monkeypatch.setattr(first_points, "FEWEST_TRIANGLES", 1)
    monkeypatch.setattr(first_points, "RUNGS", (2.0, 3.0, 5.0))
    monkeypatch.setattr(run, "Competition", lambda: Competition(Choice.UNBEATEN_FAR))
    domain = circle_outline(24)
    expected = dmr.refine(domain, min_angle=15, device="cpu", threads=1)
    assert result_summary(emulated(domain, device, monkeypatch, min_angle=15)) == result_summary(expected)


def test_points_in_empty_boxes_on_the_emulated_gpu_equal_those_of_the_cpu(device, monkeypatch):
    monkeypatch.setattr(first_points, "FEWEST_AROUND_NOTHING", 1)
    monkeypatch.setattr(first_points, "RUNGS", (2.0, 3.0, 5.0))
    domain = circle_outline(200)
    expected = dmr.refine(domain, min_angle=15, device="cpu", threads=1)
    assert expected.steiner["first"] > 3
    assert result_summary(emulated(domain, device, monkeypatch, min_angle=15)) == result_summary(expected)


@pytest.mark.parametrize("who", TEAMS)
def test_every_round_type_on_the_emulated_gpu_gives_the_same_result(who, device, monkeypatch):
    small, middle = TEAMS[who]
    mesh = dmr.generate("random", 100, seed=2)
    expected = dmr.refine(mesh, device="cpu", threads=1)
    monkeypatch.setattr(team_rounds, "SINGLE_BLOCK_ON_GPU", small)
    monkeypatch.setattr(team_rounds, "PERSISTENT_ON_GPU", middle)
    assert result_summary(emulated(mesh, device, monkeypatch)) == result_summary(expected)


@pytest.mark.parametrize("capacity", [6, 24])
@pytest.mark.parametrize("name", ["random", "circle", "kept circle", "segments that nearly meet", "strips"])
def test_warps_grow_large_cavities_as_a_thread_does(name, capacity, device, monkeypatch):
    """Cavities of a few triangles count as large; in strips and fans, one walk goes through most triangles."""
    domain, options = {
        "random": lambda: (dmr.generate("random", 150, seed=2), {}),
        "circle": lambda: (circle_outline(40), {"min_angle": 15}),
        "kept circle": lambda: (circle_outline(40), {"min_angle": 25, "keep_segments": "all"}),
        "segments that nearly meet": lambda: (outline(case("fan-3"), None), {"min_angle": 20, "max_steiner": 120}),
        "strips": lambda: (outline(case("large-cavities"), None), {"min_angle": 20, "max_steiner": 120}),
    }[name]()
    for module in (device_rounds, host_rounds, large_competition):
        monkeypatch.setattr(module, "RECORD_CAPACITY", capacity)
    for fewest in ("FEWEST", "FEWEST_AROUND_NOTHING"):
        monkeypatch.setattr(first_points, fewest, 10**9)
    expected = dmr.refine(domain, device="cpu", threads=1, **options)
    before = device.launches["large_passes"]
    assert result_summary(emulated(domain, device, monkeypatch, **options)) == result_summary(expected)
    assert (device.launches["large_passes"] > before) == (expected.outcomes["overflowed"] > 0)
    assert capacity > 6 or expected.outcomes["overflowed"] > 20


@pytest.mark.parametrize(
    "options",
    [
        {"loop": "host", "min_angle": 15},
        {"marking": "atomic", "min_angle": 15},
        {"max_area": 3e-3, "optimize": 2},
        {"max_edge": 0.2, "area": lambda points: 0.01 + 0.05 * points[:, 0], "min_angle": 15},
    ],
)
def test_other_options_on_the_emulated_gpu_equal_the_cpu(options, device, monkeypatch):
    mesh = dmr.generate("random", 100, seed=4)
    expected = dmr.refine(mesh, device="cpu", threads=1, **options)
    assert result_summary(emulated(mesh, device, monkeypatch, **options)) == result_summary(expected)


def test_tiles_on_the_emulated_gpu_equal_those_of_the_cpu(device):
    bounds = Bounds(options=RefineOptions(max_area=4e-3))
    cpu = open_device("cpu", 1)
    mesh = dmr.generate("random", 60, seed=4)
    patch, _, whole, _ = refine_coarsely(mesh, bounds, 4.0, fully=True, device=cpu)
    tiles = cut(patch, edges_of(patch), bounds, 200, 0)
    for tile in map(tiles.tile, range(len(tiles))):
        expected, found = (refine_patch(tile, whole, bounds, each, 2) for each in (cpu, device))
        assert expected.inserted > 0 and expected.margin.seeds.any()
        assert whole_digest(found.margin) == whole_digest(expected.margin)
        assert (found.core is None) == (expected.core is None)
        if expected.core is not None:
            assert whole_digest(Patch.load(found.core)) == whole_digest(Patch.load(expected.core))
        assert divided(tile, whole, bounds, device) == divided(tile, whole, bounds, cpu)


def divided(tile: Patch, whole: Whole, bounds: Bounds, device: Device) -> list[str]:
    """Digests of the part of a tile for the band, and of the rest of its margin."""
    bands: list[FirstPart] = []
    division = Division(1, InMemory())
    refine_patch(tile, whole, bounds, device, 3, division=division, found=bands.append)
    parts = [*(each.load() for each in bands), *([Patch.load(division.rest)] if division.rest else [])]
    assert bands
    return [whole_digest(each) for each in parts]


@pytest.mark.parametrize("marking", ["three-phase", "three-phase-literal", "two-stage"])
def test_markings_that_race_on_the_emulated_gpu_are_proved(marking, device, monkeypatch):
    mesh = dmr.generate("random", 30, seed=4)
    fine = emulated(mesh, device, monkeypatch, marking=marking, balance="none", min_angle=15)
    assert fine.complete and dmr.validate(fine.mesh, input=mesh, min_angle=15).ok
