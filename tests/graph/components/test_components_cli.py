"""`python -m static_graph components`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from static_graph import connected_components, read
from static_graph.cli import main
from tests.support.command_line import written

CPU = ["--device", "cpu", "--threads", "2"]


@pytest.fixture
def graph(tmp_path):
    """A file of a graph whose nodes are called 10, 20, ... 60."""
    return written(tmp_path / "graph.txt", "10 20\n20 10\n20 30\n50 60\n60 40\n40 50\n")


def test_text(graph, capsys):
    assert main(["components", str(graph), "--connection", "strong", "--top", "2", *CPU]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["components", "3"] in rows and ["connection", "strong"] in rows
    assert [row for row in rows if row[0] == "component"] == [["component", "40", "3"], ["component", "10", "2"]]


def test_json(graph, capsys):
    for connection, count in (("weak", 2), ("strong", 3)):
        assert main(["components", str(graph), "--connection", connection, "--json", *CPU]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["components"] == count and told["connection"] == connection and told["threads"] == 2
        assert told["largest"][0] == {"component": 10 if connection == "weak" else 40, "size": 3}


def test_output_files(graph, tmp_path, capsys):
    out, array = tmp_path / "components.csv", tmp_path / "labels.npy"
    command = ["components", str(graph), "--connection", "strong", "--method", "sequential", "-o", str(out), *CPU]
    assert main(command) == 0
    rows = out.read_text(encoding="utf-8").splitlines()
    assert rows == ["node,component", "10,10", "20,10", "30,30", "40,40", "50,40", "60,40"]
    assert main(command) == 2 and "components.csv exists; -f overwrites it" in capsys.readouterr().err
    assert main(["components", str(graph), "-o", str(array), *CPU]) == 0
    expected = read(graph).labels[connected_components(read(graph), device="cpu").labels]
    np.testing.assert_array_equal(np.load(array), expected)


def test_a_method_of_the_other_connection_is_refused(graph, capsys):
    assert main(["components", str(graph), "--method", "signatures", *CPU]) == 2
    assert "method must be one of auto" in capsys.readouterr().err


def test_steps_of_multistep_can_be_left_out(graph, capsys):
    steps = ["--no-trim", "--no-search", "--cutoff", "0", "--balance", "baseline"]
    command = ["components", str(graph), "--connection", "strong", "--method", "multistep", "--json", *CPU]
    assert main([*command, *steps]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["components"] == 3 and "colours" in told["seconds"]
    assert not {"trim", "search"} & told["seconds"].keys()
    assert main(command) == 0
    assert {"trim", "finish"} <= json.loads(capsys.readouterr().out)["seconds"].keys()


def test_a_step_of_another_method_is_refused(graph, capsys):
    assert main(["components", str(graph), "--connection", "strong", "--cutoff", "5", *CPU]) == 2
    assert "cutoff" in capsys.readouterr().err
