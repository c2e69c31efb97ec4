"""Profiles with a program in place of ncu: options, and parsing of its output."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from dmr.memory import signatures
from scripts.study.refinement import profile as profile_strategies
from scripts.study.refinement import profile_runs
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

# Notes the call, then does what behaviour.py says; texts lie in files by marking and balance.
FAKE = f"""#!{sys.executable}
import json, pathlib, sys
here, asked = pathlib.Path(__file__).parent, sys.argv[1:]
if asked == ["--version"]:
    print("NVIDIA (R) Nsight Compute Command Line Profiler\\nVersion 2025.3.1.0 (build 36398880) (public-release)")
    sys.exit()
with (here / "calls").open("a") as calls:
    calls.write(json.dumps(asked) + "\\n")
marking, balance = asked[-3:-1]
exec((here / "behaviour.py").read_text())
"""
SAY_TABLE = 'print((here / f"{marking} {balance}").read_text(), end="")\n'

METRICS = {  # the requested metrics, in their order, with their base units
    "gpu__time_duration.sum": "ns",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "%",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "%",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "%",
    "lts__t_sectors_op_atom.sum": "sector",
    "lts__t_sectors_op_red.sum": "sector",
    "launch__grid_size": "",
    "launch__registers_per_thread": "register/thread",
    "dram__bytes.sum": "byte",
}
TIME, THREADS, _, DRAM, _, _, RED, GRID, _, _ = METRICS
# Kernel, and the metrics above. The longest mark_cavity is the second.
LAUNCHES = {
    ("three-phase", "none"): [
        ("check_listed", 90_000, 31.5, 88.25, 61.125, 40.5, 0, 0, 8593, 64, 123_456_789),
        ("mark_cavity", 41_250, 12.34, 55.5, 20.25, 30.75, 0, 0, 4297, 32, 1_000_000),
        ("mark_cavity", 1_234_567, 9.876, 44.44, 33.33, 22.22, 5, 7, 4296, 32, 2_000_000),
        ("check_by_cavity", 30_000, 3.5, 20, 10, 15, 0, 0, 4297, 58, 3_000_000),
    ],
    ("deterministic", "work-stealing"): [
        ("check_listed", 80_000, 31.5, 88, 61, 40, 0, 0, 8593, 64, 123_000_000),
        ("check_ownership", 20_500, 10.5, 70.5, 30.5, 60.5, 250_000, 1_000, 2_000, 30, 4_000_000),
        ("check_listed", 7_000, 30.25, 60, 50, 45, 0, 0, 300, 64, 5_000_000),
        ("check_listed", 6_000, 29, 60, 50, 45, 0, 0, 299, 64, 6_000_000),
    ],
    ("two-stage", "child-launch"): [
        ("check_by_children", 300_000, 1.25, 2.5, 0.5, 0.75, 1024, 0, 8, 40, 7_000),
    ],
}
ACCOUNT = {
    "device": "cuda:0 (NVIDIA H200)",
    "triangles": 599,
    "rounds": 21,
    "children": 0,
    "error": None,
    "exit_code": 0,
}
RAN = {
    "check_listed": 40,
    "mark_cavity": 50,
    "check_by_cavity": 60,
    "check_ownership": 70,
    "check_by_children": 80,
    "make_keys": 9,
    "retriangulate": 0,
}
HEAD = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size"]


def account(**changes):
    return "refined: " + json.dumps({**ACCOUNT, "launches": RAN, **changes}) + "\n"


def quoted(cells):
    return ",".join(f'"{cell}"' for cell in cells) + "\n"


def place(k, launch):
    return [str(k), "77", "python3", "127.0.0.1", launch[0], "1", "13", "(128, 1, 1)", f"({launch[8]}, 1, 1)"]


def raw(launches):
    """One line per launch, with separators of thousands."""
    names = sorted(METRICS)
    text = quoted(HEAD + names) + quoted([""] * len(HEAD) + [METRICS[name] for name in names])
    for k, launch in enumerate(launches):
        figures = dict(zip(METRICS, launch[1:], strict=True))
        text += quoted(place(k, launch) + [f"{figures[name]:,}" for name in names])
    return text


def long(launches):
    """One line per metric, with C++ names and times in microseconds."""
    text = quoted([*HEAD, "Device", "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name"])
    for k, launch in enumerate(launches):
        for (name, unit), value in zip(METRICS.items(), launch[1:], strict=True):
            where = place(k, (f"{launch[0]}(long, const int *)", *launch[1:]))
            shown, unit = (f"{value / 1000:,.3f}", "us") if name == TIME else (value, unit)
            text += quoted([*where, "0", "Command line profiler metrics", name, unit, shown, ""])
    return text


def noisy(table, text_of_program):
    before = (
        '==PROF== Connected to process 77\n"a line, of the program"\n==PROF== Profiling "mark_cavity": 50%....100%\n'
    )
    return before + text_of_program + "==PROF== Disconnected from process 77\n" + table + "\nbye, bye\n==PROF== done\n"


class Ncu:
    """The replacement of ncu in its folder, and the folder of the results."""

    def __init__(self, folder):
        self.tools, self.results = folder / "tools", folder / "results"
        self.tools.mkdir()
        self.path = self.tools / "ncu"
        self.path.write_text(FAKE)
        self.path.chmod(0o755)
        self.behave(SAY_TABLE)
        for (marking, balance), launches in LAUNCHES.items():
            self.gives(marking, balance, noisy(raw(launches), account()))

    def behave(self, program):
        (self.tools / "behaviour.py").write_text(program)

    def gives(self, marking, balance, text):
        (self.tools / f"{marking} {balance}").write_text(text)

    def profile(self, *arguments, rows=("base", "deterministic-host")):
        settings = (
            "--input",
            "random-300",
            "--launches",
            "7",
            "--name",
            "a",
            "--commit",
            "abc",
            "--ncu",
            str(self.path),
        )
        return profile_strategies.main([*settings, "-o", str(self.results), "--rows", *rows, *arguments])

    @property
    def calls(self):
        return [json.loads(line) for line in (self.tools / "calls").read_text().splitlines()]

    @property
    def record(self):
        return json.loads((self.results / "a-profile.json").read_text())

    @property
    def page(self):
        return (self.results / "a-profile.md").read_text()

    @property
    def table(self):
        with (self.results / "a-profile.csv").open(newline="") as file:
            return {(line["row"], line["kernel"]): line for line in csv.DictReader(file)}

    @property
    def files(self):
        return sorted(path.name for path in self.results.iterdir()) if self.results.exists() else []


@pytest.fixture
def ncu(tmp_path):
    return Ncu(tmp_path)


def page_tables(page):
    """Cells by section and kernel."""
    found, section = {}, ""
    for line in page.splitlines():
        section = line[3:] if line.startswith("## ") else section
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0] != "kernel" and "--" not in cells[0]:
            found[section, cells[0]] = cells
    return found


def test_the_command_names_kernels_metrics_and_row(ncu):
    assert ncu.profile(rows=("base", "child-launch", "deterministic-host")) == 0
    assert len(ncu.calls) == 3
    for call, (marking, balance) in zip(ncu.calls, (("three-phase", "none"), ("two-stage", "child-launch"),
                                                    ("deterministic", "work-stealing")), strict=True):  # fmt: skip
        k = call.index(sys.executable)
        assert call[k + 1] == "-c"
        assert call[k + 3 :] == ["300", "0", "off-center", marking, balance, "cuda"]
        flags, given = call[:k], dict(pairwise(call[:k]))
        assert {"--csv", "-c", "-k"} <= set(flags)
        assert (given["--page"], given["--print-units"], given["--clock-control"]) == ("raw", "base", "none")
        assert given["-c"] == "7"
        assert sorted(given["--metrics"].split(",")) == sorted(METRICS)
        pattern = re.compile(given["-k"].removeprefix("regex:"))
        chosen = {name for name in [*signatures(), "child_check"] if pattern.search(name)}
        assert chosen == {
            "survey_bad", "gather_candidates", "grow_cavities", "retriangulate", "link_winners",
            "mark_cavity", "remark_cavity", "remark_cavity_literally", "check_marks",
            "mark_in_three_phases", "mark_cavity_atomic", "check_ownership", "resolve_conflicts",
            "check_listed", "check_by_cavity", "check_by_children",
        }  # fmt: skip
        assert chosen == set(profile_runs.KERNELS)


@pytest.mark.parametrize("layout", [raw, long])
def test_every_launch_is_kept_and_the_longest_is_shown(ncu, layout, capsys):
    for (marking, balance), launches in LAUNCHES.items():
        ncu.gives(marking, balance, noisy(layout(launches), account(children=1234)))
    assert ncu.profile(rows=("base", "child-launch", "deterministic-host")) == 0
    assert ncu.files == ["a-profile.csv", "a-profile.json", "a-profile.md"]
    assert capsys.readouterr().out == ncu.page

    found = ncu.record
    assert [row["row"] for row in found["rows"]] == ["base", "child-launch", "deterministic-host"]
    for row in found["rows"]:
        given = LAUNCHES[row["marking"], row["balance"]]
        assert [launch["kernel"] for launch in row["seen"]] == [launch[0] for launch in given]
        for launch, expected in zip(row["seen"], given, strict=True):
            assert [launch[name] for name in METRICS] == pytest.approx(list(expected[1:]), rel=1e-12)
    assert (found["device"], found["triangles"], found["commit"]) == (ACCOUNT["device"], 599, "abc")
    assert (found["machine"]["ncu"], found["left_out"], found["unknown"]) == ("2025.3.1.0", {}, [])
    assert "--rows base child-launch deterministic" in found["command"]

    figures = {
        name: [line[column] for column in line if column not in ("date", "commit", "device", "input")]
        for name, line in ncu.table.items()
    }
    assert figures["base", "mark_cavity"] == [
        "base", "three-phase", "none", "mark_cavity", "50", "2", "1275.817", "1234.567", "4296", "9.876", "44.44",
        "33.33", "22.22", "12", "32", "2000000",
    ]  # fmt: skip
    assert figures["deterministic-host", "check_ownership"][-4:] == ["60.5", "251000", "30", "4000000"]
    assert figures["deterministic-host", "check_listed, first"][4:8] == ["1", "1", "80.0", "80.0"]
    assert figures["deterministic-host", "check_listed"][4:9] == ["39", "2", "13.0", "7.0", "300"]
    assert {name for row, name in figures if row == "base"} == {
        "mark_cavity", "check_listed, first", "check_listed", "check_by_cavity", "check_ownership",
        "check_by_children",
    }  # fmt: skip
    assert figures["base", "check_ownership"][4:7] == ["70", "0", ""]  # it ran, later than the first launches


def test_the_page_agrees_with_the_csv(ncu):
    ncu.gives("two-stage", "child-launch", noisy(raw(LAUNCHES["two-stage", "child-launch"]), account(children=1234)))
    assert ncu.profile(rows=("base", "child-launch", "deterministic-host")) == 0
    shown, titles = page_tables(ncu.page), {row["row"]: row["title"] for row in ncu.record["rows"]}
    assert len(shown) == len(ncu.table)
    for (row, kernel), line in ncu.table.items():
        cells = shown[titles[row], kernel]
        assert cells[1] == f"{line['seen']} of {line['launches']}"
        for cell, column in zip(cells[2:], list(line)[list(line).index("seen") + 1 :], strict=True):
            if line[column]:
                assert float(cell.replace(",", "")) == pytest.approx(float(line[column]), abs=0.0501), column
            else:
                assert (cell, line["seen"]) == ("-", "0")
    sections = re.split(r"^## ", ncu.page, flags=re.MULTILINE)
    assert [("1,234 launches of child_check" in section) for section in sections] == [False, False, True, False]
    assert "abc" in sections[0]
    assert "2025.3.1.0" in sections[0]


def test_redrawing_gives_the_same_files(ncu, tmp_path, capsys):
    assert ncu.profile() == 0
    printed, copy = capsys.readouterr().out, tmp_path / "copy"
    copy.mkdir()
    (copy / "a-profile.json").write_bytes((ncu.results / "a-profile.json").read_bytes())
    assert profile_strategies.main(["--redraw", str(copy / "a-profile.json")]) == 0
    assert capsys.readouterr().out == printed
    for name in ncu.files:
        assert (copy / name).read_bytes() == (ncu.results / name).read_bytes(), name
    assert len(ncu.calls) == 2


def test_a_record_without_after_is_drawn(ncu, tmp_path):
    assert ncu.profile() == 0
    old = ncu.record
    assert old.pop("after") == 0
    path = tmp_path / "a-profile.json"
    path.write_text(json.dumps(old))
    assert profile_strategies.main(["--redraw", str(path)]) == 0
    assert json.loads(path.read_text()) == old
    for name in ("a-profile.csv", "a-profile.md"):
        assert (tmp_path / name).read_bytes() == (ncu.results / name).read_bytes(), name


@pytest.mark.parametrize(
    "content", [None, "{", "[]", '{"format": 1, "inputs": [1]}', '{"format": "profile 1", "rows": []}']
)
def test_invalid_records_are_refused(tmp_path, capsys, content):
    path = tmp_path / "b-profile.json"
    if content is not None:
        path.write_text(content)
    assert profile_strategies.main(["--redraw", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"profile_strategies: {path}: ")


def test_the_name_is_the_date_and_the_card(ncu):
    plain = ["--input", "random-300", "--ncu", str(ncu.path), "-o", str(ncu.results), "--rows", "base"]
    assert profile_strategies.main(plain) == 0
    assert [re.sub(r"^\d{4}-\d\d-\d\d", "DATE", name) for name in ncu.files] == [
        f"DATE-h200-profile.{end}" for end in ("csv", "json", "md")
    ]


def test_missing_figures_are_n_a(ncu):
    launches = [list(launch) for launch in LAUNCHES["three-phase", "none"]]
    text = raw(launches).replace('"33.33"', '"n/a"').replace('"22.22"', '""').replace(",5,", ",nan,")
    head, *rest = text.splitlines(keepends=True)
    text = head.replace(GRID, "launch__another") + "".join(rest)  # the column of the grid's size is read instead
    ncu.gives("three-phase", "none", noisy(text, account()))
    assert ncu.profile(rows=("base",)) == 0
    line = ncu.table["base", "mark_cavity"]
    assert (line["dram_percent"], line["l2_percent"], line["grid"]) == ("", "", "4296")
    assert ncu.record["rows"][0]["seen"][2][DRAM] is None
    cells = page_tables(ncu.page)["base (3-phase, one stage)", "mark_cavity"]
    assert cells[7:9] == ["n/a", "n/a"]
    assert f"n/a: ncu does not have {DRAM}, lts__throughput" in ncu.page


def test_an_unknown_metric_is_reported_and_dropped(ncu, capsys):
    refusal = f"""
if "{RED}" in asked[asked.index("--metrics") + 1]:
    print("==ERROR== Failed to find metric regex:^lts__t_sectors_op_red\\\\.(sum|avg)$")
    sys.exit(1)
"""
    ncu.behave(refusal + SAY_TABLE)
    for key, launches in LAUNCHES.items():
        ncu.gives(*key, noisy(raw(launches).replace(RED, "another__metric"), account()))
    assert ncu.profile() == 0
    asked = [call[call.index("--metrics") + 1].split(",") for call in ncu.calls]
    assert [RED in metrics for metrics in asked] == [True, False, False]
    assert [len(metrics) for metrics in asked] == [10, 9, 9]
    assert f"does not know {RED}" in capsys.readouterr().err
    assert ncu.record["unknown"] == [RED]
    assert (ncu.table["base", "mark_cavity"]["atomic_sectors"], ncu.table["base", "mark_cavity"]["registers"]) == (
        "",
        "32",
    )
    assert f"n/a: ncu does not have {RED} here." in ncu.page


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters", "ERR_NVGPUCTRPERM"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded", "LibraryNotLoaded"),
    ],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_host_without_counters_is_named_at_once(ncu, capsys, said, words, stream):
    """Even if the program itself succeeds."""
    ncu.behave(f"print({account()!r}, end='')\nprint({said!r}, file=sys.{stream})")
    assert ncu.profile() == 4
    printed = capsys.readouterr()
    assert (printed.out, ncu.files, len(ncu.calls)) == ("", [], 1)
    assert printed.err.startswith("profile_strategies: ncu ")
    assert words in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_host_without_ncu_or_gpu_is_named(ncu, capsys):
    assert ncu.profile("--ncu", "no-such-ncu") == 4
    assert "there is no program no-such-ncu" in capsys.readouterr().err
    broken = ncu.tools / "broken"
    broken.write_text("neither a program nor a script")
    broken.chmod(0o755)
    assert ncu.profile("--ncu", str(broken)) == 4
    assert f"{broken} does not start" in capsys.readouterr().err
    ncu.behave("print('refined: ' + json.dumps(dict(error='no GPU is here', exit_code=4)))\nsys.exit(4)")
    assert ncu.profile() == 4
    assert capsys.readouterr().err == "profile_strategies: no GPU is here\n"
    assert (ncu.files, len(ncu.calls)) == ([], 1)


def test_a_row_over_its_time_limit_is_ended_and_left_out(ncu, capsys):
    ncu.behave("""
if marking == "three-phase":
    import subprocess, time
    sleeper = subprocess.Popen(["sleep", "60"])
    (here / "pid").write_text(str(sleeper.pid))
    time.sleep(60)
""" + SAY_TABLE)  # fmt: skip
    started = time.monotonic()
    assert ncu.profile("--timeout", "2") == 3
    assert time.monotonic() - started < 30
    assert list(ncu.record["left_out"]) == ["base"]
    assert [row["row"] for row in ncu.record["rows"]] == ["deterministic-host"]
    assert "Left out: `base`: not done after 2 seconds" in ncu.page
    assert "base is left out: not done after 2 seconds" in capsys.readouterr().err
    pid = int((ncu.tools / "pid").read_text())
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("refined: " + json.dumps({"error": "it cannot be", "exit_code": 2}) + "\n", "it cannot be"),
        (
            "==PROF== Connected to process 77\n==ERROR== The application crashed.\n",
            "the refinement did not end; ==ERROR== The application crashed.",
        ),
        (account() + "==WARNING== No kernels were profiled.\n", "ncu saw none of the kernels; ==WARNING== No kernels"),
        (account(), "ncu saw none of the kernels"),
        (account() + raw(LAUNCHES["three-phase", "none"])[:-40] + '"\n', "ncu's table has a broken line"),
        (
            account() + raw(LAUNCHES["three-phase", "none"]).replace("41,250", "many"),
            "has 'many' where a number belongs",
        ),
        (raw(LAUNCHES["three-phase", "none"]), "the refinement did not end"),
    ],
)
def test_a_row_without_figures_is_left_out_with_its_reason(ncu, capsys, text, reason):
    ncu.gives("three-phase", "none", text)
    assert ncu.profile() == 3
    assert reason in ncu.record["left_out"]["base"]
    assert f"Left out: `base`: {ncu.record['left_out']['base']}" in ncu.page
    assert {row for row, _ in ncu.table} == {"deterministic-host"}
    (ncu.results / "a-profile.json").unlink()
    capsys.readouterr()
    assert ncu.profile(rows=("base",)) == 4
    assert reason in capsys.readouterr().err
    assert "a-profile.json" not in ncu.files


def test_errors_beside_figures_are_kept_with_them(ncu):
    words = '==ERROR== Failed to profile "check_by_children" in process 77'
    text = noisy(raw(LAUNCHES["three-phase", "none"]), account())
    ncu.gives("three-phase", "none", f"{words}\n{text}")
    assert ncu.profile() == 3
    assert [row["said"] for row in ncu.record["rows"]] == [[words], []]
    assert words in ncu.page
    assert len(ncu.record["rows"][0]["seen"]) == 4


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--launches", "0"), "--launches"),
        (("--timeout", "0"), "--timeout"),
        (("--input", "sphere"), "no input sphere"),
    ],
)
def test_invalid_options_are_refused_before_anything_runs(ncu, capsys, arguments, word):
    assert ncu.profile(*arguments) == 2
    assert word in capsys.readouterr().err
    assert not (ncu.tools / "calls").exists()
    for row in ("nothing", "deterministic"):  # ncu does not see launches by a graph
        with pytest.raises(SystemExit, match="2"):
            ncu.profile(rows=(row,))


def test_the_commands_in_the_help_parse():
    lines = [line.partition("  #")[0] for line in profile_strategies.__doc__.splitlines()]
    commands = [line.split()[3:] for line in lines if line.startswith("    python -m scripts.")]
    parsed = [profile_strategies.parser().parse_args(command) for command in commands]
    assert [options.rows for options in parsed] == [None, ["base", "deterministic-host"], ["deterministic-host"], None]
    assert [options.steiner for options in parsed] == ["off-center", "off-center", "petal", "off-center"]


def test_launches_after_given_rounds(ncu):
    """The program starts the profiler; the first check_listed that is seen is then not that of the input."""
    assert ncu.profile("--after", "21", "--steiner", "petal", rows=("deterministic-host",)) == 0
    (call,) = ncu.calls
    assert dict(pairwise(call))["--profile-from-start"] == "off"
    assert call[call.index(sys.executable) + 3 :] == ["300", "21", "petal", "deterministic", "work-stealing", "cuda"]
    kernels = {kernel for _, kernel in ncu.table}
    assert "check_listed" in kernels and "check_listed, first" not in kernels
    assert "launches of these kernels after round 21." in ncu.page
    assert "The first launch of check_listed" not in ncu.page
    compile(profile_runs.PROGRAM, "program", "exec")


@pytest.mark.parametrize(
    ("marking", "balance", "kernels"),
    [
        ("two-stage", "none", {"mark_cavity", "remark_cavity", "check_marks", "mark_cavity_atomic", "check_by_cavity"}),
        ("three-phase-barrier", "none", {"mark_in_three_phases", "check_by_cavity"}),
        ("deterministic", "work-stealing", {"check_ownership", "resolve_conflicts"}),
    ],
)
def test_the_profiled_program_refines_and_reports(tmp_path, marking, balance, kernels):
    """The profiled program on the CPU, in a folder that holds another dmr."""
    (tmp_path / "dmr.py").write_text("raise SystemExit('the wrong dmr')")
    command = [sys.executable, "-c", profile_runs.PROGRAM, "4000", "0", "petal", marking, balance, "cpu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("refined: "))
    found = json.loads(line.removeprefix("refined: "))
    assert found["device"].startswith("cpu")
    assert (found["error"], found["exit_code"]) == (None, 0)
    assert 7000 < found["triangles"] < 8000
    ran = {name for name in found["launches"] if name in profile_runs.KERNELS}
    always = {"survey_bad", "gather_candidates", "grow_cavities", "retriangulate", "link_winners", "check_listed"}
    assert ran == kernels | always
    # That of the input: later ones are checked by check_by_cavity, or, on a CPU, where they are made.
    assert found["launches"]["check_listed"] == 1


def test_the_profiler_is_started_after_the_round_asked_for(tmp_path):
    """By a stand-in for pycuda."""
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").touch()
    (tmp_path / "pycuda" / "driver.py").write_text("def start_profiler():\n    print('started')\n")
    command = [
        sys.executable,
        "-c",
        profile_runs.PROGRAM,
        "4000",
        "2",
        "petal",
        "deterministic",
        "work-stealing",
        "cpu",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    first, last = done.stdout.splitlines()
    assert first == "started" and last.startswith("refined: ")


def test_the_profiled_program_reports_errors(tmp_path):
    command = [sys.executable, "-c", profile_runs.PROGRAM, "300", "0", "petal", "two-stage", "child-launch", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ)
    found = json.loads(done.stdout.removeprefix("refined: "))
    assert (found["exit_code"], done.returncode) == (2, 2)
    assert "GPU" in found["error"]
