"""Every marking and balance: counters, launched kernels and proved meshes."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import dmr
from dmr.errors import OptionError
from dmr.memory import open_device
from dmr.refinement import run as runs
from dmr.refinement import strategy_tables
from dmr.refinement.options import BALANCES, MARKINGS, RefineOptions
from dmr.refinement.rounds import host_steps
from dmr.refinement.run import RunSettings
from dmr.refinement.state.outcomes import Outcome
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.cavities import RECORD_CAPACITY, prepare
from dmr.refinement.steps.selection import Candidates
from dmr.refinement.strategies.balancing import Balance
from dmr.refinement.strategies.marking import Marking
from tests.support.digests import mesh_digest

PHASES = {"mark_cavity", "remark_cavity", "check_marks"}
STAGE_TWO = {"check_cavity", "mark_cavity_atomic"}
CHILDREN = ("child-launch", "child-launch-per-cavity")


@pytest.fixture(scope="module")
def mesh():
    return dmr.generate("random", 1500, seed=9)


def run(mesh, device_options, **options):
    """As `dmr.refine`, but child launches are allowed on a CPU, where they are calls."""
    device = open_device(device_options["device"], device_options["threads"])
    return runs.run(mesh, device, RunSettings(options=RefineOptions(**options), profile=True))


def test_each_strategy_name_has_its_class():
    for base, table in ((Marking, strategy_tables.MARKINGS), (Balance, strategy_tables.BALANCES)):
        classes = [strategy.load() for strategy in table.values()]
        assert all(issubclass(one, base) for one in classes) and len(set(classes)) == len(table)


@pytest.mark.parametrize(("marking", "balance"), [*product(MARKINGS, BALANCES)])
def test_every_combination_is_proved(mesh, marking, balance, device_options):
    fine = run(mesh, device_options, marking=marking, balance=balance)
    report = dmr.validate(fine.mesh, input=mesh, min_angle=30)
    assert report.ok, report.failures
    assert fine.complete and not fine.unrefined and (fine.marking, fine.balance) == (marking, balance)


INPUTS = {
    "area": lambda: (dmr.generate("plate", 800, seed=3), {"max_area": 2e-3}),
    "conforming": lambda: (dmr.generate("plate", 800, seed=3), {"conforming": True}),
    "wheel": lambda: (dmr.generate("wheel", 400, seed=1), {}),  # cavities that need large records
    "size": lambda: (dmr.generate("random", 200, seed=1), {"max_edge": lambda p: 0.03 + 0.1 * p[:, 0]}),
    "kept": lambda: (dmr.generate("annulus", 300, seed=1), {"keep_segments": "boundary"}),
    "corner": lambda: (dmr.read("meshes/corner.ele"), {}),
    "outline": lambda: (dmr.read("meshes/bracket.poly"), {"max_area": 0.5}),
}


@pytest.mark.parametrize("marking", [m for m in MARKINGS if m != "deterministic"])
@pytest.mark.parametrize("name", INPUTS)
def test_every_marking_accepts_all_inputs(name, marking, device_options, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    mesh, options = INPUTS[name]()
    fine = dmr.refine(mesh, marking=marking, **options, **device_options)
    report = dmr.validate(fine.mesh, input=mesh, min_angle=30, unrefined=fine.unrefined_triangles)
    assert report.ok, report.failures
    assert fine.complete


@pytest.mark.parametrize("balance", BALANCES)
@pytest.mark.parametrize("options", [{}, {"max_area": 2e-3}], ids=["angle", "area"])
def test_the_balance_does_not_change_the_result(balance, options, device_options):
    mesh = dmr.generate("plate", 800, seed=3)
    reference = run(mesh, {"device": "cpu", "threads": 1}, **options)
    assert mesh_digest(run(mesh, device_options, balance=balance, **options).mesh) == mesh_digest(reference.mesh)


@pytest.mark.parametrize("marking", [name for name, each in strategy_tables.MARKINGS.items() if not each.races])
def test_markings_without_races_give_the_bits_of_one_thread(mesh, marking, device_options):
    reference = dmr.refine(mesh, marking=marking, device="cpu", threads=1)
    assert mesh_digest(dmr.refine(mesh, marking=marking, **device_options).mesh) == mesh_digest(reference.mesh)


# ---- Names and launched kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("marking", "launched", "never"),
    [
        ("deterministic", {"check_ownership", "resolve_conflicts"}, PHASES | STAGE_TWO),
        ("three-phase", PHASES | {"force_one"}, STAGE_TWO | {"mark_in_three_phases", "remark_cavity_literally"}),
        ("three-phase-literal", {"mark_cavity", "remark_cavity_literally", "check_marks"}, {"remark_cavity"}),
        ("three-phase-barrier", {"mark_in_three_phases", "force_one"}, STAGE_TWO | PHASES),
        ("atomic", {"mark_cavity_atomic", "check_marks", "check_cavity"}, {"mark_cavity", "remark_cavity"}),
        ("two-stage", PHASES | STAGE_TWO, {"mark_in_three_phases", "force_one"}),
    ],
)
def test_each_marking_launches_its_kernels(mesh, marking, launched, never, device_options):
    kernels = run(mesh, device_options, marking=marking).launches
    assert launched <= set(kernels) and not never & set(kernels)


def test_two_stage_marking_marks_more_often_per_pass(mesh, device_options):
    one = run(mesh, device_options, marking="three-phase").launches
    two = run(mesh, device_options, marking="two-stage").launches
    assert one["mark_cavity"] == one["make_keys"] == one["remark_cavity"] == one["check_marks"]
    assert two["mark_cavity"] < two["make_keys"] == two["mark_cavity"] + two["mark_cavity_atomic"]


def test_each_balance_launches_its_kernels(mesh, device_options):
    checks = {balance: run(mesh, device_options, balance=balance).checks for balance in BALANCES}
    fine = run(mesh, device_options)
    # The same mesh is made each time, so the same triangles are checked: by a thread each, or by a thread per cavity.
    assert len({counts["checked"] for counts in checks.values()}) == 1
    points = sum(fine.steiner.values())
    assert checks["none"]["shares"] == points and checks["none"]["largest_share"] >= 5
    for balance in ("work-stealing", *CHILDREN):
        assert checks[balance]["largest_share"] == 1 and checks[balance]["shares"] == checks[balance]["checked"]
    kernels = {
        "work-stealing": "check_listed",
        "none": "check_by_cavity",
        **dict.fromkeys(CHILDREN, "check_by_children"),
    }
    for balance, kernel in kernels.items():
        launches = run(mesh, device_options, balance=balance).launches
        others = {"check_by_cavity", "check_by_children"} - {kernel}
        assert launches[kernel] > 10 and not others & set(launches)
        assert (launches["check_listed"] == 1) == (balance != "work-stealing")  # the first check, of the input
    # Kernels launched from the device: none, one for many cavities, or one for each.
    assert checks["none"]["children"] == checks["work-stealing"]["children"] == 0
    assert checks["child-launch-per-cavity"]["children"] == points
    parents = run(mesh, device_options, balance="child-launch").launches["check_by_children"]
    assert parents <= checks["child-launch"]["children"] < points
    assert all(counts["refused"] == 0 for counts in checks.values())


@pytest.mark.parametrize("marking", ["deterministic", "atomic"])
def test_balances_launch_different_kernels_without_a_profile(mesh, marking, device_options):
    """By default a CPU's threads check what they make, and a GPU's device loop its own rounds; "none" never does."""
    evenly, by_cavity = (
        dmr.refine(mesh, marking=marking, balance=balance, **device_options) for balance in ("work-stealing", "none")
    )
    assert by_cavity.launches["check_by_cavity"] >= by_cavity.rounds and by_cavity.loop == "host"
    assert by_cavity.launches["check_listed"] == 1 and "check_by_cavity" not in evenly.launches
    assert mesh_digest(evenly.mesh) == mesh_digest(by_cavity.mesh)


def test_child_launches_stay_below_the_pending_limit(mesh, monkeypatch):
    device = open_device("cpu", 1)
    asked = []
    launch = type(device).launch

    def noted(self, kernel, count, *arguments):
        if kernel == "check_by_children":
            asked.append(count)
        launch(self, kernel, count, *arguments)

    monkeypatch.setattr(type(device), "launch", noted)
    monkeypatch.setattr(type(device), "allow_children", lambda self, wanted: 16)
    for balance in CHILDREN:
        fine = runs.run(mesh, device, RunSettings(options=RefineOptions(balance=balance)))
        assert dmr.validate(fine.mesh, input=mesh, min_angle=30).ok
    assert max(asked) == 16
    assert mesh_digest(fine.mesh) == mesh_digest(dmr.refine(mesh, device="cpu").mesh)


@pytest.mark.parametrize("balance", CHILDREN)
def test_child_launches_are_refused_on_the_cpu(mesh, balance):
    with pytest.raises(OptionError, match=f"'{balance}' .*cpu"):
        dmr.refine(mesh, balance=balance, device="cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("balance", CHILDREN)
def test_child_launches_work_on_a_gpu(mesh, balance):
    fine = dmr.refine(mesh, balance=balance, device="cuda")
    assert fine.checks["children"] > 0 and fine.checks["refused"] == 0
    assert "shares" not in fine.checks  # counted in profiled runs only


# ---- No cavity wins -------------------------------------------------------------------------------------------------


def forced(device, outcomes, progress):
    count = len(outcomes)
    candidates = Candidates(device.zeros(count, np.int32), count, 0, RECORD_CAPACITY)
    cavities = prepare(Workspace(device), candidates).records
    cavities.outcomes.upload(np.array(outcomes, np.int32))
    cavities.won.fill(0)
    device.launch("force_one", 1, cavities.view, count, device.array(np.array([progress], np.int32)))
    return cavities.won.download().tolist(), cavities.outcomes.download().tolist()


def test_one_cavity_is_forced_when_none_wins(device):
    undecided, lost, owner = Outcome.UNDECIDED, Outcome.ENCROACHED, Outcome.OWNER
    given = [lost, undecided, lost, undecided]
    assert forced(device, given, 0) == ([0, 1, 0, 0], [lost, owner, lost, undecided])
    assert forced(device, given, 1) == ([0, 0, 0, 0], given)
    assert forced(device, [lost, lost], 0) == ([0, 0], [lost, lost])


@pytest.mark.parametrize("marking", ["three-phase", "three-phase-literal", "three-phase-barrier"])
def test_a_run_without_winners_inserts_one_point_at_a_time(marking, device, device_options, monkeypatch):
    launch, seen = type(device).launch, []

    def noted(*arguments):
        seen.append(prepare(*arguments))
        return seen[-1]

    def nobody_wins(self, kernel, count, *arguments):
        """Revokes all winners after the phases, as if races had cost each one of its triangles."""
        launch(self, kernel, count, *arguments)
        if kernel in ("check_marks", "mark_in_three_phases"):
            outcomes = seen[-1].records.outcomes[:count]
            held = outcomes.download()
            held[held == Outcome.OWNER] = Outcome.UNDECIDED
            outcomes.upload(held)
            seen[-1].records.won.fill(0)
            arguments[-1].fill(0)  # the flag that a cavity has won

    monkeypatch.setattr(host_steps, "prepare", noted)
    monkeypatch.setattr(type(device), "launch", nobody_wins)
    mesh = dmr.generate("random", 60, seed=4)
    fine = run(mesh, device_options, marking=marking)
    assert fine.complete and dmr.validate(fine.mesh, input=mesh, min_angle=30).ok
    assert {r.inserted for r in fine.history} <= {0, 1} and sum(r.inserted for r in fine.history) > 100
    assert not [r for r in fine.history if r.inserted == 0 and r.lost > 0]


# ---- Statistics ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marking", MARKINGS)
def test_the_history_adds_up_to_the_totals(mesh, marking, device_options):
    fine = run(mesh, device_options, marking=marking)
    history = fine.history
    assert len(history) == fine.rounds
    assert sum(r.attempted for r in history) == fine.attempts
    assert sum(r.inserted for r in history) == sum(fine.steiner.values())
    assert sum(r.lost for r in history) == fine.outcomes["lost_conflict"]
    assert history[-1].triangles == len(fine.mesh.triangles)
    assert all(a.seconds <= b.seconds and a.triangles <= b.triangles for a, b in pairwise(history))


def test_profiling_changes_no_bit_and_names_every_phase(mesh, device_options):
    plain = dmr.refine(mesh, loop="host", **device_options)
    profiled = dmr.refine(mesh, profile=True, **device_options)
    assert mesh_digest(plain.mesh) == mesh_digest(profiled.mesh)
    phases = {"select", "grow", "mark", "retriangulate", "check", "list", "count"}
    assert phases < set(profiled.seconds) and all(profiled.seconds[phase] > 0 for phase in phases)
    parts = sum(seconds for phase, seconds in profiled.seconds.items() if phase != "total")
    assert profiled.seconds["total"] == pytest.approx(parts)
    # A CPU checks triangles where it makes them, unless profiling counts the checks.
    apart = {"check_listed"} if plain.device == "cpu" else set()
    assert {k: n for k, n in profiled.launches.items() if k not in apart} == {
        k: n for k, n in plain.launches.items() if k not in apart
    }
    assert "largest_share" in profiled.checks and "largest_share" not in plain.checks
    assert profiled.to_json()["launches"] == profiled.launches


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["host", "device"])
def test_the_phases_account_for_the_time_of_the_rounds(loop, device_options):
    """Everything from the first check to the last round belongs to a phase."""
    mesh = dmr.generate("random", 6000, seed=3)
    around = ("triangulate", "admit", "flip", "download", "total")
    shares = []
    for _ in range(5):  # a busy machine may stop the process anywhere, but not each time
        fine = dmr.refine(mesh, loop=loop, **device_options)
        phases = sum(seconds for phase, seconds in fine.seconds.items() if phase not in around)
        shares.append(phases / fine.history[-1].seconds)
    assert any(share == pytest.approx(1, rel=0.1) for share in shares), shares
