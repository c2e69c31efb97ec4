"""Parquet files, written and read by pyarrow."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from static_graph import CsrGraph, DmrError, read, write, write_partitioned
from static_graph.cli import main
from static_graph.errors import FileError, OptionError, OutOfMemoryError

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def table(path, **columns):
    parquet.write_table(pyarrow.table(columns), path)
    return path


def edges_of(graph):
    names = range(graph.nodes) if graph.labels is None else graph.labels.tolist()
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    ends = zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True)
    return [(names[a], names[b], w) for a, b, w in ends]


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_graphs_are_read_back_unchanged(tmp_path, data):
    nodes = data.draw(st.integers(0, 9))
    end = st.integers(0, nodes - 1)
    ends = data.draw(st.lists(st.tuples(end, end), max_size=30)) if nodes else []
    kind = data.draw(st.sampled_from([None, np.int32, np.int64, np.float64]))
    number = st.floats(0, 1e308) if kind is np.float64 else st.integers(0, np.iinfo(kind or np.int32).max)
    weights = None if kind is None else np.array([data.draw(number) for _ in ends], kind)
    if kind is np.int64 and ends:
        weights[0] = 2**40  # else int32 would do
    sources, targets = np.array(ends, np.int64).reshape(-1, 2).T
    graph = CsrGraph.from_edges(sources, targets, weights, nodes)
    again = read(write(tmp_path / "a.parquet", graph), threads=1)
    for name in ("offsets", "targets", "weights"):
        assert np.array_equal(getattr(again, name), getattr(graph, name)), name
        if ends:
            assert getattr(getattr(again, name), "dtype", None) == getattr(getattr(graph, name), "dtype", None)
    written = parquet.read_table(tmp_path / "a.parquet")
    assert written.column("source").to_pylist() == graph.sources().tolist()
    assert written.column("target").to_pylist() == graph.targets.tolist()


def test_labels_are_kept(tmp_path):
    for labels in ([0, 2, 1], [7, 100, 2**40], ["b", "a", "ö"]):
        graph = CsrGraph.from_edges([0, 1], [1, 2], [5, 6], labels=labels)
        again = read(write(tmp_path / "a.parquet", graph))
        assert again.labels is None or again.labels.tolist() == sorted(labels)
        assert sorted(edges_of(again)) == sorted(edges_of(graph))
    with pytest.raises(FileError, match="neither non-negative whole numbers nor strings"):
        write(tmp_path / "a.parquet", CsrGraph.from_edges([0], [1], labels=[-1, 5]))


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "uint64", "string", "large_string", "dictionary"])
def test_ids_of_every_type(kind, tmp_path):
    if kind == "dictionary":
        column = pyarrow.array(["30", "7", "30"]).dictionary_encode()
    else:
        column = pyarrow.array([30, 7, 30], "int64").cast(kind)
    graph = read(table(tmp_path / "a.parquet", src=column, dst=column, note=["x", "y", "z"]))
    labels = graph.labels.tolist()
    assert labels == [7, 30] if "int" in kind else labels == ["30", "7"]
    assert sorted(edges_of(graph)) == sorted([(a, a, None) for a in (labels if labels[0] == "30" else labels[::-1])] + [
        (labels[0] if labels[0] == "30" else 30,) * 2 + (None,)
    ])  # fmt: skip


def test_strings_of_both_sizes_make_one_graph(tmp_path):
    path = table(tmp_path / "a.parquet", source=["a", "b"], target=pyarrow.array(["b", "c"], pyarrow.large_string()))
    assert edges_of(read(path)) == [("a", "b", None), ("b", "c", None)]


def test_columns_by_name_in_any_order(tmp_path, caplog):
    path = table(tmp_path / "a.parquet", cost=[1, 2], To=[1, 0], extra=[0.5, 0.25], from_id=[0, 1])
    assert edges_of(read(path)) == [(0, 1, 1), (1, 0, 2)]
    assert "other columns are left out: 'extra'" in caplog.text
    assert edges_of(read(path, weight="extra")) == [(0, 1, 0.5), (1, 0, 0.25)]


def test_a_stream_and_several_row_groups(tmp_path):
    sources = np.arange(1000)
    columns = pyarrow.table({"source": sources, "target": sources[::-1]})
    parquet.write_table(columns, tmp_path / "a.parquet", row_group_size=7)
    graph = read(io.BytesIO((tmp_path / "a.parquet").read_bytes()), format="parquet")
    assert graph.targets.tolist() == sources[::-1].tolist()
    names = pyarrow.table({"source": [f"n{k % 9}" for k in sources], "target": [f"n{k % 5}" for k in sources]})
    parquet.write_table(names, tmp_path / "b.parquet", row_group_size=7)
    found = read(tmp_path / "b.parquet")
    assert sorted(edges_of(found)) == sorted((f"n{k % 9}", f"n{k % 5}", None) for k in range(1000))
    assert found.labels.tolist() == [f"n{k}" for k in range(9)]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1]}, "has no column 'source'; its columns: 'a'"),
        ({"source": [1]}, "has no column 'target'"),
        ({"source": [1], "target": [1], "src": [1]}, "has two columns of the source: 'source' and 'src'"),
        ({"source": [0.5], "target": [1]}, "column 'source' holds double, not whole numbers or strings"),
        ({"source": ["a"], "target": [1]}, "the sources are string, but the targets are int64"),
        ({"source": [1], "target": [1], "weight": ["x"]}, "column 'weight' holds string, not numbers"),
        ({"source": [1], "target": [1], "weight": [True]}, "column 'weight' holds bool, not numbers"),
        ({"source": [1, 2, None], "target": [1, 2, 3]}, r"row 2 \(from 0\) has no 'source'"),
        ({"source": ["a", None], "target": ["b", "c"]}, r"row 1 \(from 0\) has no 'source'"),
        ({"source": [1, 2], "target": [1, 2], "w": [None, 1]}, r"row 0 \(from 0\) has no 'w'"),
        ({"source": [1, 2], "target": [1, -2]}, r"row 1 \(from 0\) has the 'target' -2, below 0"),
        ({"source": np.array([2**63], np.uint64), "target": [1]}, "column 'source': Integer value"),
        ({"source": [1], "target": [1], "weight": [-1]}, "edge 0: has the negative weight -1"),
        ({"source": [1], "target": [1], "weight": [float("nan")]}, "not finite"),
    ],
)
def test_wrong_tables_are_refused(columns, words, tmp_path):
    with pytest.raises(FileError, match=words):
        read(table(tmp_path / "a.parquet", **columns))


def test_damaged_files_are_refused(tmp_path):
    path = table(tmp_path / "a.parquet", source=list(range(5000)), target=list(range(5000)))
    whole = path.read_bytes()
    for content, words in (
        (b"", "is empty"),
        (b"no", "is damaged, or not a Parquet file"),
        (whole[:-20], "is damaged, or not a Parquet file"),
        (whole[:100] + b"\xff" * 400 + whole[500:], "is damaged, or not a Parquet file|holds no valid graph|has the"),
    ):
        path.write_bytes(content)
        with pytest.raises(FileError, match=words):
            read(path)
    with pytest.raises(FileError, match="has no column 'cost'; its columns: 'source', 'target'"):
        read(table(path, source=[1], target=[2]), weight="cost")


def test_memory_is_checked_before_a_table_is_read(tmp_path, monkeypatch):
    zeros = np.zeros(4_000_000, np.int8)  # some bytes in the file
    path = table(tmp_path / "a.parquet", source=zeros, target=zeros)
    assert path.stat().st_size < 100_000
    monkeypatch.setattr("dmr.common.available.available_memory", lambda: 2**26)
    with pytest.raises(OutOfMemoryError, match="a table of 4,000,000 edges needs"):
        read(path)


def test_weights_have_names_in_some_formats_only(tmp_path):
    (tmp_path / "a.txt").write_text("0 1\n")
    with pytest.raises(OptionError, match="weights have names in graphml and parquet only, not in txt"):
        read(tmp_path / "a.txt", weight="cost")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = table(tmp_path / "a.parquet", source=[1], target=[1])
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DmrError, match=r"the extra \[parquet\] of this package: pip install pyarrow"):
        read(path)
    with pytest.raises(DmrError, match=r"the extra \[parquet\] of this package"):
        write(tmp_path / "b.parquet", CsrGraph([0], []))


@pytest.mark.parametrize("files", [1, 3, 16])
def test_a_folder_of_files_holds_the_edges_in_order(files, tmp_path):
    rng = np.random.default_rng(files)
    ends = rng.integers(0, 50, (2, 200))
    graph = CsrGraph.from_edges(*ends, rng.random(200), nodes=60)
    written = write_partitioned(tmp_path / "edges", graph, files=files)
    assert [path.name for path in written] == [f"part-{k:05}.parquet" for k in range(files)]
    rows = [parquet.read_table(path).num_rows for path in written]
    assert max(rows) - min(rows) <= 1
    whole = parquet.read_table(tmp_path / "edges")
    assert whole.column("source").to_pylist() == graph.sources().tolist()
    assert whole.column("target").to_pylist() == graph.targets.tolist()
    assert whole.column("weight").to_pylist() == graph.weights.tolist()


def test_a_folder_with_labels_and_more_files_than_edges(tmp_path):
    graph = CsrGraph.from_edges([0, 1], [1, 2], labels=["b", "a", "c"])
    written = write_partitioned(tmp_path, graph, files=5)
    rows = [row for path in written for row in parquet.read_table(path).to_pylist()]
    assert rows == [{"source": "b", "target": "a"}, {"source": "a", "target": "c"}]


def test_a_folder_is_replaced_only_if_asked(tmp_path):
    graph = CsrGraph.from_edges([0, 1, 2], [1, 2, 0])
    (tmp_path / "notes.txt").write_text("mine")
    write_partitioned(tmp_path, graph, files=3)
    with pytest.raises(FileError, match=r"holds part-00000\.parquet; overwrite=True replaces such files"):
        write_partitioned(tmp_path, graph, files=2)
    write_partitioned(tmp_path, graph, files=2, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "part-00000.parquet", "part-00001.parquet"]


def test_impossible_folders_and_numbers_of_files_are_refused(tmp_path):
    graph = CsrGraph.from_edges([0], [0])
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="cannot be made: there is a file of that name; name a folder"):
        write_partitioned(tmp_path / "file", graph)
    with pytest.raises(FileError, match="cannot be made"):
        write_partitioned(tmp_path / "none" / "edges", graph)
    with pytest.raises(OptionError, match="files must be at least 1, not 0"):
        write_partitioned(tmp_path, graph, files=0)


def test_the_command_exports(tmp_path, capsys):
    write(tmp_path / "a.npz", CsrGraph.from_edges([0, 1, 2], [1, 2, 0]))
    words = ["export", str(tmp_path / "a.npz"), "-o", str(tmp_path / "edges"), "--files", "2"]
    assert main([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["output"]) == 2
    assert main(words) == 2
    assert "holds part-00000.parquet; -f replaces such files" in capsys.readouterr().err
    assert main([*words, "-f"]) == 0
