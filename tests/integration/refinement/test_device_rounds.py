"""Rounds driven by the device: the same mesh and statistics, wherever the device has to stop for the host."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.errors import InternalError, OptionError, OutOfMemoryError
from dmr.memory import DeviceCount, scan
from dmr.memory.host.device import HostDevice
from dmr.refinement.results import Round
from dmr.refinement.rounds import device_rounds, host_rounds, team_rounds
from dmr.refinement.rounds.device_rounds import DeviceRounds
from dmr.refinement.rounds.stalls import StallCheck
from dmr.refinement.setup import admission
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.outcomes import TALLIED
from dmr.refinement.state.progress import Entry, HistoryColumn, RoundProgress, Stop
from dmr.refinement.state.statistics import Statistics
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps import large_competition
from dmr.refinement.strategies import first_points
from dmr.triangulation.rounds.epochs import LAST, Epochs
from scripts.lib.outlines import case, channel, outline
from scripts.lib.random_domains import FAMILIES
from tests.support.digests import mesh_digest, result_summary
from tests.support.emulated.recorded_loops import record_loops
from tests.support.refinements import CASES, TEAMS


@pytest.fixture
def stops(monkeypatch):
    """Stop reasons of the device's runs, in order."""
    seen = []
    run = DeviceRounds.run

    def noted(self, *arguments):
        ended = run(self, *arguments)
        seen.append(ended.stop)
        return ended

    monkeypatch.setattr(DeviceRounds, "run", noted)
    return seen


@pytest.fixture(params=TEAMS)
def teams(request, monkeypatch):
    small, middle = TEAMS[request.param]
    for who in ("SINGLE_BLOCK_ON_GPU", "SINGLE_BLOCK_ON_ONE_THREAD", "SINGLE_BLOCK_ON_THREADS"):
        monkeypatch.setattr(team_rounds, who, small)
    for who in ("PERSISTENT_ON_GPU", "PERSISTENT_ON_CPU"):
        monkeypatch.setattr(team_rounds, who, middle)


@pytest.fixture(params=CASES)
def refined_by_host(request):
    """A mesh, options, and its refinement by the host's rounds."""
    return by_host(request.param)


@cache
def by_host(case):
    kind, points, options = CASES[case]
    mesh = dmr.generate(kind, points, seed=2)
    return mesh, options, dmr.refine(mesh, loop="host", device="cpu", threads=1, **options)


@pytest.mark.usefixtures("teams")
def test_host_and_device_rounds_give_the_same_result(refined_by_host, device_options):
    mesh, options, host = refined_by_host
    device = dmr.refine(mesh, loop="device", **device_options, **options)
    assert result_summary(device) == result_summary(host)
    assert (host.loop, device.loop) == ("host", "device")
    assert "rounds" in device.seconds and "rounds" not in host.seconds


def almost_concurrent():
    """Four segments in a box that pass one point at distances of up to 1e-4."""
    angles = 0.1 + 0.25 * np.pi * np.arange(4)
    along = np.column_stack([np.cos(angles), np.sin(angles)])
    aside = np.column_stack([-along[:, 1], along[:, 0]]) * 1e-4 * np.sin(7.0 * np.arange(4))[:, None]
    ends = np.stack([aside - along, aside + along], axis=1).reshape(-1, 2)
    box = [(-3, -3), (3, -3), (3, 3), (-3, 3)]
    segments = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (9, 10), (10, 11), (11, 8)]
    return dmr.Pslg(np.vstack([ends, box]), np.array(segments, np.int32))


@pytest.mark.slow
@pytest.mark.parametrize("room", ["enough", "none ahead"])
@pytest.mark.parametrize("most", [0, 3, 10**6])
def test_single_team_passes_with_large_records(room, most, device_options, monkeypatch):
    for who in ("PASS_ON_GPU", "PASS_ON_CPU"):
        monkeypatch.setattr(team_rounds, who, {"candidates": most, "listed": 10**6, "subsegments": 10**6})
    if room == "none ahead":
        no_room_ahead(monkeypatch)
    seen, run, by_team = set(), DeviceRounds.run, DeviceRounds.run_large_pass

    def noted_run(self, *arguments):
        report = run(self, *arguments)
        if report.numbers[Entry.LARGE_LEVEL]:  # it stopped within a round
            seen.add(report.stop)
        return report

    def noted(self, *arguments):
        report, cavities = by_team(self, *arguments)
        seen.add(report.stop)
        return report, cavities

    monkeypatch.setattr(DeviceRounds, "run", noted_run)
    monkeypatch.setattr(DeviceRounds, "run_large_pass", noted)
    fine = dmr.refine(almost_concurrent(), min_angle=20, loop="device", **device_options)
    assert result_summary(fine) == result_summary(
        dmr.refine(almost_concurrent(), min_angle=20, loop="host", device="cpu", threads=1)
    )
    assert (Stop.LARGE_PASS in seen) == (most < 10**6)
    assert (Stop.ENOUGH_ROUNDS in seen) == (most > 0)
    assert (Stop.WINNER_CAPACITY in seen) == (room == "none ahead")  # also if many teams run the passes


def test_rounds_continue_with_large_records_without_the_host(device_options, stops, monkeypatch):
    passes, by_team = [], DeviceRounds.run_large_pass
    monkeypatch.setattr(DeviceRounds, "run_large_pass", lambda self, level: passes.append(1) or by_team(self, level))
    monkeypatch.setattr(first_points, "FEWEST_AROUND_NOTHING", 10**9)  # cavities are large
    fine = dmr.refine(outline(case("circle-200"), Path()), loop="device", **device_options)
    assert fine.outcomes["overflowed"] > 300 and fine.rounds > 150  # the host once ran passes in 90 of them
    assert len(stops) + len(passes) < 20


def test_many_teams_run_the_passes_that_are_too_large_for_one(device_options, stops, monkeypatch):
    """Bands of tiles have long lists of triangles: each of a hundred rounds once returned to the host."""
    monkeypatch.setattr(device_rounds, "MOST_LEFT", 4)
    for who in ("PASS_ON_GPU", "PASS_ON_CPU"):
        monkeypatch.setattr(team_rounds, who, {"candidates": 3, "listed": 10**6, "subsegments": 10**6})
    monkeypatch.setattr(first_points, "FEWEST_AROUND_NOTHING", 10**9)  # cavities are large
    domain = outline(case("circle-200"), Path())
    fine = dmr.refine(domain, loop="device", **device_options)
    assert fine.outcomes["overflowed"] > 300 and fine.rounds > 150
    assert stops.count(Stop.LARGE_PASS) + stops.count(Stop.LARGE_CAVITIES) < 20
    host = dmr.refine(domain, loop="host", device="cpu", threads=1)
    assert result_summary(fine) == result_summary(host)
    assert [replace(each, seconds=0.0) for each in fine.history] == [
        replace(each, seconds=0.0) for each in host.history
    ]


def test_the_host_and_the_device_take_as_many_cavities_with_large_records(device_options):
    """Former bug: a pass by the host that found no cavity waiting did not count for the size of the next pass."""
    domain = outline(case("coast-1000"), Path())
    host, device = (dmr.refine(domain, loop=loop, **device_options) for loop in ("host", "device"))
    assert result_summary(host) == result_summary(device)


@pytest.mark.slow
def test_a_single_team_pass_without_memory_runs_step_by_step(device_options, monkeypatch):
    def without_memory(self, *arguments):
        raise OutOfMemoryError("planted")

    monkeypatch.setattr(DeviceRounds, "run_large_pass", without_memory)
    fine = dmr.refine(almost_concurrent(), min_angle=20, loop="device", **device_options)
    assert result_summary(fine) == result_summary(
        dmr.refine(almost_concurrent(), min_angle=20, loop="host", device="cpu", threads=1)
    )


def no_room_ahead(monkeypatch):
    """Gives arrays no spare capacity."""
    monkeypatch.setattr(
        admission, "usual_capacity", lambda vertices, slots, subsegments, bad: (vertices, slots, subsegments)
    )
    monkeypatch.setattr(DeviceMesh, "reserve_for", lambda self, bad, expected=0: None)
    monkeypatch.setattr(DeviceMesh, "enlarge", DeviceMesh.reserve)
    monkeypatch.setattr(device_rounds, "FEW_TRIANGLES", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("teams")
def test_a_recorded_loop_holds_no_replaced_arrays(refined_by_host, monkeypatch):
    mesh, options, host = refined_by_host
    record_loops(monkeypatch)
    no_room_ahead(monkeypatch)  # so that arrays are replaced again and again
    assert result_summary(dmr.refine(mesh, loop="device", device="cpu", threads=1, **options)) == result_summary(host)


@pytest.mark.parametrize("loop", ["host", "device"])
@pytest.mark.parametrize("case", ["area", "conforming", "kept", "large cavities"])
def test_nothing_is_read_from_memory_before_it_is_written(case, loop, monkeypatch):
    mesh, options, host = by_host(case)
    empty = HostDevice.empty

    def filled(self, size, dtype):
        array = empty(self, size, dtype)
        array.fill(0xA5)
        return array

    monkeypatch.setattr(HostDevice, "empty", filled)
    fine = dmr.refine(mesh, loop=loop, device="cpu", threads=1, **options)
    assert result_summary(fine) == result_summary(host)


def test_growing_vertex_attributes_are_recorded_again(monkeypatch):
    """Five points with three attributes each: only the array of the attributes is replaced."""
    found = dmr.generate("random", 5, seed=214)
    bounds = np.full(len(found.triangles), np.ptp(found.vertices, axis=0).prod() * 1e-3)
    attributes = np.ones((5, 3)) * [[1.0, 2.0, 3.0]]
    mesh = dmr.Mesh(found.vertices, found.triangles, vertex_attributes=attributes, area_bounds=bounds)
    host = dmr.refine(mesh, loop="host", device="cpu")
    record_loops(monkeypatch)
    fine = dmr.refine(mesh, loop="device", device="cpu", threads=1)
    assert result_summary(fine) == result_summary(host)
    assert np.allclose(fine.mesh.vertex_attributes, [1.0, 2.0, 3.0])


def test_a_loop_is_recorded_again_only_after_an_array_was_replaced(monkeypatch):
    recordings, runs = [], []
    loop, run = HostDevice.loop, DeviceRounds.run
    monkeypatch.setattr(HostDevice, "loop", lambda self, *more: recordings.append(1) or loop(self, *more))
    monkeypatch.setattr(DeviceRounds, "run", lambda self, *more: runs.append(1) or run(self, *more))
    monkeypatch.setattr(device_rounds, "HISTORY_ROUNDS", 1)
    dmr.refine(dmr.generate("random", 3000, seed=2), loop="device", device="cpu", threads=1)
    assert len(runs) > 20 and len(recordings) < len(runs) / 3


@pytest.mark.slow
def test_a_channel_that_grows_from_eight_vertices_seldom_stops_for_capacity(monkeypatch):
    stopped, read = [], RoundProgress.read
    monkeypatch.setattr(RoundProgress, "read", lambda self: stopped.append(read(self)) or stopped[-1])
    fine = dmr.refine(channel(30_000.0), loop="device", device="cpu", threads=1)
    for_capacity = sum(numbers[Entry.STOP] == Stop.WINNER_CAPACITY for numbers in stopped)
    assert len(fine.mesh.triangles) > 30_000
    assert 1 <= for_capacity <= 4  # it was one of each kind of array for every factor of 1.5


@pytest.mark.slow
@pytest.mark.parametrize("family", ["segments", "holes"])
def test_the_candidates_of_the_first_round_of_an_outline_have_records(family, monkeypatch):
    doubled = []
    more = DeviceRounds.more_candidates
    monkeypatch.setattr(DeviceRounds, "more_candidates", lambda self: doubled.append(1) or more(self))
    domain = FAMILIES[family](20_000, np.random.default_rng(1))
    fine = dmr.refine(domain, loop="device", device="cpu", threads=1)
    assert fine.attempts > 10_000 and not doubled


def test_epochs_wrap_around_within_a_run(device_options):
    kind, points, options = CASES["more steps than epochs"]
    fine = dmr.refine(dmr.generate(kind, points, seed=2), loop="device", **device_options, **options)
    assert fine.rounds > 255 and "clear_owners" in fine.launches


@pytest.mark.parametrize("limit", [0, 1, 7, 100])
def test_the_limit_on_points_is_kept_exactly(limit, device_options):
    mesh = dmr.generate("random", 300, seed=6)
    options = {"max_steiner": limit, **device_options}
    fine = dmr.refine(mesh, loop="device", **options)
    assert len(fine.mesh.vertices) == len(mesh.vertices) + limit and not fine.complete
    assert result_summary(fine) == result_summary(dmr.refine(mesh, loop="host", **options))


@pytest.mark.usefixtures("teams")
def test_every_stop_reason_occurs_and_is_handled(device_options, stops, monkeypatch):
    monkeypatch.setattr(device_rounds, "HISTORY_ROUNDS", 3)
    monkeypatch.setattr(Epochs, "__init__", lambda self: self.resume(LAST - 5))
    for module in (device_rounds, host_rounds, large_competition):
        monkeypatch.setattr(module, "RECORD_CAPACITY", 11)
    for who in ("PASS_ON_GPU", "PASS_ON_CPU"):
        monkeypatch.setattr(team_rounds, who, {"candidates": 2, "listed": 10**6, "subsegments": 10**6})
    flush_if_full = DeviceRounds._reserve

    def too_little(self, bad):
        flush_if_full(self, bad)
        self._candidate_capacity = min(self._candidate_capacity, 8 * 2 ** stops.count(Stop.CANDIDATE_CAPACITY))

    monkeypatch.setattr(DeviceRounds, "_reserve", too_little)
    no_room_ahead(monkeypatch)
    mesh = dmr.generate("random", 1500, seed=4)
    fine = dmr.refine(mesh, loop="device", **device_options)
    assert set(stops) == set(Stop) - {Stop.GO_ON}
    assert result_summary(fine) == result_summary(dmr.refine(mesh, loop="host", device="cpu"))


def test_a_run_of_tens_of_thousands_of_rounds_is_completed(device_options):
    """Former bug: runs ended unfinished after 20,000 rounds."""
    x, below, above = np.array([0, 1 / 3, 2 / 3, 1]) * 3.5e4, [0.03, 0.08, 0.03, -0.13], [1.06, 0.95, 1.04, 1.09]
    walls = np.vstack((np.column_stack((x, below)), np.column_stack((x, above))[::-1]))
    channel = dmr.Pslg(walls, [(k, (k + 1) % 8) for k in range(8)])
    fine = dmr.refine(channel, min_angle=20, loop="device", **device_options)
    assert fine.complete and not fine.unrefined and fine.min_angle >= 20 and fine.warnings == ()


def test_rounds_that_change_nothing_are_an_error(device_options, monkeypatch):
    """Simulates a round whose cavities all lost."""
    enter = Statistics.enter_rounds
    monkeypatch.setattr(
        Statistics,
        "enter_rounds",
        lambda self, rounds: enter(self, [replace(each, lost=each.attempted) for each in rounds]),
    )
    with pytest.raises(InternalError, match="changed nothing"):
        dmr.refine(dmr.generate("random", 300, seed=1), loop="device", **device_options)


def test_the_size_of_a_mesh_bounds_rounds_without_insertion():
    def rounds(*inserted):
        return [Round(attempted=2, inserted=n, lost=0, bad=1, triangles=4, seconds=0.0) for n in inserted]

    check, history = StallCheck(), rounds(1, 0, 0, 0)
    check.check(history, 4, 3)  # the last point may be in any of these
    history += rounds(*10 * [0])
    check.check(history, 4, 3)
    again = deepcopy(check)
    with pytest.raises(InternalError, match="11 of 15 rounds"):
        check.check(history + rounds(0), 4, 3)
    again.start_again()
    again.check(history + rounds(*10 * [0]), 4, 3)


def test_the_default_loop(device_options):
    mesh = dmr.generate("random", 200, seed=1)
    assert dmr.refine(mesh, **device_options).loop == "device"
    assert dmr.refine(mesh, **device_options).to_json()["loop"] == "device"
    for needs_host in ({"profile": True}, {"progress": lambda *_: None}):
        assert dmr.refine(mesh, **needs_host, **device_options).loop == "host"
    assert dmr.refine(mesh, marking="atomic", **device_options).loop == "host"
    assert dmr.refine(mesh, balance="none", **device_options).loop == "host"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": True}, "loop='device' cannot be combined with a profile"),
        ({"progress": lambda *_: None}, "cannot be combined with a progress callback"),
        ({"marking": "two-stage"}, "cannot be combined with marking='two-stage'"),
        ({"balance": "none"}, "cannot be combined with balance='none'"),
        ({"balance": "child-launch"}, "cannot be combined with balance='child-launch'"),
        ({"loop": "nobody"}, "loop .*'nobody'"),
    ],
)
def test_options_that_need_the_host_are_refused_on_the_device(options, message):
    with pytest.raises(OptionError, match=message):
        dmr.refine(dmr.generate("random", 20, seed=1), **{"loop": "device", "device": "cpu", **options})


def test_enumerations_match_the_kernels(pytestconfig):
    """The enumerations of progress.cuh, entry by entry."""
    source = (pytestconfig.rootpath / "cuda_src" / "refine" / "rounds" / "progress.cuh").read_text()
    for enumeration, name in ((Entry, "ProgressEntry"), (Stop, "StopReason"), (HistoryColumn, "HistoryEntry")):
        body = source.split(f"enum {name} : int32 {{")[1].split("}")[0]
        text = "".join(line.split("//")[0] for line in body.splitlines())
        entries = [entry.strip() for entry in text.split(",") if entry.strip()]
        assert [entry.name for entry in enumeration] == [e for e in entries if not e.endswith("_ENTRIES")]


# ---- Numbers that only the device knows -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 7, 8, 2047, 2048, 2049, 5000])
def test_scan_over_a_device_count(count, device):
    values = np.arange(5000, dtype=np.int32) % 7
    number = DeviceCount(device.array(np.array([count], np.int32)), 5000)
    offsets = scan(device.array(values), number).download()
    assert np.array_equal(offsets[: count + 1], np.concatenate([[0], np.cumsum(values[:count])]))
    assert number.read() == count


def test_launch_over_a_device_count(device):
    array = device.zeros(1000, np.int32)
    array.fill(255)
    device.launch("fill_indices", DeviceCount(device.array(np.array([300], np.int32)), 1000), array)
    assert array.download().tolist() == [*range(300), *[-1] * 700]


def test_a_loop_repeats_until_a_kernel_stops_it(device):
    """The numbers of rounds that are applied and append nothing: they are counted, nine times."""
    nothing = device.zeros(8, np.int32)
    counts, history = device.zeros(TALLIED, np.int64), device.zeros(9 * len(HistoryColumn), np.int64)
    progress = RoundProgress(device)

    def body():
        device.launch("fill_indices", 2, progress.array[Entry.SEGMENTS : Entry.APPLIED + 1])  # 0 segments, 1 applied
        device.launch("end_round", 1, nothing, counts, history, progress.array)

    progress.write({Entry.BEGINS: 1, Entry.MOST_ROUNDS: 9})
    with device.rehearsal():
        body()
    device.loop(body, progress.array[Entry.STOP : Entry.STOP + 1]).run()
    numbers = progress.read()
    assert numbers[Entry.ROUNDS] == 9 and numbers[Entry.STOP] == Stop.ENOUGH_ROUNDS


def test_a_rehearsal_launches_no_kernel(device):
    array = device.zeros(10, np.int32)
    with device.rehearsal():
        device.launch("fill_indices", 10, array)
    assert not array.download().any()
    device.launch("fill_indices", 10, array)
    assert array.download().tolist() == list(range(10))


def test_without_memory_to_record_the_host_continues_after_single_block_rounds(device_options, monkeypatch):
    """Single-block rounds run before anything is recorded; their results must be kept."""
    for who in ("SINGLE_BLOCK_ON_GPU", "SINGLE_BLOCK_ON_ONE_THREAD", "SINGLE_BLOCK_ON_THREADS"):
        monkeypatch.setattr(team_rounds, who, {"candidates": 25, "listed": 10**6, "subsegments": 10**6})
    for who in ("PERSISTENT_ON_GPU", "PERSISTENT_ON_CPU"):  # there are more listed at first: many teams are needed
        monkeypatch.setattr(team_rounds, who, {"listed": 500, "candidates": 0, "few_listed": 0})

    def none_left(self, *_):
        assert self._work.progress.read()[Entry.ROUNDS] > 0
        raise OutOfMemoryError("0.5 GiB more are needed, 0.1 GiB are free")

    monkeypatch.setattr(DeviceRounds, "_record", none_left)
    mesh = dmr.generate("random", 2000, seed=2)
    fine = dmr.refine(mesh, loop="device", **device_options)
    assert fine.loop == "device" and any("the host drives" in warning for warning in fine.warnings)
    assert result_summary(fine) == result_summary(dmr.refine(mesh, loop="host", device="cpu"))


def test_without_memory_for_device_rounds_the_host_drives(device_options, monkeypatch):
    def none_left(self, bad):
        raise OutOfMemoryError("0.5 GiB more are needed, 0.1 GiB are free")

    monkeypatch.setattr(DeviceRounds, "_reserve", none_left)
    mesh = dmr.generate("random", 300, seed=1)
    fine = dmr.refine(mesh, loop="device", **device_options)
    assert fine.loop == "host" and fine.complete and any("the host drives" in w for w in fine.warnings)
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(mesh, loop="host", device="cpu").mesh)


def test_objects_made_from_scratch_arrays_are_dropped_with_them(device):
    space = Workspace(device)
    first = space.array("roots", 10, np.int32)
    space.made_of["cavities"] = first
    assert space.array("roots", 10, np.int32) is first and space.array("keys", 5, np.uint64).size == 5
    assert space.made_of == {"cavities": first}
    assert space.array("roots", 11, np.int32) is not first
    assert space.made_of == {}
