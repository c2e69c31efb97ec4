"""The study of refinement on small inputs: record, tables, pictures and errors."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from dataclasses import replace

import numpy as np
import pytest

import dmr
from dmr.errors import OutOfMemoryError

pytest.importorskip("matplotlib")

from matplotlib import colors, image

from scripts.study import files as study_files
from scripts.study.refinement import __main__ as study_refinement
from scripts.study.refinement import proofs as study_proofs
from scripts.study.refinement import rows as study_rows
from scripts.study.refinement import runs as study_runs
from scripts.study.refinement import tables as study_tables

pytestmark = pytest.mark.slow

NAME = "small"
INPUTS = ("random-500", "random-2000")
REPEATS = 3
CPU_ROWS = ("base", "base-literal", "base-barrier", "atomic", "two-stage", "work-stealing", "deterministic")
FILES = [f"{NAME}{end}" for end in (".json", ".csv", ".md", "-bars.png", "-processed.png")]
COLOURS = ("#000000", "#999933", "#8a929c", "#E69F00", "#0072B2", "#56B4E9", "#009E73")  # of CPU_ROWS


def study(folder, *arguments):
    return study_refinement.main(["--device", "cpu", "--threads", "2", "-o", str(folder), "--name", NAME, *arguments])


def record(folder):
    return json.loads((folder / f"{NAME}.json").read_text())


def table(folder):
    with (folder / f"{NAME}.csv").open(newline="") as file:
        return {(line["input"], line["row"]): line for line in csv.DictReader(file)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The study of two small inputs, with every row that runs on the CPU."""
    found = tmp_path_factory.mktemp("study")
    assert study(found, "--inputs", *INPUTS, "--repeats", str(REPEATS), "--commit", "abc") == 0
    return found


def middle(numbers):
    """The median of an odd number of numbers."""
    return sorted(numbers)[len(numbers) // 2]


def test_every_row_runs_and_is_proved(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    lines = table(folder)
    assert list(lines) == [(name, row) for name in INPUTS for row in CPU_ROWS]
    assert {line["valid"] for line in lines.values()} == {"yes"}
    found = record(folder)
    assert (found["format"], found["commit"], found["device"]) == (1, "abc", "cpu (2 threads)")
    assert found["machine"]["numpy"] == np.__version__
    for given in found["inputs"]:
        assert len(given["rows"]) == len(CPU_ROWS)
        for row in given["rows"]:
            assert (row["valid"], row["failures"], len(row["runs"])) == (True, {}, REPEATS)


def test_the_inputs_and_the_default_are_those_of_dmr(folder):
    for given in record(folder)["inputs"]:
        mesh = dmr.generate("random", int(given["input"].partition("-")[2]), 12345)
        a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
        edges = [np.hypot(*(p - q).T) for p, q in ((b, c), (c, a), (a, b))]
        shortest, *others = np.sort(edges, axis=0)
        angles = np.degrees(np.arccos((others[0] ** 2 + others[1] ** 2 - shortest**2) / (2 * others[0] * others[1])))
        assert (given["vertices"], given["triangles"]) == (len(mesh.vertices), len(mesh.triangles))
        assert given["bad"] == np.count_nonzero(angles < 30)
        fine = dmr.refine(mesh, min_angle=30, steiner="off-center", device="cpu", threads=1).mesh
        expected = hashlib.sha256(fine.vertices.tobytes() + fine.triangles.tobytes()).hexdigest()
        (default,) = (row for row in given["rows"] if row["row"] == "deterministic")
        assert {run["sha256"] for run in (*default["runs"], default["profiled"])} == {expected}
        assert default["runs"][0]["triangles"] == len(fine.triangles)


def test_derived_figures_follow_from_the_runs(folder):
    lines = table(folder)
    for given in record(folder)["inputs"]:
        medians = {row["row"]: middle([run["seconds"] for run in row["runs"]]) for row in given["rows"]}
        triangles = {row["row"]: middle([run["triangles"] for run in row["runs"]]) for row in given["rows"]}
        for row in given["rows"]:
            line = lines[given["input"], row["row"]]
            seconds = [run["seconds"] for run in row["runs"]]
            (run,) = (run for run in row["runs"] if run["seconds"] == medians[row["row"]])
            improvement, literal = (
                100 * (medians[name] - medians[row["row"]]) / medians[name] for name in ("base", "base-literal")
            )
            for column, expected, digits in (
                ("median_ms", 1000 * medians[row["row"]], 3),
                ("min_ms", 1000 * min(seconds), 3),
                ("max_ms", 1000 * max(seconds), 3),
                ("history_ms", 1000 * middle([run["seconds_by_history"] for run in row["runs"]]), 3),
                ("improvement_percent", improvement, 2),
                ("literal_percent", literal, 2),
                ("size", run["triangles"] / triangles["deterministic"], 4),
                ("acceptance", run["inserted"] / run["attempts"], 4),
                ("lost_a_round", run["lost"] / run["rounds"], 1),
                ("launches_a_round", run["launches"] / run["rounds"], 1),
                ("grow_ms", 1000 * row["profiled"]["phases"]["grow"], 3),
            ):
                assert float(line[column]) == pytest.approx(expected, abs=0.51 * 10**-digits), column
            for column in ("rounds", "attempts", "inserted", "lost", "launches", "children"):
                assert int(line[column]) == run[column]
            assert int(line["triangles_out"]) == run["triangles"]


def test_counts_agree_with_the_history_and_with_each_other(folder):
    for given in record(folder)["inputs"]:
        for row in given["rows"]:
            run, history, profiled = row["runs"][row["median_run"]], row["history"], row["profiled"]
            assert [sum(history[name]) for name in ("inserted", "attempted", "lost")] == [
                run["inserted"], run["attempts"], run["lost"],
            ]  # fmt: skip
            assert {len(column) for column in history.values()} == {run["rounds"]}
            assert history["triangles"][-1] == run["triangles"]
            assert history["seconds"] == sorted(history["seconds"])
            assert sum(row["launches"].values()) == run["launches"] > 0 < run["rounds"]
            assert sum(profiled["phases"].values()) == pytest.approx(profiled["seconds"])
            # A point in a triangle makes two more, one on the boundary makes one more.
            assert run["inserted"] <= run["triangles"] - given["triangles"] <= 2 * run["inserted"]
            shares = profiled["checks"]
            alone = row["balance"] == "none"
            assert (shares["largest_share"] > 2) == alone
            assert shares["checked"] >= shares["shares"] > 0


def test_two_clocks_agree(folder):
    """The sum of phases agrees with the clock of the rounds in the best run of a row, since a core may be preempted."""
    for given in record(folder)["inputs"]:
        for row in given["rows"]:
            assert row["history"]["seconds"][-1] == pytest.approx(
                row["runs"][row["median_run"]]["seconds_by_history"], abs=1e-6
            )
            runs = [(run["seconds"], run["seconds_by_history"]) for run in (*row["runs"], row["profiled"])]
            assert any(abs(by_history - phases) <= 0.1 * phases + 0.02 for phases, by_history in runs), runs


def test_a_fine_input_is_drawn(tmp_path):
    rows = ("--rows", "base", "deterministic", "--repeats", "1")
    assert study(tmp_path, "--inputs", "random-200", "-q", "0", *rows) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)
    (given,) = record(tmp_path)["inputs"]
    assert given["bad"] == 0
    for row in given["rows"]:
        (run,) = row["runs"]
        assert (run["rounds"], run["inserted"], run["seconds_by_history"]) == (0, 0, None)
    assert {line["history_ms"] for line in table(tmp_path).values()} == {""}


def test_files_are_named_after_the_device():
    for device, name in (
        (("cpu (2 threads)", 2), "2-cores"),
        (("cpu (1 thread)", 1), "1-core"),
        (("cuda:0 (NVIDIA H200)",), "h200"),
        (("cuda:1 (NVIDIA RTX 6000 Ada, 48 GiB)",), "rtx-6000-ada"),
    ):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d-" + name, study_files.default_name(*device))


def test_help_explains_every_row(capsys):
    with pytest.raises(SystemExit, match="0"):
        study("ignored", "--help")
    listed = capsys.readouterr().out.partition("rows, in the order of table 6.3:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == [row.name for row in study_rows.ROWS]
    assert {len(re.match(r"  \S+ +", line)[0]) for line in listed} == {27}  # one column of explanations
    assert max(map(len, listed)) <= 120


def test_the_page_agrees_with_the_csv(folder):
    page, lines = (folder / f"{NAME}.md").read_text(), table(folder)
    titles = {row["row"]: row["title"] for row in record(folder)["inputs"][0]["rows"]}
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]

    def rows(title, head):
        """The cells of a row in the tables with that head, in the page's order."""
        starts = [k for k, row in enumerate(cells) if row[0] != "---" and row[-1] == head]
        return [next(row for row in cells[start:] if row[0] == title) for start in starts]

    for row, title in titles.items():
        (times,) = rows(title, "over the base as printed")
        counts, phases = rows(title, "valid"), rows(title, "sum")
        for k, name in enumerate(INPUTS):
            line = lines[name, row]
            assert float(times[1 + 3 * k].replace(",", "")) == pytest.approx(float(line["median_ms"]), abs=0.06)
            assert times[2 + 3 * k] == f"{float(line['improvement_percent']):,.2f}%"
            assert times[3 + 3 * k] == f"{float(line['literal_percent']):,.2f}%"
            assert [counts[k][2], counts[k][3]] == [line["size"], f"{int(line['rounds']):,}"]
            assert float(counts[k][4].rstrip("%")) == pytest.approx(100 * float(line["acceptance"]), abs=0.06)
            assert counts[k][5].replace(",", "") == line["lost_a_round"]
            assert counts[k][6] == line["launches_a_round"]
            assert (counts[k][7], counts[k][-1]) == ("0", "yes")
            assert float(phases[k][1].replace(",", "")) == pytest.approx(float(line["check_ms"]), abs=0.06)
    for file in FILES[3:]:
        assert f"]({file})" in page
    runs = len(INPUTS) * len(CPU_ROWS) * (REPEATS + 1)
    assert f"The exact checker proved the result of every run: {runs} in all." in page
    assert "Left out: `child-launch`: " in page
    assert "this figure does not compare the base with the rows of two stages" in page
    assert "a round in which subsegments wait to be split splits these and nothing else" in page
    assert page.count("Figure 6.8 here: the base has retriangulated more cavities than these rows") == len(INPUTS)
    assert "commit abc" in page


def test_bars_are_as_long_as_the_times(folder):
    """In each panel, the pixels of a row's colour in the middle of its bar; the base's bar has the base's time."""
    picture = (image.imread(folder / f"{NAME}-bars.png")[..., :3] * 255).round().astype(int)
    assert picture.shape[1] == 1800
    lines = table(folder)
    lengths = {}
    for row, colour in zip(CPU_ROWS, COLOURS, strict=True):
        close = np.abs(picture - np.array(colors.to_rgb(colour)) * 255).max(axis=2) <= 1
        across = close[close.sum(axis=1).argmax()]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], across.astype(int), [0]))))
        # By where they begin: no letter is as wide, and a bar that is cut off has a second piece elsewhere.
        lengths[row] = {start: stop - start for start, stop in edges.reshape(-1, 2) if stop - start > 12}
    left = sorted(lengths["base"])
    assert len(left) == len(INPUTS)
    lengths = {
        row: [found[min(found, key=lambda at, start=start: abs(at - start))] for start in left]
        for row, found in lengths.items()
    }
    for k, name in enumerate(INPUTS):
        for row in CPU_ROWS:
            times = float(lines[name, row]["median_ms"]) / float(lines[name, "base"]["median_ms"])
            expected = times * lengths["base"][k]
            if expected > 20 and times < 1.9:  # shorter bars are no wider than letters, longer ones are cut off
                assert lengths[row][k] == pytest.approx(expected, abs=6)


def test_redrawing_gives_the_same_files(folder, tmp_path):
    (tmp_path / FILES[0]).write_bytes((folder / FILES[0]).read_bytes())
    assert study_refinement.main(["--redraw", str(tmp_path / FILES[0])]) == 0
    for file in FILES:
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes(), file


def test_a_record_without_round_times_is_drawn(folder, tmp_path):
    old = record(folder)
    for given in old["inputs"]:
        for row in given["rows"]:
            for run in (*row["runs"], row["profiled"]):
                del run["seconds_by_history"]
    (tmp_path / FILES[0]).write_text(json.dumps(old))
    assert study_refinement.main(["--redraw", str(tmp_path / FILES[0])]) == 0
    for place, line in table(folder).items():
        assert table(tmp_path)[place] == {**line, "history_ms": ""}
    for file in FILES[2:]:
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes(), file


def test_records_are_joined(folder, tmp_path, capsys):
    whole = record(folder)
    parts = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, given in zip(parts, reversed(whole["inputs"]), strict=True):
        path.write_text(json.dumps({**whole, "inputs": [given]}))
    arguments = ["--redraw", *map(str, parts)]
    assert study_refinement.main(arguments) == 2
    assert "--name" in capsys.readouterr().err
    assert study_refinement.main([*arguments, "--name", NAME]) == 0
    for file in FILES:
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes(), file
    parts[1].write_text(json.dumps({**whole, "commit": "other"}))
    assert study_refinement.main([*arguments, "--name", NAME]) == 2
    assert "commit is abc and other" in capsys.readouterr().err
    parts[1].write_text(json.dumps(whole))
    assert study_refinement.main([*arguments, "--name", NAME]) == 2
    assert "a row in common cannot be joined: random-2000, " in capsys.readouterr().err


def test_rows_of_the_same_input_are_joined(folder, tmp_path):
    whole = record(folder)
    for name, kept in (("a", lambda k: k % 2), ("b", lambda k: 1 - k % 2)):
        inputs = [
            {**given, "rows": [row for k, row in enumerate(given["rows"]) if kept(k)]} for given in whole["inputs"]
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps({**whole, "inputs": inputs}))
    assert study_refinement.main(["--redraw", *(str(tmp_path / f"{n}.json") for n in "ab"), "--name", NAME]) == 0
    assert table(tmp_path) == table(folder)


def test_a_slow_row_runs_once(tmp_path, monkeypatch):
    """The warm-up is its only run, which is proved; nothing is profiled."""
    monkeypatch.setattr(study_runs, "SLOW", 0.0)
    assert study(tmp_path, "--inputs", "random-200", "--rows", "base", "deterministic") == 0
    (given,) = record(tmp_path)["inputs"]
    assert [(len(row["runs"]), row["profiled"], row["valid"]) for row in given["rows"]] == 2 * [(1, None, True)]
    line = table(tmp_path)["random-200", "base"]
    assert (line["shares"], line["different_meshes"], line["runs"], line["valid"]) == ("", "1", "1", "yes")
    assert "The exact checker proved the result of every run: 2 in all." in (tmp_path / f"{NAME}.md").read_text()


def test_the_results_of_median_runs_are_proved(tmp_path):
    rows = ("--rows", "base", "deterministic", "--repeats", "3", "--validate", "median")
    assert study(tmp_path, "--inputs", "random-2000", *rows) == 0
    base, default = record(tmp_path)["inputs"][0]["rows"]
    digests = [run["sha256"] for run in (*base["runs"], base["profiled"])]
    assert base["proved"] == digests.count(digests[base["median_run"]]) and base["valid"] is True
    assert default["proved"] == 4  # all runs have the same mesh


@pytest.mark.parametrize(
    ("base", "row", "last"),
    [
        (([4, 0], [1.0, 5.0]), ([0, 6], [1.0, 3.0]), 7 / 3),  # 4 and 6 (t - 1) / 2 meet
        (([1, 1], [2.0, 4.0]), ([2, 2], [1.0, 2.0]), None),
        (([3, 3], [1.0, 2.0]), ([1, 1], [1.0, 2.0]), 2.0),  # never caught up
    ],
)
def test_the_time_at_which_a_row_overtakes_the_base(base, row, last):
    histories = [{"history": dict(zip(("inserted", "seconds"), given, strict=True))} for given in (base, row)]
    assert study_tables.overtaken(*histories) == (last if last is None else pytest.approx(last))


def test_an_invalid_result_is_marked_everywhere(tmp_path, monkeypatch, capsys):
    """One row's results lack a triangle: the checker must detect it."""
    refine = dmr.refine

    def faulty(mesh, **options):
        result = refine(mesh, **options)
        if options["marking"] != "atomic":
            return result
        return replace(result, mesh=replace(result.mesh, triangles=result.mesh.triangles[:-1]))

    monkeypatch.setattr(dmr, "refine", faulty)
    rows = ("base", "atomic", "deterministic")
    assert study(tmp_path, "--inputs", "random-200", "--rows", *rows, "--repeats", "1") == 5
    assert [line["valid"] for line in table(tmp_path).values()] == ["yes", "INVALID", "yes"]
    (given,) = record(tmp_path)["inputs"]
    assert [row["valid"] for row in given["rows"]] == [True, False, True]
    (reasons,) = given["rows"][1]["failures"].values()
    page = (tmp_path / f"{NAME}.md").read_text()
    assert page == capsys.readouterr().out
    assert "Some results are INVALID" in page
    assert f"- random-200, only atomic: {reasons[0]}" in page
    (times,) = re.findall(r"\| only atomic +\| +([\d,.]+ INVALID) \|", page)
    assert times
    # Without proofs no row is called valid.
    assert study(tmp_path, "--inputs", "random-200", "--rows", *rows, "--repeats", "1", "--validate", "none") == 0
    assert {line["valid"] for line in table(tmp_path).values()} == {"not checked"}
    assert "The exact checker proved the results of 0 of 6 runs." in capsys.readouterr().out


def test_rows_take_turns_and_an_interrupted_run_keeps_its_rows(tmp_path, monkeypatch, capsys):
    refine, calls = dmr.refine, []

    def failing(mesh, **options):
        if len(mesh.vertices) > 200:
            raise OutOfMemoryError("no room for that")
        calls.append((options["marking"], options["profile"]))
        return refine(mesh, **options)

    monkeypatch.setattr(dmr, "refine", failing)
    rows = ("--rows", "deterministic", "base", "--repeats", "2")
    assert study(tmp_path, "--inputs", "random-200", "random-300", *rows) == 4
    assert calls == [(m, turn == 3) for turn in range(4) for m in ("three-phase", "deterministic")]
    assert [given["input"] for given in record(tmp_path)["inputs"]] == ["random-200"]
    assert len(table(tmp_path)) == 2
    assert capsys.readouterr().err.endswith("study_refinement: no room for that\n")


def test_a_killed_proof_is_an_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study_proofs, "failures", lambda *_: os._exit(9))
    assert study(tmp_path, "--inputs", "random-200", "--rows", "deterministic", "--repeats", "1") == 4
    assert "--jobs" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--rows", "base", "child-launch"), ("the row child-launch cannot run", "GPU")),
        (("--rows", "nothing"), ("there is no row nothing", "work-stealing")),
        (("--inputs", "random-200", "sphere"), ("there is no input sphere", "random-N")),
        (("-q", "75"), ("60 degrees",)),
    ],
)
def test_invalid_options_are_refused_before_anything_runs(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.delattr(dmr, "refine")
    target = tmp_path / "new"
    assert study(target, "--repeats", "1", *arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("study_refinement: ")
    assert len(said.splitlines()) == 1
    assert all(word in said for word in words)
    assert not target.exists()


def test_invalid_records_are_refused(tmp_path, capsys):
    for content in (None, "{", "{}", '{"format": 1, "inputs": []}'):
        path = tmp_path / "a.json"
        if content is not None:
            path.write_text(content)
        assert study_refinement.main(["--redraw", str(path)]) == 1
        assert capsys.readouterr().err.startswith(f"study_refinement: {path}: ")
