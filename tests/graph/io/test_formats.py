"""Graph files: formats, errors with their line, and complete writes."""

from __future__ import annotations

import gzip
import io
import logging
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dmr.common.files import text_index
from static_graph import CsrGraph, DmrError, read, write
from static_graph.errors import FileError, OptionError, WrongTypeError
from static_graph.io import formats, write_columns
from tests.support.paths import ROOT

SHARED = ROOT.parent / "shared" / "graphs"
FORMATS = (".npz", ".txt", ".csv", ".mtx", ".gr")  # that hold any graph, and change none


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def file_of(path, content):
    path.write_bytes(content)
    return path.open("rb")


def edges_of(graph):
    """The edges (source, target, weight) by node labels, in order."""
    names = np.arange(graph.nodes) if graph.labels is None else graph.labels
    weights = [None] * graph.edges if graph.weights is None else graph.weights.tolist()
    return list(zip(names[graph.sources()].tolist(), names[graph.targets].tolist(), weights, strict=True))


def same(a, b):
    """Whether two graphs are the same, with dtypes."""
    pairs = [(a.offsets, b.offsets), (a.targets, b.targets), (a.weights, b.weights), (a.labels, b.labels)]
    return all(
        (x is None) == (y is None) and (x is None or (x.dtype == y.dtype and np.array_equal(x, y))) for x, y in pairs
    )


# ---- Reading ---------------------------------------------------------------------------------------------------------


def test_a_snap_file_with_gaps_keeps_the_ids_as_labels(tmp_path):
    path = file(tmp_path, "a.txt", "# Directed\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n7\t30\n\n30\t7\n7 900\r\n")
    graph = read(path)
    assert (graph.nodes, graph.edges, graph.weights) == (3, 3, None)
    assert graph.labels.tolist() == [7, 30, 900]
    assert edges_of(graph) == [(7, 30, None), (7, 900, None), (30, 7, None)]
    assert graph.node_of(900) == 2


@pytest.mark.parametrize(
    ("content", "nodes", "labels", "edges"),
    [
        ("0 1\n1 2\n", 3, None, [(0, 1, None), (1, 2, None)]),
        ("# Nodes: 5 Edges: 1\n1 3\n", 5, None, [(1, 3, None)]),  # nodes without edges
        ("# Nodes: 2 Edges: 1\n1 2\n", 2, [1, 2], [(1, 2, None)]),  # ids from 1
        ("4000000000 9223372036854775807\n", 2, [4000000000, 2**63 - 1], [(4000000000, 2**63 - 1, None)]),
        ("100 2000000000\n", 2, [100, 2000000000], [(100, 2000000000, None)]),
        ("% konect\n0 1 7\n1 0 +8\n", 2, None, [(0, 1, 7), (1, 0, 8)]),
        ("0 1 7\n1 0 2.5\n", 2, None, [(0, 1, 7.0), (1, 0, 2.5)]),
        ("0 0 1e-400\n0 0 -0.0\n", 1, None, [(0, 0, 0.0), (0, 0, 0.0)]),
        ("0 0 5000000000", 1, None, [(0, 0, 5000000000)]),
        ("\ufeff0 1\n", 2, None, [(0, 1, None)]),
        ("# nothing\n", 0, None, []),
        ("# nothing\n", 0, None, []),
    ],
)
def test_edge_lists(tmp_path, content, nodes, labels, edges):
    graph = read(file(tmp_path, "a.txt", content))
    assert graph.nodes == nodes
    assert (None if graph.labels is None else graph.labels.tolist()) == labels
    assert edges_of(graph) == edges


@pytest.mark.parametrize("head", ["source,target,weight\n", "# x\n", '"from","to","w"\n', ""])
def test_csv_with_and_without_header(tmp_path, head):
    graph = read(file(tmp_path, "a.csv", head + "0,1,3\n 1 , 0 ,4\n"))
    assert edges_of(graph) == [(0, 1, 3), (1, 0, 4)]


def test_matrix_market_of_every_type(tmp_path):
    head = "%%MatrixMarket matrix coordinate "
    general = read(file(tmp_path, "a.mtx", head + "integer general\n% c\n3 3 2\n1 2 5\n3 1 0\n"))
    assert edges_of(general) == [(0, 1, 5), (2, 0, 0)]
    symmetric = read(file(tmp_path, "b.mtx", head + "real symmetric\n2 2 2\n1 1 3\n2 1 4\n"))
    assert edges_of(symmetric) == [(0, 0, 3.0), (0, 1, 4.0), (1, 0, 4.0)]
    assert symmetric.weights.dtype == np.float64
    pattern = read(file(tmp_path, "c.mtx", head + "pattern general\n2 2 1\n2 1\n"))
    assert edges_of(pattern) == [(1, 0, None)]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.data())
def test_matrix_market_agrees_with_scipy(tmp_path, data):
    scipy_io, sparse = pytest.importorskip("scipy.io"), pytest.importorskip("scipy.sparse")

    size = data.draw(st.integers(1, 8))
    kind = data.draw(st.sampled_from([np.int64, np.float64]))
    dense = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 3), min_size=size, max_size=size), min_size=size, max_size=size))
    )
    dense = (dense + dense.T if data.draw(st.booleans()) else dense).astype(kind)
    scipy_io.mmwrite(tmp_path / "a.mtx", sparse.csr_array(dense))
    assert (read(tmp_path / "a.mtx").to_scipy().toarray() == dense).all()
    write(tmp_path / "b.mtx", CsrGraph.from_scipy(sparse.csr_array(dense)))
    assert (scipy_io.mmread(tmp_path / "b.mtx").toarray() == dense).all()


@pytest.mark.slow
def test_streams_and_named_formats(tmp_path):
    graph = CsrGraph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], [4, 4, 5, 5])
    for name in formats.FORMATS:
        path = write(tmp_path / "graph", graph, format=name)
        assert same(read(path, format=name), graph)
        with path.open("rb") as file:
            assert same(read(file, format=name), graph) and not file.closed
    with write(tmp_path / "a.csv", graph).open("rb") as file:
        assert same(read(file), graph)  # whose name has the suffix
    with (
        pytest.raises(FileError, match=r"a\.csv:3: target 'x'"),
        file_of(tmp_path / "a.csv", b"s,t\n0,1\n0,x\n") as file,
    ):
        read(file)


def test_wrong_streams_are_refused(tmp_path):
    class Failing:
        def read(self, size):
            raise OSError(5, "Input/output error")

    with pytest.raises(WrongTypeError, match="is open as text: open it in binary mode"):
        read(io.StringIO("0 1\n"), format="txt")
    with pytest.raises(FileError, match="<stream>: cannot be read: Input/output error"):
        read(Failing(), format="txt")
    with pytest.raises(WrongTypeError, match="must be the name of a file"):
        read(7, format="txt")
    with pytest.raises(OptionError, match=r"format must be one of npz, txt, .*, not 'docx'"):
        read(tmp_path / "a.txt", format="docx")


def test_dimacs_files(tmp_path):
    graph = read(file(tmp_path, "a.gr", "c road\n\np sp 4 2\nc more\na 1 2 803\na 4 1 0\n"))
    assert edges_of(graph) == [(0, 1, 803), (3, 0, 0)]


def test_npz_files_of_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")

    matrix = sparse.csr_array([[0, 2.5], [0, 0]])
    for kind in (matrix, sparse.coo_array(matrix)):
        sparse.save_npz(tmp_path / "a.npz", kind)
        assert edges_of(read(tmp_path / "a.npz")) == [(0, 1, 2.5)]


@pytest.mark.parametrize("suffix", FORMATS[1:])
def test_packed_files_of_one_and_of_several_parts(tmp_path, suffix):
    graph = CsrGraph.from_edges([0, 1, 2], [1, 2, 0], [4, 5, 6])
    plain = write(tmp_path / f"a{suffix}", graph).read_bytes()
    packed = gzip.compress(plain[:20]) + gzip.compress(plain[20:])
    assert same(read(file(tmp_path, f"a{suffix}.gz", packed)), graph)
    for damaged in (packed[:-9], packed[:30] + b"\0\0\0" + packed[33:]):
        with pytest.raises(FileError, match=r"a\.\w+\.gz: cannot be decompressed"):
            read(file(tmp_path, f"a{suffix}.gz", damaged))


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.data())
def test_files_are_read_back_unchanged(tmp_path, data):
    nodes = data.draw(st.integers(0, 12))
    end = st.integers(0, nodes - 1)
    edges = data.draw(st.lists(st.tuples(end, end), max_size=40)) if nodes else []
    kind = data.draw(st.sampled_from(["none", "int32", "int64", "float64"]))
    numbers = {"int32": st.integers(0, 2**31 - 1), "int64": st.integers(0, 2**63 - 1), "float64": st.floats(0, 1e308)}
    weights = None if kind == "none" else [data.draw(numbers[kind]) for _ in edges]
    if kind == "int64" and edges:
        weights[0] = 2**40
    if kind == "float64" and edges:
        weights[0] = 0.1  # whole numbers alone would be read as such
    ends = np.array(edges, np.int64).reshape(-1, 2)
    graph = CsrGraph.from_edges(ends[:, 0], ends[:, 1], weights, nodes)
    text_index.CHUNK_BYTES, whole = data.draw(st.sampled_from([7, 1 << 18])), text_index.CHUNK_BYTES
    try:
        for suffix in FORMATS:
            back = read(write(tmp_path / f"a{suffix}", graph), threads=2)
            expected = graph
            if suffix == ".gr" and kind == "none":
                expected = CsrGraph(graph.offsets, graph.targets, np.ones(len(edges), int))
            elif not edges and suffix == ".txt":
                expected = CsrGraph(graph.offsets, graph.targets)  # no edge says that it would have a weight
            elif not edges and (suffix == ".gr" or (suffix == ".csv" and kind != "none")):
                expected = CsrGraph(graph.offsets, graph.targets, np.empty(0, int))
            assert same(back, expected), suffix
    finally:
        text_index.CHUNK_BYTES = whole


def test_labels_are_kept_by_formats_that_can(tmp_path, caplog):
    graph = CsrGraph.from_edges([0, 1], [1, 2], labels=[5, 70, 600])
    for suffix in (".npz", ".txt", ".csv"):
        assert same(read(write(tmp_path / f"a{suffix}", graph)), graph)
    named = CsrGraph.from_edges([0], [1], labels=["a", "b"])
    assert read(write(tmp_path / "b.npz", named)).labels.tolist() == ["a", "b"]
    with caplog.at_level(logging.WARNING, "static_graph"):
        assert read(write(tmp_path / "a.gr", graph)).labels is None
    assert "labels are not kept" in caplog.text and "1 was written for each" in caplog.text
    with pytest.raises(FileError, match="labels are not all non-negative whole numbers"):
        write(tmp_path / "b.txt", named)
    assert not (tmp_path / "b.txt").exists()


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real graphs are not here")
@pytest.mark.parametrize(
    ("name", "nodes", "edges", "gaps"),
    [
        ("p2p-Gnutella04", 10_876, 39_994, True),
        ("p2p-Gnutella31", 62_586, 147_892, False),
        ("wiki-Vote", 7_115, 103_689, True),
    ],
)
def test_real_graphs(name, nodes, edges, gaps):
    graph = read(SHARED / f"{name}.txt.gz")
    assert (graph.nodes, graph.edges, graph.labels is not None) == (nodes, edges, gaps)
    with gzip.open(SHARED / f"{name}.txt.gz", "rt") as lines:
        pairs = [tuple(map(int, line.split())) for line in lines if not line.startswith("#")]
    assert [edge[:2] for edge in edges_of(graph)] == sorted(pairs, key=lambda pair: pair[0])


# ---- Errors ----------------------------------------------------------------------------------------------------------

MTX = "%%MatrixMarket matrix coordinate integer general\n"


REFUSED = {  # contents by name, each with the line that is wrong
    "a.txt": [
        ("0 1\n# c\n0\n", 3), ("0 1\n0 1 2\n", 2), ("# c\n\n0 1 2\n0 1\n", 4), ("0 x\n", 1), ("0 1\n\n-3 1\n", 3),
        ("0 9223372036854775808\n", 1), ("0 1 5\n0 1 -5\n", 2), ("0 1 5\n0 1 -0.5\n", 2), ("0 1 nan\n", 1),
        ("0 1 0.5\n0 1 inf\n", 2), ("0 1 1e400\n", 1), ("0 1 two\n", 1), (b"\xff\xfe0\x00", 1), ("", None),
    ],
    "a.csv": [
        ("s,t,w\n% c\n0,1,2\n0,1\n", 4), ("source,target\n0,1\n0;1\n", 3), ("0,1\n0,,1\n", 2), ("\n \r\n", None),
    ],
    "a.mtx": [
        ("1 1 0\n", 1), (MTX.replace("coordinate", "array"), 1), (MTX.replace("integer", "complex"), 1),
        (MTX.replace("general", "skew-symmetric"), 1), (MTX + "% c\n2 3 0\n", 3), (MTX + "2 2\n", 2),
        (MTX + "2 2 1\n1 3 5\n", 3), (MTX + "2 2 1\n0 1 5\n", 3), (MTX + "2 2 2\n1 1 5\n", 2),
        (MTX + "2 2 1\n1 1 -5\n", 3), (MTX + "2 2 2\n1 1 5\n1 2 1.5\n", 4),
        (MTX.replace("integer", "pattern") + "2 2 1\n1 1 5\n", 3), (MTX, 1),
    ],
    "a.gr": [
        ("c x\na 1 2 3\n", 2), ("c x\n", 1), ("p sp 2 1\ne 1 2 3\n", 2), ("p sp 2 1\n\na 1 2\n", 3),
        ("p sp 2 2\na 1 2 3\n", 1), ("p sp 2 1\na 1 2 -1\n", 2), ("p sp 2 1\na 1 0 1\n", 2), ("", None),
    ],
    "a.npz": [
        (b"PK\x03\x04", None), ("", None),
    ],
    "a.txt.gz": [
        (b"\x1f\x8bnothing", None), (b"", None), (gzip.compress(b"", mtime=0), None),
    ],
    "a.xyz": [
        ("", None),
    ],
    "a": [
        ("", None),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "line"), [(name, *case) for name, cases in REFUSED.items() for case in cases]
)
def test_invalid_files_are_refused_with_the_line(tmp_path, name, content, line):
    path = file(tmp_path, name, content)
    with pytest.raises(FileError) as raised:
        read(path)
    assert (raised.value.path, raised.value.line) == (path, line)


SENTENCES = [
    ("a.txt", "0 1\n# c\n0\n", "no target"), ("a.txt", "0 1\n0 1 2\n", "has 3 fields"),
    ("a.txt", "0 1 5\n0 1 -5\n", "weight '-5' is negative"), ("a.txt", "0 1 nan\n", "weight 'nan' is not finite"),
    ("a.txt", "0 1 1e400\n", "is too large"), ("a.txt", "0 1 two\n", "weight 'two' is not a number"),
    ("a.mtx", MTX + "2 2 2\n1 1 5\n", "promises 2 entries, but the file holds 1"),
    ("a.gr", "p sp 2 1\ne 1 2 3\n", "begins with 'e'"), ("a.npz", b"PK\x03\x04", "is damaged, or not an .npz file"),
    ("a.xyz", "", "unknown suffix .xyz"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), SENTENCES)
def test_sentences_about_files_name_the_field(tmp_path, name, content, words):
    with pytest.raises(FileError) as raised:
        read(file(tmp_path, name, content))
    assert words in raised.value.reason


def test_the_first_error_of_a_large_file_is_reported_for_any_threads(tmp_path):
    lines = ["0 1"] * 200_000
    lines[150_000], lines[190_000] = "0 x", "0 y"
    path = file(tmp_path, "a.txt", "\n".join(lines))
    for threads in (1, 3):
        with pytest.raises(FileError, match="150001: target 'x'"):
            read(path, threads=threads)


def test_other_archives_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", vertices=[1])
    with pytest.raises(FileError, match="holds no array named offsets"):
        read(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", offsets=[0, 1], targets=[5])
    with pytest.raises(FileError, match="edge 0: "):
        read(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", offsets=[0], targets=[], static_graph_format=2)
    with pytest.raises(FileError, match="version 2"):
        read(tmp_path / "a.npz")
    with pytest.raises(FileError, match="does not exist"):
        read(tmp_path / "b.npz")
    with pytest.raises(FileError, match="is a folder"):
        read(tmp_path)


def test_a_header_that_does_not_match_is_a_warning(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "static_graph"):
        read(file(tmp_path, "a.txt", "# Nodes: 2 Edges: 5\n0 1\n"))
    assert "promises 5 edges, but holds 1" in caplog.text


# ---- Atomic writing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, suffix):
    graph = CsrGraph.from_edges([0], [1], [3])
    path = write(tmp_path / f"a{suffix}", graph)
    before = path.read_bytes()
    with pytest.raises(FileError, match="exists already"):
        write(path, graph, overwrite=False)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="disk is full"):
        write(path, CsrGraph.from_edges([0] * 99, [1] * 99))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(file, graph):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setitem(formats.FORMATS, "txt", replace(formats.FORMATS["txt"], write=interrupted))
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "a.txt", CsrGraph([0], []))
    assert list(tmp_path.iterdir()) == []


def test_invalid_output_names_are_refused(tmp_path):
    graph = CsrGraph([0], [])
    for path, words in [
        (tmp_path / "a.xyz", "graphs are written as"),
        (tmp_path / "none" / "a.txt", "there is no folder"),
        (tmp_path / "a.txt.gz", "graphs are written as"),
    ]:
        with pytest.raises(FileError, match=words):
            write(path, graph)
    (tmp_path / "b.txt").mkdir()
    with pytest.raises(FileError, match="a folder of that name"):
        write(tmp_path / "b.txt", graph)
    assert issubclass(FileError, DmrError)


# ---- Results ---------------------------------------------------------------------------------------------------------


def test_write_columns_writes_a_table(tmp_path):
    columns = {"node": np.array([0, 1]), "distance": np.array([0.5, np.inf])}
    assert write_columns(tmp_path / "a.csv", columns).read_text() == "node,distance\n0,0.5\n1,inf\n"
    assert np.load(write_columns(tmp_path / "a.npy", columns, "distance")).tolist() == [0.5, np.inf]
    with np.load(write_columns(tmp_path / "a.npz", columns)) as archive:
        assert {name: archive[name].tolist() for name in archive} == {"node": [0, 1], "distance": [0.5, np.inf]}
    names = {"node": np.array(["a,b", 'c"'])}
    assert write_columns(tmp_path / "b.csv", names).read_text() == 'node\n"a,b"\n"c"""\n'
    assert write_columns(tmp_path / "c.csv", {"node": np.empty(0, int)}).read_text() == "node\n"
    with pytest.raises(FileError, match="exists already"):
        write_columns(tmp_path / "a.csv", columns, overwrite=False)
    with pytest.raises(FileError, match=r"written as \.npy"):
        write_columns(tmp_path / "a.txt", columns)
    with pytest.raises(OptionError, match="different lengths"):
        write_columns(tmp_path / "d.csv", {"a": np.zeros(1), "b": np.zeros(2)})
    assert not (tmp_path / "d.csv").exists()
