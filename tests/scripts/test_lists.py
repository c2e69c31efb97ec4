"""The benchmark and the study of lists on short lists: tables, records, pictures, and wrong ranks."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from scripts.bench import lists as bench_lists
from scripts.lib import list_measuring
from scripts.study.lists import __main__ as study_lists
from scripts.study.lists import slides as lists_slides

pytestmark = pytest.mark.slow

PARTS = ("sizes", "ordered", "kinds", "splitters", "trees", "model")
PICTURES = ("sizes", "ordered", "kinds", "trees", "model")


def study(folder, *arguments):
    options = ["--device", "cpu", "--threads", "2", "--repeats", "1", "--name", "small", "-o", str(folder)]
    return study_lists.main([*options, "--commit", "abc", *arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("static_graph.lists.cost_model.PROBED", 2**14)
        patch.setattr("static_graph.lists.cost_model.GATHERED", 2**14)
        found = tmp_path_factory.mktemp("study")
        assert study(found, "--largest", "11") == 0
    return found


def test_every_output_is_written(folder):
    names = {"small.json", "small.csv", "small.md", *(f"small-{name}.png" for name in PICTURES)}
    assert {path.name for path in folder.iterdir()} == names
    page = (folder / "small.md").read_text()
    assert "All methods gave the same ranks." in page and page.count("\n## ") == 1 + len(PARTS)
    assert "](small-sizes.png)" in page and "| 2^24 | 47 | 83.521 | 82.542 | 1.01 |" in page


def test_the_record_holds_every_case(folder):
    found = json.loads((folder / "small.json").read_text())
    assert found["commit"] == "abc" and tuple(found["parts"]) == PARTS
    sizes = found["parts"]["sizes"]
    assert {row["size"] for row in sizes} == {1024, 2048}
    assert {row["method"] for row in sizes} == {"wyllie", "lock-step", "on-demand", "helman-jaja"}
    assert {row["kind"] for row in found["parts"]["kinds"]} == set(study_lists.KINDS)
    for row in found["parts"]["trees"]:
        assert min(row["phases"].values()) >= 0 and (row["height"] == 255) == (
            row["kind"] == "path" and row["given"] == "parents"
        )
    rankings = [row for rows in found["parts"].values() for row in rows if "method" in row]
    assert all(row["agrees"] and len(row["seconds"]) == 1 for row in rankings)
    lines = list(csv.DictReader((folder / "small.csv").open(newline="")))
    assert len(lines) == len(rankings)
    for line, row in zip(lines, rankings, strict=True):
        assert (line["method"], line["agrees"]) == (row["method"], "yes")
        assert float(line["median_ms"]) == pytest.approx(1000 * row["seconds"][0], abs=1e-4)


def test_records_are_joined(folder, tmp_path, capsys):
    whole = json.loads((folder / "small.json").read_text())
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, names in zip(paths, (PARTS[:2], PARTS[2:]), strict=True):
        path.write_text(json.dumps({**whole, "parts": {name: whole["parts"][name] for name in names}}))
    arguments = ["--redraw", *map(str, paths), "--name", "small"]
    assert study_lists.main(arguments) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    paths[0].write_text(json.dumps(whole))
    assert study_lists.main(arguments) == 2
    assert "parts in common cannot be joined: sizes, ordered, " in capsys.readouterr().err


def test_figures_of_the_slides_are_shown(folder):
    """Every slide with a figure or a plot is on the page, beside the measurement."""
    page, parts = (folder / "small.md").read_text(), json.loads((folder / "small.json").read_text())["parts"]
    rows = dict(re.findall(r"^\| ([A-Z][^|]*?) \| [^|]* \| (.*) \|$", page, re.MULTILINE))
    assert len(rows) == len(lists_slides.SLIDES) and all(rows.values())
    ordered = parts["ordered"][-1]
    seconds, scan = ordered["seconds"][0], ordered["scan"]
    expected = (
        f"2,048 elements: {1e3 * seconds:.4g} ms, and the scan {1e3 * scan:.4g} ms: {seconds / scan:.1f} times as long"
    )
    assert rows["Results: ordered lists"] == expected
    last = {row["method"]: row["seconds"][0] for row in parts["sizes"] if row["size"] == 2048 and not row["options"]}
    assert (
        f"{last['wyllie'] / last['helman-jaja']:.1f} times as fast at 2,048"
        in rows["Results: runtime with respect to Wyllie's"]
    )
    given = {row["size"]: row["seconds"] for row in parts["sizes"] if row["method"] == "helman-jaja"}
    assert all(row["measured"] == given[row["size"]][0] for row in parts["model"])  # ranked once for both


def test_redrawing_gives_the_same_files(folder, tmp_path):
    (tmp_path / "small.json").write_bytes((folder / "small.json").read_bytes())
    assert study_lists.main(["--redraw", str(tmp_path / "small.json")]) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    assert study_lists.main(["--redraw", str(tmp_path / "none.json")]) == 1
    assert study(tmp_path, "--largest", "31") == 2


def test_the_benchmark_of_lists(tmp_path, capsys):
    record = tmp_path / "a.jsonl"
    words = ["--sizes", "3e3", "5000", "--threads", "2", "--device", "cpu", "--repeats", "2", "--json", str(record)]
    assert bench_lists.main([*words, "--methods", "helman-jaja", "wyllie", "--splitters", "100"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 2 + 2 * 3 and table[1].split()[0] == "elements"
    found = [json.loads(line) for line in record.read_text().splitlines()]
    assert [row["elements"] for row in found] == [3000] * 3 + [5000] * 3
    assert all(row["same"] and len(row["rank"]) == 2 and row["gather"] > 0 for row in found)
    assert found[2]["options"] == {"splitters": 100}


@pytest.fixture
def wrong(monkeypatch):
    """Wyllie's ranks are one too many."""
    plain = list_measuring.rank_on_device

    def ranked(successors, heads, **options):
        found = plain(successors, heads, **options)
        if options["method"] == "wyllie":
            found.ranks.upload(found.ranks.download() + np.int32(1))
        return found

    monkeypatch.setattr(list_measuring, "rank_on_device", ranked)


def test_wrong_ranks_are_detected(wrong, tmp_path, capsys):
    assert study(tmp_path, "--largest", "6", "--parts", "sizes") == 5
    assert "RANKS DIFFER" in capsys.readouterr().out
    words = ["--sizes", "100", "--device", "cpu", "--no-sequential", "--methods", "helman-jaja", "wyllie"]
    assert bench_lists.main(words) == 5
    assert "wyllie: other ranks for 100 elements" in capsys.readouterr().err
