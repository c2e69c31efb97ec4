"""The study of traversals on small graphs: record, tables, pictures and errors."""

from __future__ import annotations

import csv
import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from dmr.memory import open_device
from scripts.lib.traversals import inputs, sources
from scripts.study.traversal import __main__ as study_traversal
from scripts.study.traversal import cases as traversal_cases
from scripts.study.traversal import papers as traversal_papers
from scripts.study.traversal import records as traversal_records
from scripts.study.traversal import runs as traversal_runs
from scripts.study.traversal import tables as traversal_tables
from scripts.study.traversal import thesis as traversal_thesis
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph

pytestmark = pytest.mark.slow

PICTURES = ("degrees", "mda", "atomic", "warps", "gteps", "timeline")


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


def test_every_output_is_written(folder):
    assert {path.name for path in folder.iterdir()} == {
        "small.json", "small.csv", "small.md", *(f"small-{name}.png" for name in PICTURES),
    }  # fmt: skip
    page = (folder / "small.md").read_text()
    cases = sum(len(given["runs"]) for given in record(folder)["inputs"])
    assert f"All schemes gave the same distances in {cases} cases of one source and in 24 cases of many" in page
    assert all(f"](small-{name}.png)" in page for name in PICTURES)
    assert page.count("\n## ") == len(traversal_tables.SECTIONS) == 14


def test_the_record_holds_every_case(folder):
    found = record(folder)
    assert found["commit"] == "abc" and [given["input"] for given in found["inputs"]] == ["rmat-300", "hub"]
    hub = found["inputs"][1]
    assert hub["reached"]["bfs"] == {"nodes": hub["nodes"], "edges": hub["edges"]} and hub["largest_degree"] == 300
    for given in found["inputs"]:
        assert {run["scheme"] for run in given["runs"]} == set(traversal_cases.SCHEMES)
        for algorithm in ("bfs", "sssp"):
            assert len({run["sha256"] for run in given["runs"] if run["algorithm"] == algorithm}) == 1
        assert all(run["agrees"] and len(run["seconds"]) == 1 and run["rounds"] > 0 for run in given["runs"])
        for run in given["gteps"]:
            assert 0 < len(run["gteps"]) <= 16 and min(run["gteps"]) > 0
        assert all(run["agrees"] and len(run["sha256"]) == 4 for run in given["gteps"])
        shown = given["timeline"]
        assert shown["none"]["round"] == shown["split"]["round"]
        for found in shown.values():
            begun, ended = np.array(found["begun"]), np.array(found["ended"])
            assert len(begun) == len(ended) == len(found["processor"]) == found["blocks"]
            assert begun.min() == 0 and (begun <= ended).all() and ended.max() == found["nanoseconds"]
            assert found["processor_ends"]["last"] == found["nanoseconds"]
    mda_1 = traversal_records.find(hub, "bfs", traversal_cases.Case("split", {"mda": 1, "atomic": False}))
    assert mda_1["figures"] == {"mda": 1, "extra_nodes": hub["edges"] - np.count_nonzero(degrees_of(hub))}


def degrees_of(hub):
    """The out-degrees of the graph in the file, whose edges are drawn again here."""
    random = np.random.default_rng(5)
    sources = [7] * 300 + (10 * random.integers(0, 300, (500, 2)))[:, 0].tolist()
    degrees = np.bincount(sources)
    assert degrees.sum() == hub["edges"] == 800
    return degrees


def test_the_csv_agrees_with_the_record(folder):
    lines = list(csv.DictReader((folder / "small.csv").open(newline="")))
    runs = [run for given in record(folder)["inputs"] for run in given["runs"]]
    assert len(lines) == len(runs)
    for line, run in zip(lines, runs, strict=True):
        assert (line["algorithm"], line["scheme"], line["agrees"]) == (run["algorithm"], run["scheme"], "yes")
        assert float(line["median_ms"]) == pytest.approx(1000 * run["seconds"][0], abs=1e-4)
    base = [line for line in lines if (line["scheme"], line["options"]) == ("none", "atomic=False")]
    assert [float(line["improvement_percent"]) for line in base] == [0.0] * 4


def test_redrawing_gives_the_same_files(folder, tmp_path):
    (tmp_path / "small.json").write_bytes((folder / "small.json").read_bytes())
    assert study_traversal.main(["--redraw", str(tmp_path / "small.json")]) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_records_are_joined(folder, tmp_path, capsys):
    whole = record(folder)
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, given in zip(paths, whole["inputs"], strict=True):
        path.write_text(json.dumps({**whole, "inputs": [given]}))
    arguments = ["--redraw", *map(str, paths)]
    assert study_traversal.main(arguments) == 2
    assert "--name" in capsys.readouterr().err
    assert study_traversal.main([*arguments, "--name", "small"]) == 0
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name
    paths[1].write_text(json.dumps(whole))
    assert study_traversal.main([*arguments, "--name", "small"]) == 2
    assert "inputs in common cannot be joined: rmat-300, rmat-300, hub" in capsys.readouterr().err
    paths[1].write_text(json.dumps({**whole, "commit": "other"}))
    assert study_traversal.main([*arguments, "--name", "small"]) == 2
    assert "commit is abc and other" in capsys.readouterr().err


def uploaded(edges, nodes):
    ends = np.array(edges)
    return DeviceGraph.upload(CsrGraph.from_edges(ends[:, 0], ends[:, 1], nodes=nodes), open_device("cpu", 1))


def test_sources_lie_in_the_largest_strongly_connected_component():
    """A circle of 40 nodes that a path leads into, with edges out of it and a smaller circle beside it."""
    circle = [(k, (k + 1) % 40) for k in range(40)]
    path = [(40 + k, 41 + k) for k in range(9)] + [(49, 0)]
    beside = [(60 + k, 60 + (k + 1) % 10) for k in range(10)]
    found = sources.largest_component(uploaded([*circle, *path, *beside, (3, 60), (7, 80), (7, 81)], 90))
    assert found.nodes.tolist() == list(range(40)) and found.edges == 53
    drawn = found.draw(16, 0)
    assert len(set(drawn)) == 16 and max(drawn) < 40 and sorted(found.draw(100, 1)) == list(range(40))


def test_a_hub_outside_the_largest_component():
    """The product of a hub's degrees is the largest, and its component has two nodes."""
    hub = [(0, 1), (1, 0), *((0, k) for k in range(2, 40)), *((k, 0) for k in range(40, 80))]
    circle = [(100 + k, 100 + (k + 1) % 30) for k in range(30)]
    found = sources.largest_component(uploaded([*hub, *circle], 130))
    assert found.nodes.tolist() == list(range(100, 130)) and found.edges == 30


def test_searches_count_the_arcs_of_the_nodes_reached(monkeypatch, tmp_path):
    """With every run a second long GTEPS are the arcs alone."""
    path = tmp_path / "lasso.txt"
    path.write_text("".join(f"{k} {(k + 1) % 40}\n" for k in range(40)) + "40 0\n7 41\n")
    given = inputs.load(str(path))
    begun = []

    def timed(graph, sources, **options):
        begun.extend(sources)
        return dataclasses.replace(traversal_cases.fixed_point.run(graph, sources, weighted=False), seconds=1.0)

    monkeypatch.setattr(traversal_runs, "SCHEMES", dict.fromkeys(traversal_cases.SCHEMES, timed))
    graph = DeviceGraph.upload(given.graph, open_device("cpu", 1))
    for found in traversal_runs.searches(given, graph, lambda _: None):
        assert found["gteps"] == [41e-9] * traversal_runs.SEARCHES and found["agrees"]
    assert len(set(begun)) == 16 and max(begun) < 40


def test_slow_cases_are_run_fewer_times(monkeypatch):
    graph = uploaded([(0, 1)], 2)
    for seconds, runs in ((0.001, 5), (0.3, 3), (2.0, 1)):

        def timed(*arguments, seconds=seconds, **options):
            return dataclasses.replace(traversal_cases.fixed_point.run(*arguments, **options), seconds=seconds)

        monkeypatch.setattr(traversal_runs, "SCHEMES", {"none": timed})
        record, _, _ = traversal_runs._run_case(traversal_cases.Case("none"), graph, 0, "bfs", 5)
        assert record["seconds"] == [seconds] * runs


def test_figures_of_the_papers_are_shown():
    """A record of the thesis' graphs with the thesis' own times: the page has every figure twice."""

    def run(algorithm, scheme, ms, figures=None, **options):
        return {"algorithm": algorithm, "scheme": scheme, "options": options, "seconds": [ms / 1000], "rounds": 3,
                "relaxed": 1, "launches": 1, "figures": figures or {}, "agrees": True}  # fmt: skip

    inputs = []
    for name, graph in traversal_papers.THESIS_GRAPHS.items():
        runs = []
        for algorithm in ("bfs", "sssp"):
            theirs = traversal_papers.THESIS_SEARCHES[name, algorithm]
            runs.append(run(algorithm, "none", theirs.baseline, atomic=False))
            runs += [
                run(algorithm, "split", theirs.split, mda=mda, atomic=atomic)
                for mda in (graph.mda, graph.histogram_mda)
                for atomic in (False, True)
            ]
            counted = {"children": 5, "in_place": 0}
            runs.append(run(algorithm, "child-launch", theirs.children, counted, threshold=graph.threshold))
        inputs.append(
            {"input": name, "nodes": 2, "edges": 9, "largest_degree": graph.largest_degree, "source": 0, "runs": runs,
             "automatic_mda": graph.histogram_mda, "reached": {"bfs": {"edges": 9}, "sssp": {"edges": 9}}}
        )  # fmt: skip
    study = {"inputs": inputs}
    table = traversal_thesis.splitting(study)
    assert "| rmat-thesis | bfs | 104.96 [104.96] | 54 | 53.76 [53.76] | 48.8% [48.78%] | 54 |" in table
    assert "| web-Stanford | sssp | 34.71 [34.71] | 8 | 17.09 [17.09] | 50.8% [50.75%] |" in table
    assert "| 118 | 48.8% [38.3%] |" in table and "| 25 | 55.9% [44.8%] |" in table
    table = traversal_thesis.children(study)
    assert "| web-Stanford | bfs | 128 | 5 | 0 | 25.71 [25.71] | 15.1% [15.11%] |" in table
    assert "37% to 56% less time than the baseline here, and 37% to 56% less" in traversal_thesis.splitting_says(study)
    assert "The split beats them in 4 of 4" in traversal_thesis.children_say(study)


def test_selected_parts_only(tmp_path):
    assert study(tmp_path, "--graphs", "rmat-100", "--parts", "collapse") == 0
    assert {path.name for path in tmp_path.iterdir()} == {"small.json", "small.csv", "small.md", "small-gteps.png"}


def test_wrong_distances_are_detected(tmp_path, monkeypatch, capsys):
    def wrong(graph, sources, **options):
        other = (sources[0] + 1) % graph.nodes
        return traversal_cases.fixed_point.run(graph, [other], weighted=options["weighted"])

    monkeypatch.setattr(traversal_cases, "SCHEMES", {**traversal_cases.SCHEMES, "warp": wrong})
    monkeypatch.setattr(traversal_runs, "SCHEMES", traversal_cases.SCHEMES)
    assert study(tmp_path, "--graphs", "rmat-100", "--parts", "warps") == 5
    assert "DISTANCES DIFFER: rmat-100: bfs, warp" in capsys.readouterr().out
    assert study(tmp_path, "--graphs", "rmat-100", "--parts", "gteps") == 5
    assert "DISTANCES DIFFER: rmat-100: bfs, warp warp_size=32" in capsys.readouterr().out


def test_sweeps_include_the_values_of_the_thesis():
    graph = CsrGraph.from_edges(np.zeros(100, int), np.arange(100))
    assert {8, 54} <= set(traversal_cases.degrees_allowed(graph))
    assert {128, 169} <= set(traversal_cases.thresholds(graph))
    assert traversal_cases.ablated(3) == traversal_cases.Case("collapse", {"strategy": "collapse-local"})


@pytest.mark.parametrize("graphs", ["missing.txt", "rmat-100@500"])
def test_invalid_graphs_are_refused(tmp_path, graphs, capsys):
    assert study(tmp_path, "--graphs", graphs) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("study_traversal: ")
