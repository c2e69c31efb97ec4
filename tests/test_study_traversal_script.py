"""scripts/study_traversal.py: every part on small graphs, its record, tables and pictures, and what it refuses."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import study_traversal
import traversal_cases
import traversal_inputs
import traversal_runs
import traversal_tables

from dmr.memory import open_device
from static_graph.graphs import CsrGraph

PICTURES = ("mda", "warps", "gteps", "timeline")


def study(folder, *arguments):
    options = ["--device", "cpu", "--threads", "2", "--repeats", "1", "--name", "small", "-o", str(folder)]
    return study_traversal.main([*options, *arguments])


@pytest.fixture(scope="module")
def edge_list(tmp_path_factory):
    """A file of a graph whose node 7 leads to all others, and names of nodes with gaps."""
    path = tmp_path_factory.mktemp("graphs") / "hub.txt"
    random = np.random.default_rng(5)
    edges = [(7, 10 * k) for k in range(300)] + (10 * random.integers(0, 300, (500, 2))).tolist()
    path.write_text("# a graph\n" + "".join(f"{a}\t{b}\n" for a, b in edges))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory, edge_list):
    found = tmp_path_factory.mktemp("study")
    assert study(found, "--graphs", "rmat-300", f"{edge_list}@7", "--commit", "abc") == 0
    return found


def record(folder):
    return json.loads((folder / "small.json").read_text())


def test_everything_is_written(folder):
    assert {path.name for path in folder.iterdir()} == {
        "small.json", "small.csv", "small.md", *(f"small-{name}.png" for name in PICTURES),
    }  # fmt: skip
    page = (folder / "small.md").read_text()
    assert "All schemes gave the same distances" in page and all(f"](small-{name}.png)" in page for name in PICTURES)
    assert page.count("\n## ") == 10


def test_the_record_holds_every_case(folder):
    found = record(folder)
    assert found["commit"] == "abc" and [given["input"] for given in found["inputs"]] == ["rmat-300", "hub"]
    hub = found["inputs"][1]
    assert hub["reached"]["bfs"] == {"nodes": hub["nodes"], "edges": hub["edges"]} and hub["largest_degree"] == 300
    for given in found["inputs"]:
        assert {run["scheme"] for run in given["runs"]} == set(traversal_cases.SCHEMES)
        assert all(run["agrees"] and len(run["seconds"]) == 1 and run["rounds"] > 0 for run in given["runs"])
        for run in given["gteps"]:
            assert 0 < len(run["gteps"]) <= 16 and min(run["gteps"]) > 0
        for name in ("none", "split"):
            lines = np.array(given["timeline"][name]["lines"])
            assert (lines[:, 1] <= lines[:, 2]).all() and lines[:, 1].min() >= 0
            assert lines[:, 2].max() <= given["timeline"][name]["nanoseconds"]
    mda_1 = traversal_tables.find(hub, "bfs", traversal_cases.Case("split", {"mda": 1, "atomic": False}))
    assert mda_1["figures"] == {"mda": 1, "extra_nodes": hub["edges"] - np.count_nonzero(degrees_of(hub))}


def degrees_of(hub):
    """The out-degrees of the graph in the file, whose edges are drawn again here."""
    random = np.random.default_rng(5)
    sources = [7] * 300 + (10 * random.integers(0, 300, (500, 2)))[:, 0].tolist()
    degrees = np.bincount(sources)
    assert degrees.sum() == hub["edges"] == 800
    return degrees


def test_the_csv_says_what_the_record_says(folder):
    lines = list(csv.DictReader((folder / "small.csv").open(newline="")))
    runs = [run for given in record(folder)["inputs"] for run in given["runs"]]
    assert len(lines) == len(runs)
    for line, run in zip(lines, runs, strict=True):
        assert (line["algorithm"], line["scheme"], line["agrees"]) == (run["algorithm"], run["scheme"], "yes")
        assert float(line["median_ms"]) == pytest.approx(1000 * run["seconds"][0], abs=1e-4)
    base = [line for line in lines if (line["scheme"], line["options"]) == ("none", "atomic=False")]
    assert [float(line["improvement_percent"]) for line in base] == [0.0] * 4


def test_redrawing_gives_the_same(folder, tmp_path):
    (tmp_path / "small.json").write_bytes((folder / "small.json").read_bytes())
    assert study_traversal.main(["--redraw", str(tmp_path / "small.json")]) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_sources_that_reach_much(tmp_path):
    """Of a path and a circle that it leads into, the nodes of the circle and of the end of the path."""
    around = np.arange(40)
    path = tmp_path / "lasso.txt"
    edges = [(k, (k + 1) % 40) for k in around] + [(40 + k, 41 + k) for k in range(9)] + [(49, 0)]
    path.write_text("".join(f"{a} {b}\n" for a, b in edges))
    given = traversal_inputs.load(f"{path}@40")
    graph = traversal_runs.DeviceGraph.upload(given.graph, open_device("cpu", 1))
    assert (len(given.graph.targets), given.graph.nodes) == (50, 50)
    found = traversal_runs._sources(given, graph)
    assert len(found) == traversal_runs.SEARCHES
    assert all(edges == (40 if node < 40 else 90 - node) for node, edges in found.items())


def test_some_parts(tmp_path):
    assert study(tmp_path, "--graphs", "rmat-100", "--parts", "collapse") == 0
    assert {path.name for path in tmp_path.iterdir()} == {"small.json", "small.csv", "small.md", "small-gteps.png"}


def test_other_distances_are_found_out(tmp_path, monkeypatch, capsys):
    def wrong(graph, sources, **options):
        return traversal_cases.fixed_point.run(graph, [1 - sources[0]], weighted=options["weighted"])

    monkeypatch.setattr(traversal_cases, "SCHEMES", {**traversal_cases.SCHEMES, "warp": wrong})
    monkeypatch.setattr("traversal_runs.SCHEMES", traversal_cases.SCHEMES)
    assert study(tmp_path, "--graphs", "rmat-100", "--parts", "warps") == 5
    assert "DISTANCES DIFFER: rmat-100: bfs, warp" in capsys.readouterr().out


def test_sweeps_hold_the_thesis_values():
    graph = CsrGraph.from_edges(np.zeros(100, int), np.arange(100))
    assert {8, 54} <= set(traversal_cases.degrees_allowed(graph))
    assert {128, 169} <= set(traversal_cases.thresholds(graph))
    assert traversal_cases.ablated(3) == traversal_cases.Case("collapse", {"strategy": "collapse-local"})


@pytest.mark.parametrize("graphs", ["missing.txt", "rmat-100@500"])
def test_graphs_that_cannot_be(tmp_path, graphs, capsys):
    assert study(tmp_path, "--graphs", graphs) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("study_traversal: ")
