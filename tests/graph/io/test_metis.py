"""METIS files: undirected graphs with one line per node."""

from __future__ import annotations

import io
import tracemalloc

import networkx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dmr.common.files import text_index
from static_graph import CsrGraph, read, write
from static_graph.errors import FileError

# The example of the METIS manual (figure 2): 7 nodes, 11 edges, with and without the weights of figure 3.
MANUAL = "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n"
MANUAL_WEIGHTS = (
    "7 11 1\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n"
)


def parsed(text, **more):
    return read(io.BytesIO(text.encode()), format="metis", **more)


def test_the_manual_s_graphs():
    plain, weighted = parsed(MANUAL), parsed(MANUAL_WEIGHTS)
    assert (plain.nodes, plain.edges, plain.weights) == (7, 22, None)
    assert plain.targets[:3].tolist() == [4, 2, 1] and plain.targets[-2:].tolist() == [5, 3]
    assert np.array_equal(plain.targets, weighted.targets)
    assert weighted.weights[:6].tolist() == [1, 2, 1, 1, 2, 1]
    assert weighted.weights.dtype == np.int32


@pytest.mark.parametrize("fmt", ["011 1", "11", "111", "110 3", "10 2", "100", "000", "1"])
def test_sizes_and_weights_of_nodes_are_left_out_with_a_warning(fmt, caplog):
    digits, _, ncon = fmt.partition(" ")
    digits = digits.zfill(3)
    ahead = "9 " * ((digits[0] == "1") + (digits[1] == "1") * int(ncon or 1))
    weight = " 4" if digits[2] == "1" else ""
    graph = parsed(f"% a comment\n3 2 {fmt}\n{ahead}2{weight}\n% one\n{ahead}1{weight} 3{weight}\n{ahead}2{weight}")
    assert (graph.offsets.tolist(), graph.targets.tolist()) == ([0, 1, 3, 4], [1, 0, 2, 1])
    assert (None if graph.weights is None else graph.weights.tolist()) == ([4] * 4 if weight else None)
    assert ("sizes and weights of nodes are left out" in caplog.text) == bool(ahead)


def test_nodes_without_edges_have_blank_lines():
    graph = parsed("5 1\n\n4\n\n2\n\n\n\n")
    assert graph.offsets.tolist() == [0, 0, 1, 1, 2, 2] and graph.targets.tolist() == [3, 1]
    assert parsed("0 0\n").nodes == 0
    assert parsed("2 0\n\n\n").nodes == 2


def test_a_header_without_nodes_needs_no_memory_for_their_weights():
    tracemalloc.start()
    assert parsed("0 0 011 999999999\n").nodes == 0
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**26


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_undirected_graphs_are_read_back_unchanged(tmp_path, data):
    """The reference is networkx: neighbours and weights in any order of the lines' entries."""
    nodes = data.draw(st.integers(0, 9))
    pairs = [(a, b) for a in range(nodes) for b in range(a)]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    wanted = networkx.Graph()
    wanted.add_nodes_from(range(nodes))
    weighted = data.draw(st.booleans())
    for a, b in edges:
        wanted.add_edge(a, b, **({"weight": data.draw(st.integers(1, 2**40))} if weighted else {}))
    text_index.CHUNK_BYTES, whole = data.draw(st.sampled_from([7, 1 << 18])), text_index.CHUNK_BYTES
    try:
        path = write(tmp_path / "a.graph", CsrGraph.from_networkx(wanted))
        lines = path.read_text().splitlines()
        assert len(lines) == nodes + 1
        assert lines[0].split()[:2] == [str(nodes), str(len(edges))]
        graph = read(path, threads=2)
    finally:
        text_index.CHUNK_BYTES = whole
    assert graph.nodes == nodes
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    found = sorted(zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True))
    back = [(a, b, d.get("weight")) for a, b, d in wanted.to_directed().edges(data=True)]
    assert found == sorted(back)


def fault(text):
    """The error of a text that cannot be parsed."""
    with pytest.raises(FileError) as raised:
        parsed(text)
    return raised.value


REFUSED = [  # texts, each with the line that is wrong
    ("% only\n", 1), ("3\n", 1), ("% c\n3 2 2\n", 2), ("3 1 0 2\n", 1), ("9999999999 1\n", 1), ("3 2\n2\n1 3\n", 1),
    ("1 0\n\n\n1\n", 4), ("3 1\n2\n1 3\n2\n", 1), ("3 1\n2\n%\n1 x\n\n", 4), ("3 1\n2\n1.5\n\n", 3),
    ("3 1\n2\n-1\n\n", 3), ("3 1\n2\n18446744073709551616\n\n", 3), ("3 1\n2\n4\n\n", 3), ("3 1\n0\n1\n\n", 2),
    ("3 1\n1\n1\n\n", 2), ("3 2\n2 2\n1 1\n\n", 2), ("4 2\n2 3\n1\n\n1\n", 2), ("3 1 1\n2 3\n1 4\n\n", 2),
    ("3 1 1\n2 3\n1\n\n", 3), ("2 1 110\n1 1 2\n1\n", 3),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_wrong_files_are_refused_with_the_line(text, line):
    assert fault(text).line == line


SENTENCES = [
    ("3 2\n2\n1 3\n", "promises 3 nodes, but has 2 lines"), ("3 1\n2\n%\n1 x\n\n", "'x' is not a whole number"),
    ("3 1\n2\n4\n\n", "neighbour 4 is not a node; their numbers are from 1 to 3"),
    ("4 2\n2 3\n1\n\n1\n", "has the neighbour 3, which does not have 1"),
    ("2 1 110\n1 1 2\n1\n", "has 1 entry; a line should have 2 entries for the node, and neighbours"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), SENTENCES)
def test_sentences_about_files_say_what_is_wrong(text, words):
    assert words in fault(text).reason


def test_the_first_wrong_line_of_a_large_file_is_named():
    lines = ["2", "1"] * 60_000
    lines[100_000] = "y"
    for threads in (1, 3):
        with pytest.raises(FileError, match=":100003: 'y' is not a whole number"):
            parsed("% c\n120000 60000\n" + "\n".join(lines), threads=threads)
    lines[100_000] = "1000000"
    with pytest.raises(FileError, match=":100003: neighbour 1000000 is not a node"):
        parsed("% c\n120000 60000\n" + "\n".join(lines))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (CsrGraph.from_edges([0], [1]), "node 1 has the neighbour 2, which does not have 1 as a neighbour"),
        (CsrGraph.from_edges([0], [0]), "node 1 has itself as a neighbour"),
        (CsrGraph.from_edges([0, 0, 1, 1], [1, 1, 0, 0]), "node 1 has the neighbour 2 twice"),
        (CsrGraph.from_edges([0, 1], [1, 0], [3, 4]), "has an edge with weight 3 to neighbour 2, but 4 back"),
        (CsrGraph.from_edges([0, 1], [1, 0], [0.5, 0.5]), "its weights are not all positive whole numbers"),
        (CsrGraph.from_edges([0, 1], [1, 0], [0, 0]), "its weights are not all positive whole numbers"),
    ],
)
def test_graphs_that_metis_cannot_hold_are_refused(graph, words, tmp_path):
    with pytest.raises(FileError, match=words):
        write(tmp_path / "a.metis", graph)
    assert list(tmp_path.iterdir()) == []
