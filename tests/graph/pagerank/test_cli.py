"""`python -m static_graph pagerank`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from static_graph import pagerank, read
from static_graph.cli import main
from static_graph.link_analysis.table import METHODS, NAMES, PRECISIONS, RULES
from tests.support.command_line import written

CPU = ["--device", "cpu", "--threads", "2"]


@pytest.fixture
def graph(tmp_path):
    """A file of a graph whose nodes are called 10, 20, 30 and 40, with weights."""
    return written(tmp_path / "graph.txt", "10 20 5\n10 30 1\n20 30 1\n30 10 2\n30 40 2\n")


def test_text(graph, capsys):
    assert main(["pagerank", str(graph), "--top", "2", *CPU]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said if line.strip().startswith("node")] == ["30", "20"]
    assert any(line.split() == ["converged", "yes"] for line in said)


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("rule", RULES)
def test_json(graph, capsys, method, rule):
    assert main(["pagerank", str(graph), "--method", method, "--rule", rule, "--json", *CPU]) == 0
    told = json.loads(capsys.readouterr().out)
    found = pagerank(read(graph), method=method, rule=rule, device="cpu")
    assert told["iterations"] == found.iterations and told["error"] == found.error and told["converged"]
    assert {entry["node"]: entry["score"] for entry in told["top"]} == dict(
        zip([10, 20, 30, 40], found.scores.tolist(), strict=True)
    )


def test_output_files(graph, tmp_path, capsys):
    out = tmp_path / "scores.csv"
    command = ["pagerank", str(graph), "--no-weights", "--tol", "1e-12", "-o", str(out), *CPU]
    assert main(command) == 0
    heading, *rows = out.read_text(encoding="utf-8").splitlines()
    expected = pagerank(read(graph), weighted=False, tol=1e-12, device="cpu").scores
    assert heading == "node,score" and [row.split(",")[0] for row in rows] == ["10", "20", "30", "40"]
    assert [float(row.split(",")[1]) for row in rows] == expected.tolist()
    assert main(command) == 2 and "scores.csv exists; -f overwrites it" in capsys.readouterr().err
    array = tmp_path / "scores.npy"
    assert (
        main(["pagerank", str(graph), "--iterations", "2", "--precision", PRECISIONS[1], "-o", str(array), *CPU]) == 0
    )
    assert np.load(array).sum() == pytest.approx(1)


def test_iterations_that_do_not_converge(graph, capsys):
    assert main(["pagerank", str(graph), "--max-iter", "2", *CPU]) == 3
    said = capsys.readouterr()
    assert "PageRank did not converge to a change below 1e-06 in 2 iterations" in said.err
    assert main(["pagerank", str(graph), "--max-iter", "0", "--json", *CPU]) == 3
    assert json.loads(capsys.readouterr().out)["error"] is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--alpha", "2"], "alpha = 2.0: it must be from 0 to 1"),
        (["--tol", "1", "--iterations", "3"], "--tol and --iterations exclude each other"),
        (["--rule", "report", "--no-weights"], "--no-weights is not an option of --rule = 'report'"),
    ],
)
def test_faults(graph, capsys, options, sentence):
    assert main(["pagerank", str(graph), *options, *CPU]) == 2
    assert sentence in capsys.readouterr().err


def test_a_matrix_that_does_not_fit(tmp_path, capsys):
    path = tmp_path / "large.txt"
    path.write_text("# Nodes: 2000000 Edges: 1\n0 1\n", encoding="utf-8")
    assert main(["pagerank", str(path), "--method", next(name for name in METHODS if "dense" in name), *CPU]) == 4
    assert "PageRank by 'dense' of 2,000,000 nodes and 1 edge needs 29,802" in capsys.readouterr().err
