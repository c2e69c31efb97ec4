"""`dmr refine --marking`, `--balance` and `--profile`: help, errors and reports."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest

from dmr import io
from dmr.cli.parsing import strategies
from dmr.cli.shared import profile as profiling
from dmr.domains.generation import generate
from dmr.refinement.options import BALANCES, MARKINGS
from dmr.validation.checker import validate
from tests.support.command_line import dmr, fails, names
from tests.support.devices import gpu_absence
from tests.support.meshes import fan

CHILDREN = ("child-launch", "child-launch-per-cavity")
ON_CPU = ("--device", "cpu", "--threads", "2")


@pytest.fixture
def folder(folder):
    """A folder with a tiny mesh and an ordinary one: tiny.ele, and input.ele of 300 random points."""
    io.write("tiny.ele", fan())
    io.write("input.ele", generate("random", 300, seed=4))
    return folder


def tables(err):
    """Cells of each table on stderr; other lines separate tables."""
    found = [[]]
    for line in err.splitlines():
        if line.startswith("  "):
            found[-1].append(re.split(r"\s{2,}", line.strip()))
        elif found[-1]:
            found.append([])
    return [rows for rows in found if rows]


# ---- Help -----------------------------------------------------------------------------------------------------------


def test_help_describes_every_strategy_within_80_columns(capsys, monkeypatch):
    assert tuple(strategies.MARKINGS) == MARKINGS
    assert tuple(strategies.BALANCES) == BALANCES
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = dmr(capsys, "refine", "--help")
    assert code == 0
    _, _, after_examples = out.partition("usage: ")
    assert max(map(len, after_examples.splitlines())) <= 80
    described = {line.split()[0]: line.split()[1:] for line in after_examples.splitlines() if line[:2] == "  "}
    for name in (*MARKINGS, *BALANCES):
        assert len(described[name]) >= 3, name
    racing = {name for name, words in described.items() if words[-1:] == ["races"]}
    assert racing >= {"two-stage", "three-phase", "three-phase-literal", "three-phase-barrier"}
    assert not racing & {"deterministic", "atomic", *BALANCES}


@pytest.mark.parametrize(("option", "known"), [("--marking", MARKINGS), ("--balance", BALANCES)])
def test_an_unknown_strategy_is_refused_with_the_known_ones(folder, capsys, option, known):
    sentence = fails(capsys, 2, "refine", "input.ele", option, "fast")
    assert "'fast'" in sentence
    assert all(name in sentence for name in known)


# ---- Strategies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("marking", "balance"), [*product(MARKINGS, ("work-stealing", "none"))])
def test_every_strategy_runs_and_is_in_the_json(folder, capsys, marking, balance):
    code, out, err = dmr(capsys, "refine", "input.ele", "--marking", marking, "--balance", balance, "--json", *ON_CPU)
    found = json.loads(out)
    assert (code, found["marking"], found["balance"]) == (0, marking, balance), err
    assert sum(found["launches"].values()) > 0 < found["rounds"]
    assert found["checks"] == {"children": 0, "refused": 0}
    assert validate(io.read("input.1.ele"), input=io.read("input.ele"), min_angle=30).ok


@pytest.mark.parametrize("balance", CHILDREN)
def test_child_launches_on_the_cpu_are_refused_before_reading(folder, capsys, balance):
    before = names(folder)
    sentence = fails(capsys, 2, "refine", "missing.ele", "--balance", balance, "--device", "cpu")
    assert sentence.startswith(f"--balance {balance} is not available on cpu: ")
    assert "work-stealing" in sentence
    assert names(folder) == before


@pytest.mark.skipif(gpu_absence() is None, reason="there is a GPU")
@pytest.mark.parametrize("balance", CHILDREN)
def test_child_launches_without_a_gpu_are_refused(folder, capsys, balance):
    before = names(folder)
    assert "not available on cpu" in fails(capsys, 2, "refine", "input.ele", "--balance", balance)
    assert names(folder) == before


# ---- Profile --------------------------------------------------------------------------------------------------------


def profiled(capsys, *arguments):
    """Runs with --profile and --json: the tables of phases, launches and checks, and the object."""
    code, out, err = dmr(capsys, "refine", *arguments, "--profile", "--json")
    assert code == 0, err
    assert "slower" in err
    _, phases, kernels, checks = tables(err)  # the first one compares before and after
    return phases, kernels, checks, json.loads(out), err


def test_the_phases_of_a_profile_add_up(folder, capsys):
    phases, kernels, _, told, _ = profiled(capsys, "input.ele", *ON_CPU)
    assert phases[0] == ["phase", "seconds", "share"]
    *parts, total = phases[1:]
    assert [name for name, *_ in phases[1:]] == list(told["seconds"])
    assert {"select", "grow", "mark", "retriangulate", "check", "list", "count"} < {name for name, *_ in parts}
    assert (total[0], total[2]) == ("total", "100.0%")
    assert float(total[1]) == pytest.approx(told["seconds"]["total"], abs=5e-5)
    for name, seconds, share in parts:
        assert float(seconds) == pytest.approx(told["seconds"][name], abs=5e-5)
        assert float(share[:-1]) == pytest.approx(100 * told["seconds"][name] / told["seconds"]["total"], abs=0.05)

    counts = [int(times.replace(",", "")) for _, times in kernels[1:]]
    assert kernels[0] == ["kernel", "launches"]
    assert counts[-1] == sum(told["launches"].values()) == sum(counts[:-1])
    named = counts[: profiling.MOST_LAUNCHED]
    assert named == sorted(named, reverse=True)
    assert re.fullmatch(r"\d+ others", kernels[-2][0])


@pytest.mark.parametrize("balance", ["work-stealing", "none"])
def test_a_profile_counts_the_shares_of_checks(folder, capsys, balance):
    _, _, (head, row), told, _ = profiled(capsys, "input.ele", "--balance", balance, *ON_CPU)
    found = dict(zip(head[1:], (int(cell.replace(",", "")) for cell in row[1:]), strict=True))
    assert row[0] == balance
    # Each point makes at least 3 triangles, 2 where it splits the boundary; per-triangle checks have one share each.
    before, after = (len(io.read(name).vertices) for name in ("input.ele", "input.1.ele"))
    assert found["triangles"] == told["checks"]["checked"] >= 2 * (after - before)
    assert found["shares"] == (after - before if balance == "none" else found["triangles"])
    assert (found["largest share"] > 1) == (balance == "none")
    assert found["launched from the device"] == found["refused"] == 0


def test_a_profile_changes_no_byte_of_the_mesh(folder, capsys):
    assert dmr(capsys, "refine", "input.ele", "-o", "plain.ele", *ON_CPU)[0] == 0
    assert dmr(capsys, "refine", "input.ele", "-o", "profiled.ele", "--profile", *ON_CPU)[0] == 0
    for suffix in (".node", ".ele"):
        assert (folder / f"plain{suffix}").read_bytes() == (folder / f"profiled{suffix}").read_bytes()


def test_the_profile_of_a_tiny_mesh_is_of_the_kept_run(folder, capsys):
    _, _, _, told, err = profiled(capsys, "tiny.ele", *ON_CPU)
    assert told["tries"] > 1
    assert f"of the run that was kept, one of {told['tries']}:" in err


def test_a_profile_only_on_request_and_not_when_quiet(folder, capsys):
    assert "profile" not in dmr(capsys, "refine", "input.ele", *ON_CPU)[2]
    assert dmr(capsys, "refine", "input.ele", "--profile", "--quiet", *ON_CPU) == (0, "", "")


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("balance", CHILDREN)
def test_a_profile_counts_launches_by_the_device(folder, capsys, balance):
    _, _, (head, row), told, _ = profiled(capsys, "input.ele", "--balance", balance, "--device", "cuda")
    found = dict(zip(head[1:], (int(cell.replace(",", "")) for cell in row[1:]), strict=True))
    points = sum(told["steiner"].values())
    assert found["refused"] == 0
    launched = found["launched from the device"]
    assert launched == points if balance == "child-launch-per-cavity" else 0 < launched < points


def test_a_short_list_of_kernels_is_complete():
    assert profiling.kernels({"scan": 2, "mark": 3, "grow": 3}) == [
        ["kernel", "launches"], ["grow", "3"], ["mark", "3"], ["scan", "2"], ["total", "8"],
    ]  # fmt: skip
    one_more = {f"kernel_{k}": 1 for k in range(profiling.MOST_LAUNCHED)} | {"zero_out": 1}
    assert profiling.kernels(one_more)[-2:] == [["1 other", "1"], ["total", "9"]]
