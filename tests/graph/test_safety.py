"""Former bugs of static_graph, each with a test named after it."""

from __future__ import annotations

import copy
import errno
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import static_graph as sg
from static_graph.cli import main
from static_graph.common import memory_estimates as sizes
from static_graph.errors import (
    DmrError,
    ExistingTargetError,
    FileContentError,
    GraphError,
    MissingFileError,
    OptionError,
    OutOfMemoryError,
    SuffixError,
    TargetError,
    WrongTypeError,
)
from static_graph.io import edge_lists, numbering

CPU = {"device": "cpu", "threads": 1}
COPIES = [lambda item: item, copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))]


def made():
    """One of each object that holds arrays."""
    graph = sg.CsrGraph.from_edges([0, 0, 1], [1, 2, 2], [5, 9, 3], labels=["a", "b", "c"])
    tree = sg.euler_tour([-1, 0, 0, 1, -1], **CPU)
    return graph, tree, sg.bfs(graph, 0, parents=True, **CPU), sg.rank_in_detail([1, -1, 0], values=[3, 4, 5], **CPU)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("item", made())
def test_copies_of_frozen_graphs_were_writable(item, copied):
    again = copied(item)
    for name, value in vars(item).items():
        if not isinstance(value, np.ndarray):
            assert name.startswith("_") or getattr(again, name) == value
            continue
        array = getattr(again, name)
        assert np.array_equal(array, value) and array.dtype == value.dtype
        while isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            array = array.base
    assert repr(again)


def test_arrays_of_graphs_are_read_only():
    graph = made()[0]
    for array in (graph.out_degrees, graph.reversed().targets, graph.symmetrised().offsets):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_a_pickle_with_invalid_arrays_is_refused():
    kind, (offsets, _, weights, labels) = made()[0].__reduce__()
    with pytest.raises(GraphError, match="edge 0: leads to node 2147483647"):
        kind(offsets, np.full(3, 2**31 - 1), weights, labels)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"parent": [-1, 0, 7]}, "from -1 to 7"),
        ({"parent": [-1, 0, 3]}, "its parent is 3"),
        ({"parent": [-1, 2, 1]}, "its subtree_size is wrong"),
        ({"preorder": [0, 1, 1]}, "its preorder is wrong"),
        ({"preorder": [1, 0, 2]}, "its preorder is wrong"),
        ({"level": [0, 1, 1]}, "node 2: its level is wrong"),
        ({"postorder": [2, 1, 1]}, "node 2: its postorder is wrong"),
        ({"subtree_size": [3, 1, 1]}, "node 0: its subtree_size is wrong"),
        ({"level": [0, 1]}, "level has 2 numbers"),
        ({"level": [0.5, 1, 2]}, "whole numbers"),
    ],
)
def test_a_tree_with_invalid_arrays_is_refused_before_any_kernel(changed, said):
    right = sg.euler_tour([-1, 0, 1], **CPU)
    arrays = {name: getattr(right, name) for name in ("parent", "subtree_size", "preorder", "postorder", "level")}
    assert sg.Tree(**arrays, device="cpu", threads=1).lca([2], [1]).tolist() == [1]
    with pytest.raises(GraphError, match=said):
        sg.Tree(**{**arrays, **changed}, device="cpu", threads=1)


def test_parents_in_a_cycle_end():
    found = sg.Traversal([0, 1, 2], [1, 2, 1], (0,), "auto", "cpu", 1, 1, 1, 1, {}, {})
    with pytest.raises(GraphError, match="form a cycle"):
        found.path_to(0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sg.euler_tour([[0, 10**9]], **CPU),
        lambda: sg.CsrGraph.from_edges([0], [1], nodes=10**9),
        lambda: sg.generate_rmat(10**9, 10**9, **CPU),
        lambda: sg.generate_list("random", 10**9, **CPU),
        lambda: sg.generate_tree("path", 10**9, threads=1),
        lambda: sg.rank(range(10**9), **CPU),
        lambda: sg.degree_distribution([10**9]),
    ],
)
def test_euler_tour_of_10_9_nodes_was_killed(call, monkeypatch):
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: 2**30)
    with pytest.raises(OutOfMemoryError, match=r"needs [0-9.,]+ GiB of memory, and 1.00 GiB are free"):
        call()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 1\n"),
        ("a.gr", "p sp 2000000000 1\na 1 1 1\n"),
        ("a.txt", "# Nodes: 2000000000 Edges: 1\n0 1\n"),
    ],
)
def test_headers_promising_more_than_the_memory_are_refused(name, text, tmp_path, monkeypatch):
    (tmp_path / name).write_text(text)
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: 2**30)
    with pytest.raises(OutOfMemoryError, match=rf"{name} .*2,000,000,000 nodes"):
        sg.read(tmp_path / name)


def test_searches_ask_for_memory_in_sum(monkeypatch):
    graph = sg.CsrGraph.from_edges([0], [1], nodes=2**22)
    needed = sizes.search_bytes(graph.nodes, False, False)
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: needed - 1)
    with pytest.raises(OutOfMemoryError, match="a search of 4,194,304 nodes needs"):
        sg.bfs(graph, 0, **CPU)


def test_tuple_labels_of_networkx_are_found():
    networkx = pytest.importorskip("networkx")
    grid = sg.CsrGraph.from_networkx(networkx.grid_2d_graph(3, 2))
    assert [grid.node_of((0, 1)), grid.node_of((2, 1))] == [1, 5]
    with pytest.raises(GraphError, match=r"no node \(9, 9\): "):
        grid.node_of((9, 9))
    with pytest.raises(WrongTypeError, match=r"label = \[0, 1\]: "):
        grid.node_of([0, 1])
    again = pickle.loads(pickle.dumps(grid))
    assert again.node_of((1, 0)) == grid.node_of((1, 0)) == 2
    mixed = networkx.DiGraph([("a", (1, 2)), (frozenset([3]), 0.5), ("b\0", "b")])
    graph = sg.CsrGraph.from_networkx(mixed)
    assert [graph.node_of(name) for name in mixed.nodes] == list(range(6))
    assert sg.CsrGraph([0, 0, 0], [], labels=[(0, 1), (1, 0)]).node_of((1, 0)) == 1
    with pytest.raises(GraphError, match="node 1: "):
        sg.CsrGraph([0, 0, 0], [], labels=np.array([1, [2]], object))


@pytest.mark.parametrize("suffix", [".npz", ".txt", ".csv"])
def test_labels_that_a_file_cannot_hold_are_refused(suffix, tmp_path):
    grid = sg.CsrGraph.from_networkx(pytest.importorskip("networkx").grid_2d_graph(2, 2))
    with pytest.raises(FileContentError, match=r"drop them \(labels=None\)"):
        sg.write(tmp_path / f"a{suffix}", grid)
    assert not list(tmp_path.iterdir())


def test_a_source_may_be_an_array():
    graph = sg.CsrGraph.from_edges([0, 1], [1, 2])
    assert sg.bfs(graph, np.array(1), **CPU).distances.tolist() == [-1, 0, 1]
    assert sg.bfs(graph, np.array([0, 2]), **CPU).distances.tolist() == [0, 1, 0]
    for wrong in (np.array(1.0), np.array([[1]]), b"\1", "1", None, np.ma.masked_array([1], [True])):
        with pytest.raises(WrongTypeError, match="source must be a node's number"):
            sg.bfs(graph, wrong, **CPU)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("target,source\n1,0\n2,0\n", [(0, 1, None), (0, 2, None)]),
        ("weight,source,target\n5,0,1\n7,0,2\n", [(0, 1, 5), (0, 2, 7)]),
        ("Weight;".replace(";", ",") + " To , FROM \n0.5,1,0\n", [(0, 1, 0.5)]),
        ('"dst","cost","src"\n"1","2","0"\n', [(0, 1, 2)]),
        ("# a comment\nsource_id,target-id\n0,1\n", [(0, 1, None)]),
        ('"0","1"\n', [(0, 1, None)]),
        ("0,1\n", [(0, 1, None)]),
        ("head,tail\n1,0\n", [(0, 1, None)]),
        ("v,u,w\n1,0,3\n", [(0, 1, 3)]),
    ],
)
def test_csv_headers_name_the_columns(text, edges, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    graph = sg.read(tmp_path / "a.csv", threads=1)
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    assert list(zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True)) == edges


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("source,target,colour\n0,1,2\n", r"a\.csv:1: column 3 .*'colour'"),
        ("# c\n\nfrom,source\n0,1\n", r"a\.csv:3: column 2 .*'source'"),
        ("source,weight\n0,1\n", r"a\.csv:1: .*target"),
        ("abc\n0,1\n", r"a\.csv:1: column 1 has the heading 'abc'"),
        ("source,target\n0,1,5\n", r"a\.csv:2: has 3 fields"),
        ("target,source,weight\n0,1\n", r"a\.csv:2: has no weight"),
        ("weight,target,source\n0,1,x\n", r"a\.csv:2: source 'x' is not a whole number"),
        ('"0","x"\n', r"a\.csv:1: target 'x' is not a whole number"),
    ],
)
def test_unknown_csv_headers_are_refused(text, said, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileContentError, match=said):
        sg.read(tmp_path / "a.csv", threads=1)


def test_ids_are_numbered_the_same_in_chunks(monkeypatch):
    random = np.random.default_rng(0)
    sources, targets = random.integers(0, 2**40, (2, 500))
    sources[::3] = targets[::3]
    labels, numbers = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    for size in (7, 100, 10**6):
        monkeypatch.setattr(numbering, "SORTED", size)
        found = edge_lists.without_gaps(sources, targets, int(labels[-1]))
        assert np.array_equal(np.concatenate(found[:2]), numbers) and np.array_equal(found[2], labels)


def test_file_errors_are_builtin_error_types(tmp_path):
    graph = made()[0]
    missing = tmp_path / "none.npz"
    with pytest.raises(FileNotFoundError) as raised:
        sg.read(missing)
    assert isinstance(raised.value, MissingFileError)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOENT, str(missing))
    path = sg.write(tmp_path / "a.npz", graph)
    with pytest.raises(FileExistsError) as raised:
        sg.write(path, graph, overwrite=False)
    assert isinstance(raised.value, ExistingTargetError) and isinstance(raised.value, TargetError)
    assert (raised.value.errno, raised.value.exit_code) == (errno.EEXIST, 2)
    with pytest.raises(SuffixError):
        sg.write(tmp_path / "a.xyz", graph)
    with pytest.raises(FileNotFoundError):
        sg.write(tmp_path / "none" / "a.npz", graph)
    with pytest.raises(IsADirectoryError):
        sg.read(tmp_path)
    path.write_bytes(b"junk")
    with pytest.raises(ValueError, match="is damaged"):
        sg.read(path)


@pytest.mark.parametrize(
    "error",
    [
        GraphError("leads nowhere", "edge", 3),
        WrongTypeError("x"),
        OptionError("x"),
        ExistingTargetError("exists already", "a.npz"),
        SuffixError("has none", "a"),
        FileContentError("is damaged", "a.txt", 4),
    ],
)
def test_errors_survive_pickling(error):
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_escape_characters_in_names_are_escaped_in_messages(tmp_path, capsys):
    path = sg.write(tmp_path / "a\x1b[31m.npz", made()[0])
    assert main(["info", str(path)]) == 0
    assert main(["info", str(tmp_path / "no\x1b]0;x\x07.npz")]) == 1
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err and "\x07" not in shown.err
    assert "a\\x1b[31m.npz" in shown.out and "no\\x1b]0;x\\x07.npz" in shown.err


@pytest.mark.slow
def test_ctrl_c_ends_generation_soon(tmp_path):
    target = tmp_path / "a.npz"
    command = [sys.executable, "-m", "static_graph", "generate", "rmat", "1e7", "6e7", "-o", str(target)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=Path(sg.__file__).parents[1])
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    try:
        said = process.communicate(timeout=30)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130 and "interrupted" in said
    assert time.perf_counter() - sent < 10  # about 1 s on an idle machine
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", [sg.degree_distribution, sg.degree_statistics])
def test_degrees_of_10_18_nodes_took_forever(call):
    with pytest.raises(OptionError, match="more than the 2,147,483,647 nodes"):
        call(np.broadcast_to(np.int32(0), (10**18,)))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_edges_of_unsigned_numbers_raised_overflow_errors(dtype):
    graph = sg.CsrGraph.from_edges(np.array([0, 2], dtype), np.array([1, 0], dtype))
    assert (graph.nodes, graph.targets.tolist()) == (3, [1, 0])
    assert sg.CsrGraph.from_edges(np.empty(0, dtype), np.empty(0, dtype)).nodes == 0


def test_a_limit_that_is_a_time_raised_a_bare_type_error():
    graph = sg.with_random_weights(sg.CsrGraph.from_edges([0], [1]), 9)
    with pytest.raises(DmrError):
        sg.sssp(graph, 0, distance_limit=np.timedelta64(1, "s"), device="cpu")
