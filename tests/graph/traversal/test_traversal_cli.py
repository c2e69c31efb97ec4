"""`python -m static_graph bfs` and `sssp`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from static_graph import CsrGraph, write
from static_graph.cli import main
from static_graph.traversal.schemes.table import BALANCES

CPU = ["--device", "cpu", "--threads", "2"]


@pytest.fixture
def graph(tmp_path):
    """A file of a graph whose nodes are called 10, 20, ... 60: 10 -> 20 -> 40, 10 -> 30 -> 40 -> 50, and 60 alone."""
    path = tmp_path / "graph.txt"
    ends = np.array([[10, 20], [10, 30], [20, 40], [30, 40], [40, 50], [60, 60]])
    lines = [f"{a}\t{b}\t{w}" for (a, b), w in zip(ends.tolist(), [5, 1, 1, 2, 4, 1], strict=True)]
    path.write_text("# a graph\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_search_as_text(graph, capsys):
    assert main(["bfs", str(graph), "--source", "10", "--path-to", "50", *CPU]) == 0
    said = capsys.readouterr().out
    assert "5 of 6" in said and "10 20 40 50" in said


def test_search_as_json(graph, capsys):
    assert main(["sssp", str(graph), "--source", "10", "--path-to", "50", "--json", *CPU]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["path"] == [10, 30, 40, 50]
    assert (told["reached"], told["largest_distance"], told["balance"], told["threads"]) == (5, 7, "auto", 2)
    assert main(["bfs", str(graph), "--source", "60", "--path-to", "10", "--json", *CPU]) == 0
    assert json.loads(capsys.readouterr().out)["path"] is None


@pytest.mark.parametrize("balance", BALANCES)
def test_output_files_with_every_balance(balance, graph, tmp_path, capsys):
    out = tmp_path / "out.csv"
    command = ["sssp", str(graph), "--source", "10", "--balance", balance, "--parents", "-o", str(out), *CPU]
    assert main(command) == 0
    assert out.read_text(encoding="utf-8").splitlines() == [
        "node,distance,parent", "10,0,-1", "20,5,10", "30,1,10", "40,3,30", "50,7,40", "60,-1,-1"
    ]  # fmt: skip
    assert main(command) == 2 and "out.csv exists; -f overwrites it" in capsys.readouterr().err
    array = tmp_path / "out.npy"
    assert main(["bfs", str(graph), "--source", "10", "20", "--balance", balance, "-o", str(array), *CPU]) == 0
    assert np.load(array).tolist() == [0, 0, 1, 1, 2, -1]
    capsys.readouterr()


def test_depth_limit_and_random_weights(graph, capsys):
    assert main(["bfs", str(graph), "--source", "10", "--depth-limit", "1", "--json", *CPU]) == 0
    assert json.loads(capsys.readouterr().out)["reached"] == 3
    assert main(["sssp", str(graph), "--source", "10", "--distance-limit", "3", "--json", *CPU]) == 0
    assert json.loads(capsys.readouterr().out)["reached"] == 3
    command = ["sssp", str(graph), "--source", "10", "--random-weights", "1", "--delta", "2", "--json", *CPU]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["largest_distance"] == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["bfs", "GRAPH", "--source", "11"], 1, "no node 11: "),
        (["bfs", "GRAPH", "--source", "0.5"], 1, "no node 0.5"),
        (["bfs", "GRAPH", "--source", "x"], 1, "no node x"),
        (["bfs", "GRAPH"], 2, "--source"),
        (["bfs", "GRAPH", "--source", "10", "--balance", "best"], 2, "best"),
        (["bfs", "GRAPH", "--source", "10", "--mda", "3"], 2, "--mda is not an option of --balance = "),
        (["bfs", "GRAPH", "--source", "10", "--balance", "warp", "--warp-size", "3"], 2, "--warp-size = 3"),
        (["sssp", "GRAPH", "--source", "10", "--delta", "0"], 2, "delta"),
        (["bfs", "GRAPH", "--source", "10", "-o", "out.txt"], 2, "results are written as"),
        (["bfs", "missing.txt", "--source", "10"], 1, "missing.txt"),
    ],
)
def test_invalid_arguments_are_refused(arguments, code, words, graph, capsys):
    given = [str(graph) if argument == "GRAPH" else argument for argument in arguments]
    assert main([*given, *CPU]) == code
    said = capsys.readouterr()
    assert words in said.err and said.out == ""


def test_missing_weights_are_refused(tmp_path, capsys):
    path = tmp_path / "plain.npz"
    write(path, CsrGraph.from_edges([0], [1]))
    assert main(["sssp", str(path), "--source", "0", *CPU]) == 1
    said = capsys.readouterr().err
    assert said == f"static_graph: error: {path}: has no weights: --random-weights W draws some, and bfs counts edges\n"
    assert main(["sssp", str(path), "--source", "0", "--random-weights", "3", *CPU]) == 0


def test_node_ids_in_other_notations(tmp_path, capsys):
    path = tmp_path / "path.txt"
    path.write_text("100 1000\n", encoding="utf-8")
    assert main(["bfs", str(path), "--source", "1e2", "--path-to", "1_000", "--json", *CPU]) == 0
    assert json.loads(capsys.readouterr().out)["path"] == [100, 1000]
    write(tmp_path / "named.npz", CsrGraph([0, 0, 0], [], labels=["7", "1e2"]))
    for name, node in (("7", "7"), ("1e2", "1e2")):
        assert main(["bfs", str(tmp_path / "named.npz"), "--source", name, "--json", *CPU]) == 0
        assert json.loads(capsys.readouterr().out)["source"] == [node]


@pytest.mark.parametrize(
    "options",
    [
        ["--mda", "1e19", "--balance", "split"],
        ["--defer", "18446744073709551615", "--balance", "warp"],
        ["--threshold", "1e19", "--balance", "child-launch"],
    ],
)
def test_options_beyond_2_to_the_62_are_refused(options, graph, capsys):
    assert main(["bfs", str(graph), "--source", "10", *options, *CPU]) == 2
    assert "2^62 at most" in capsys.readouterr().err


def test_an_mda_beyond_every_degree(graph, capsys):
    assert main(["info", str(graph), "--mda", "1e19", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["split"]["extra_nodes"] == 0


def test_nodes_with_text_labels(tmp_path, capsys):
    path, out = tmp_path / "graph.npz", tmp_path / "out.csv"
    ends = CsrGraph.from_edges([0, 1], [1, 2], nodes=4)
    write(path, CsrGraph(ends.offsets, ends.targets, labels=np.array(["a", "b", "c", "d"])))
    assert main(["bfs", str(path), "--source", "a", "--parents", "-o", str(out), *CPU]) == 0
    assert out.read_text(encoding="utf-8").splitlines() == ["node,distance,parent", "a,0,", "b,1,a", "c,2,b", "d,-1,"]
