"""Public functions of static_graph raise only its own errors, whatever their arguments and files."""

from __future__ import annotations

import gzip
import inspect
import io
import logging
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import static_graph as sg
from static_graph.errors import DmrError, InternalError
from static_graph.io import read_array

networkx = pytest.importorskip("networkx")
sparse = pytest.importorskip("scipy.sparse")

GRAPH = sg.CsrGraph.from_edges([0, 0, 1, 3], [1, 2, 2, 0], [5, 9, 3, 0], nodes=5)
PLAIN = sg.CsrGraph([0, 2, 2], [1, 0])
REAL = sg.CsrGraph([0, 2, 2], [1, 0], [0.5, 2.0], ["a", "b"])
NAMED = sg.CsrGraph.from_networkx(networkx.grid_2d_graph(2, 2))
TREE = sg.euler_tour([-1, 0, 0, 1, -1], device="cpu", threads=1)
FOUND = sg.bfs(GRAPH, 0, parents=True, device="cpu", threads=1)
UPLOADED = sg.upload(GRAPH, "cpu", 1)
RANKED = sg.rank_in_detail([1, -1, 0], device="cpu", threads=1)


class Whole(int):
    """A subclass of int."""


class Text(str):
    """A subclass of str."""


class Hostile:
    """An object whose every protocol fails."""

    def _fail(self, *_):
        raise ZeroDivisionError("hostile")

    __index__ = __float__ = __len__ = __iter__ = __array__ = __fspath__ = __bool__ = __hash__ = __repr__ = _fail


def odd_networkx():
    graph = networkx.MultiDiGraph()
    graph.add_edge((0, 1), "a", weight=float("nan"))
    graph.add_edge(frozenset([1]), "a\0", weight=10**400)
    return graph


ODD = [
    *(None, True, False, float("nan"), float("inf"), -float("inf"), -1, 0, 1, 2, 3, 7, 0.5, 1e300, 1j, 2**31, 2**63),
    *(2**64, -(2**63) - 1, 10**400, -(10**5000), Whole(1), np.int8(1), np.uint64(2**63), np.float32(1), np.bool_(True)),
    *(
        "",
        "a",
        "cpu",
        "auto",
        "cuda",
        "cuda:99",
        "cuda:x",
        "cpu\0",
        "\x1b[31m",
        Text("random"),
        b"",
        b"\1",
        bytearray(2),
    ),
    *((), [], {}, set(), [1, -1], [[0, 1]], [0, [1]], [None], ["a"], [10**400], [0.5], range(3), {0: 1}, iter([0])),
    *(object(), Hostile(), int, len, Ellipsis, NotImplemented, slice(1), np.ma.masked, np.random.default_rng(0)),
    *(
        GRAPH,
        PLAIN,
        REAL,
        NAMED,
        TREE,
        FOUND,
        UPLOADED,
        RANKED,
        Path("none"),
        np.datetime64("2026-01-01"),
        memoryview(b"ab"),
    ),
    *(
        sparse.csr_array((2, 2)),
        sparse.coo_array(np.eye(2)),
        sparse.dok_matrix((2, 3), dtype=complex),
    ),
    *(sparse.csr_array(np.eye(3, dtype=bool)), sparse.lil_array(-np.eye(2)), networkx.path_graph(3)),
    *(
        sparse.csc_matrix(np.eye(2, dtype=np.longdouble)),
        odd_networkx(),
        networkx.DiGraph([((), "x"), (1.5, ())]),
    ),
]
ARRAYS = [
    *(
        np.array(1),
        np.array(0.5),
        np.array("a"),
        np.array(None),
        np.zeros((2, 2, 2), int),
        np.zeros((0, 2)),
        np.zeros(0),
    ),
    *(np.matrix([[0, 1]]), np.ma.masked_array([0, 1], [False, True]), np.ma.masked_array([1, -1]), np.arange(8)[::-2]),
    *(np.array([1, -1], ">i8"), np.array([1, -1], np.int8), np.array([1, 2**63], np.uint64), np.array([0, np.nan])),
    *(np.array([1, -1], object), np.array([(0, 1)], "i4,i4"), np.array([1, -1], "m8[s]"), np.array([b"a", b"b"])),
    *(np.array(["a", "b"]), np.array([True, False]), np.array([1e300, np.inf], np.longdouble), np.array([1j, 0])),
    *(np.broadcast_to(np.int32(-1), (3,)), np.frombuffer(b"\0" * 8, np.int32), np.array([[0, 1], [1, 2]], np.uint8)),
    *(
        np.array([-1, 0, 0, 5]),
        np.array([[0, 1], [1, 0]]),
        np.array([[0, -1]]),
        np.array([[0, 2**40]]),
        np.array([10**400]),
    ),
    *(np.array([2**31 - 2]), np.asfortranarray(np.array([[0, 1], [2, 1]])), np.array([0.5, 1], np.float16)),
]
anything = st.one_of(
    st.integers(0, len(ODD) - 1).map(lambda k: ODD[k]),  # by number, since hypothesis cannot write all of them
    st.integers(0, len(ARRAYS) - 1).map(lambda k: ARRAYS[k]),
    st.lists(st.integers(-2, 5), max_size=6),
    st.lists(st.integers(-2, 5), max_size=6).map(lambda values: np.array(values, np.int32)),
    st.integers(-3, 2**70),
    st.floats(),
    st.text(max_size=3),
)
# Values that pass the first checks of the functions.
LIKELY = {
    "graph": [GRAPH, PLAIN, REAL, NAMED, UPLOADED],
    "device": ["cpu"],
    "threads": [1, 2, None],
    "source": [0, [0, 1], np.array(1)],
    "balance": ["auto", "none", "split", "warp", "child-launch", "collapse-local", "collapse-global", "hierarchical"],
    "method": ["auto", "wyllie", "helman-jaja", "sequential"],
    "kind": ["random", "ordered-unbalanced", "path", "star", "random-binary"],
    "preset": ["gtgraph", "graph500"],
    "nodes": [None, 1, 5, 9],
    "edges": [0, 4, 20],
    "size": [0, 1, 9],
    "offsets": [[0], [0, 1, 2], np.array([0, 2, 2])],
    "targets": [[], [1, 0]],
    "sources": [[], [1, 0]],
    "weights": [None, [1, 2], [0.5, 0.0]],
    "labels": [None, ["a", "b"], [(0, 1), (1, 0)], [3, 7]],
    "successors": [[1, -1], [1, 2, 2], []],
    "parents_or_edges": [[-1, 0, 0], [[0, 1], [1, 2]]],
    "parents": [True, False, [-1, 0, 0]],
    "degrees": [[1, 2, 0]],
    "matrix": [sparse.csr_array(np.eye(2))],
    "seed": [0, 2**64 - 1],
    "largest": [1, 100],
}
# Chosen by hand, because of the cost of a function or the files that it writes.
LEFT_OUT = {"__version__", "plot_degrees", "read", "write"}


def functions():
    """Every public function and method, by name."""
    found = {}
    for name in sg.__all__:
        item = getattr(sg, name)
        if name in LEFT_OUT or (inspect.isclass(item) and issubclass(item, Exception)):
            continue
        found[name] = item
        if inspect.isclass(item):
            for method in vars(item):
                if not method.startswith("_") and isinstance(inspect.getattr_static(item, method), classmethod):
                    found[f"{name}.{method}"] = getattr(item, method)
    objects = [("GRAPH", GRAPH), ("REAL", REAL), ("NAMED", NAMED), ("TREE", TREE), ("FOUND", FOUND)]
    for called, item in objects:
        for method, _ in inspect.getmembers(type(item), inspect.isfunction):
            if not method.startswith("_"):
                found[f"{called}.{method}"] = getattr(item, method)
    return {name: function for name, function in found.items() if not name.endswith(".found")}


FUNCTIONS = functions()


def one_error_of_ours(call, *arguments, **options):
    """Calls a function, which must return or raise one of the package's errors, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return call(*arguments, **options)
        except InternalError:
            raise
        except (DmrError, MemoryError):
            return None


@st.composite
def calls(draw, names):
    name = draw(st.sampled_from(names))
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    given_names = [p.name for p in parameters if p.default is p.empty or draw(st.integers(0, 5)) == 0]
    odd = set(draw(st.lists(st.sampled_from(given_names), max_size=2, unique=True))) if given_names else set()
    arguments = {}
    for parameter in given_names:
        likely = LIKELY.get(parameter)
        plain = st.sampled_from(likely) if likely and parameter not in odd else anything
        arguments[parameter] = draw(plain)
    if "device" in inspect.signature(FUNCTIONS[name]).parameters:
        arguments.setdefault("device", "cpu")
    return name, arguments


def too_large(arguments):
    """Whether a valid call would take long because of a size of millions."""
    sizes = (arguments.get(name) for name in ("nodes", "edges", "size"))
    return any(isinstance(size, (int, np.integer)) and 10**5 < size < 2**64 for size in sizes)


def check_call(case):
    name, arguments = case
    if too_large(arguments):
        return
    one_error_of_ours(FUNCTIONS[name], **arguments)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Some values name files that functions then write."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@seed(18)
@settings(max_examples=200, database=None, suppress_health_check=list(HealthCheck))
@given(calls(sorted(FUNCTIONS)))
def test_any_arguments_raise_only_own_errors(case):
    check_call(case)


@pytest.mark.large
@settings(max_examples=20000, database=None, suppress_health_check=list(HealthCheck))
@given(calls(sorted(FUNCTIONS)))
def test_many_arguments_raise_only_own_errors(case):
    check_call(case)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_odd_value_for_every_argument_raises_only_own_errors(name):
    """Every value for every argument, with usual values for the others."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    usual = {p.name: LIKELY.get(p.name, [1])[0] for p in parameters if p.default is p.empty}
    if any(p.name == "device" for p in parameters):
        usual["device"] = "cpu"
    for parameter in parameters:
        for value in [*ODD, *ARRAYS]:
            arguments = {**usual, parameter.name: value}
            if not too_large(arguments):
                one_error_of_ours(FUNCTIONS[name], **arguments)


@pytest.mark.parametrize(
    "call", [sg.read, read_array, lambda p: sg.write(p, GRAPH), lambda p: sg.plot_degrees(GRAPH, p)]
)
def test_any_path_raises_only_own_errors(call):
    for value in [*ODD, *ARRAYS, "a" * 300, "a" * 5000 + ".npz", "no/such.npz", "x\ud800.npz", "\0.npz"]:
        one_error_of_ours(call, value)


def test_any_graph_and_option_of_write_raise_only_own_errors(tmp_path):
    for value in [*ODD, *ARRAYS]:
        one_error_of_ours(sg.write, tmp_path / "a.npz", value)
        one_error_of_ours(sg.write, tmp_path / "a.npz", GRAPH, overwrite=value)
        one_error_of_ours(sg.read, tmp_path / "a.npz", threads=value)
        one_error_of_ours(sg.plot_degrees, GRAPH, tmp_path / "a.bmp", overwrite=value)


GRAPHS = (GRAPH, PLAIN, REAL, sg.CsrGraph([0], []))
READ = (".npz", ".txt", ".csv", ".mtx", ".gr", ".graph", ".graphml", ".parquet", ".tsv", ".txt.gz", ".npy")


def contents(folder: Path) -> list[tuple[str, bytes]]:
    """Valid files, by suffix."""
    found = []
    for k, graph in enumerate(GRAPHS):
        for suffix in (".npz", ".txt", ".csv", ".mtx", ".gr", ".graph", ".graphml", ".parquet"):
            try:
                data = sg.write(folder / f"{k}{suffix}", graph).read_bytes()
            except DmrError:  # labels that no text can hold
                continue
            found.append((suffix, data))
            if suffix == ".txt":
                found += [(".txt.gz", gzip.compress(data, mtime=0)), (".tsv", data)]
    sparse.save_npz(folder / "s.npz", sparse.csr_array(np.eye(3)))
    packed = io.BytesIO()
    np.save(packed, np.array([[1, 2], [3, 4]]))
    found += [(".npz", (folder / "s.npz").read_bytes()), (".npy", packed.getvalue())]
    found += [(".csv", b'"target","weight","source"\n"0","1.5","1"\n'), (".txt", b"5\t9\n9\t4000000000\n")]
    return found


JUNK = [
    b"\0",
    b"\xff",
    b"-",
    b"9" * 30,
    b"9" * 5000,
    b"\n",
    b",",
    b'"',
    b"#",
    b"%",
    b" ",
    b"nan",
    b"inf",
    b"1e999",
    b"\x1b[",
]


@st.composite
def damaged(draw, valid):
    suffix, data = draw(st.sampled_from(valid))
    data = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 4)):
            case 0:
                del data[at:]
            case 1:
                data[at:at] = draw(st.sampled_from(JUNK))
            case 2:
                del data[at : at + draw(st.integers(1, 30))]
            case 3:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 4:
                data[at : at + 8] = draw(st.binary(min_size=8, max_size=8))
    return draw(st.sampled_from([suffix] * 5 + list(READ))), bytes(data)


def check_file(folder, suffix, data):
    path = folder / f"damaged{suffix}"
    path.write_bytes(data)
    one_error_of_ours(sg.read, path, threads=1)
    if suffix in (".npy", ".txt", ".csv"):
        one_error_of_ours(read_array, path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    logging.getLogger("static_graph").setLevel(logging.ERROR)
    return tmp_path_factory.mktemp("fuzz")


@seed(18)
@settings(max_examples=125, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_files_raise_only_own_errors(folder, data):
    check_file(folder, *data.draw(damaged(contents_once(folder))))


@pytest.mark.large
@settings(max_examples=20000, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_many_damaged_files_raise_only_own_errors(folder, data):
    check_file(folder, *data.draw(damaged(contents_once(folder))))


_CONTENTS = []


def contents_once(folder):
    if not _CONTENTS:
        _CONTENTS.extend(contents(folder))
    return _CONTENTS
