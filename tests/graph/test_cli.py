"""`python -m static_graph`: info and generate, their errors, exit codes and outputs."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from static_graph import CsrGraph, generate_list, generate_tree, read, write
from static_graph.cli import main
from static_graph.cli.parsing.program import build_parser
from static_graph.cli.parsing.shared import ARRAY_FORMATS, GRAPH_FORMATS
from static_graph.io import arrays, formats, read_array
from tests.support.paths import ROOT


def run(capsys, *words):
    """The exit code, stdout and stderr of a command."""
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def process(*words, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "static_graph", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, **more)


@pytest.fixture
def graph_file(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("10 20 3\n10 30 4\n10 10 5\n30 20 0\n")
    return path


def test_info_as_text(graph_file, capsys):
    code, out, err = run(capsys, "info", graph_file, "--mda", "2")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert lines[0] == [str(graph_file)]
    for line in (
        "nodes 3 (their ids have gaps)",
        "edges 4",
        "weights int32, 0 to 5",
        "self loops 1",
        "isolated nodes 0",
        "automatic MDA 1",
        "split at MDA 2 4 nodes, 1 of them extra",
        "out-degree 0 1.333 3 10 1.556 1",
        "in-degree 1 1.333 2 20 0.2222 0",
        "nodes by out-degree (bars: logarithmic)",
    ):
        assert line.split() in lines


def test_info_as_json(graph_file, capsys):
    code, out, _ = run(capsys, "info", graph_file, "--json", "--mda", "auto")
    found = json.loads(out)
    assert code == 0
    assert (found["nodes"], found["edges"], found["self_loops"], found["labels"]) == (3, 4, 1, True)
    assert found["weights"] == {"dtype": "int32", "minimum": 0, "maximum": 5}
    assert found["out_degree"]["largest"] == 10 and found["out_degree"]["maximum"] == 3
    assert found["histogram"] == [1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert found["split"] == {"mda": 1, "nodes": 5, "extra_nodes": 2}


@pytest.mark.parametrize("graph", [CsrGraph([0], []), CsrGraph([0, 0], []), CsrGraph([0, 0], [], np.empty(0))])
def test_info_of_empty_and_tiny_graphs(graph, tmp_path, capsys):
    write(tmp_path / "g.npz", graph)
    for more in ([], ["--json"], ["--mda", "auto"]):
        code, out, err = run(capsys, "info", tmp_path / "g.npz", *more)
        assert (code, err) == (0, "")
        assert "node -1" not in out and "up to" not in out and "None" not in out
    assert json.loads(run(capsys, "info", tmp_path / "g.npz", "--json")[1])["out_degree"]["largest"] in (None, 0)


class Stdin:
    """The standard input of a command, with given bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("format", formats.FORMATS)
def test_graphs_from_stdin(format, packed, tmp_path, capsys, monkeypatch):
    graph = CsrGraph.from_edges([0, 1, 1, 2], [1, 0, 2, 1], [4, 4, 5, 5])
    content = write(tmp_path / "graph", graph, format=format).read_bytes()
    if packed and formats.FORMATS[format].packed:
        content = gzip.compress(content)
    for command in (["info"], ["sssp", "--source", "1"]):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        code, out, err = run(capsys, command[0], "-", *command[1:], "--format", format, "--json")
        assert (code, err) == (0, "") and (json.loads(out)["nodes"], json.loads(out)["edges"]) == (3, 4)
    assert run(capsys, "info", tmp_path / "graph", "--format", format)[0] == 0


def test_a_closed_stdin_is_named(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for command in ("pagerank", "components", "info"):
        assert main([command, "-", "--format", "txt"]) == 1
        assert "<stdin>: is closed" in capsys.readouterr().err


def test_stdin_is_refused_without_a_format_and_names_its_lines(capsys, monkeypatch):
    for content, words, said in (
        (
            b"0 1\n",
            [],
            "<stream>: the name has no suffix that says what it is, and no format is given; graphs are read",
        ),
        (b"0 1\n0 x\n", ["--format", "txt"], "<stream>:2: target 'x' is not a whole number"),
        (b"", ["--format", "txt"], "<stream>: is empty"),
        (b"", ["--format", "npz"], "<stream>: is empty"),
    ):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        code, out, err = run(capsys, "info", "-", *words)
        assert (code, out) == (1, "") and err.startswith(f"static_graph: error: {said}"), err
    assert run(capsys, "info", "-", "--format", "xyz")[0] == 2


@pytest.mark.slow
def test_a_pipe_into_a_command(tmp_path):
    done = process("rank", "-", "--format", "txt", "--json", "--device", "cpu", input="1\n2\n-1\n")
    assert done.returncode == 0 and json.loads(done.stdout)["longest"] == 3
    done = process("tree", "-", "--format", "csv", input="0,0,7\n")
    assert done.returncode == 1 and "<stdin>:1: has 3 entries" in done.stderr
    done = process("rank", "-", "--values", "-", "--format", "txt", input="")
    assert done.returncode == 2 and "LIST and --values cannot both be read from stdin" in done.stderr


def test_generate_writes_the_named_format(tmp_path, capsys):
    assert run(capsys, "generate", "rmat", 10, 20, "-o", tmp_path / "graph", "--format", "mtx")[0] == 0
    assert (tmp_path / "graph").read_bytes().startswith(b"%%MatrixMarket")
    assert (
        run(capsys, "generate", "list", 4, "-o", tmp_path / "list.dat", "--format", "txt", "--order", "ordered")[0] == 0
    )
    assert (tmp_path / "list.dat").read_text() == "1\n2\n3\n-1\n"
    code, _, err = run(capsys, "generate", "list", 4, "-o", tmp_path / "list.npy", "--format", "mtx")
    assert code == 2 and "format must be one of npy, txt, csv, not 'mtx'" in err


@pytest.mark.slow
def test_info_draws_degrees(graph_file, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "a.png"
    assert run(capsys, "info", graph_file, "--plot", picture, "--mda", "2")[0] == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    code, out, err = run(capsys, "info", graph_file, "--plot", picture)
    assert (code, out) == (2, "") and "a.png exists; -f overwrites it" in err
    assert run(capsys, "info", graph_file, "--plot", picture, "-f")[0] == 0


def test_generate_rmat(tmp_path, capsys):
    out = tmp_path / "r.gr"
    words = ("generate", "rmat", "1e3", "8_000", "-o", out, "--preset", "thesis", "--weights", "100", "--seed", "7")
    code, text, err = run(capsys, *words, "--device", "cpu", "--threads", "2", "--json")
    found = json.loads(text)
    assert code == 0 and f"wrote {out}" in err
    assert (found["nodes"], found["edges"], found["preset"], found["seed"]) == (1000, 8000, "thesis", 7)
    graph = read(out)
    assert (graph.nodes, graph.edges, int(graph.weights.max())) == (1000, 8000, 100)
    before = out.read_bytes()
    code, _, err = run(capsys, *words)
    assert code == 2 and "r.gr exists; -f overwrites it" in err and out.read_bytes() == before
    code, text, err = run(capsys, *words, "-f", "--quiet")
    assert (code, text, err) == (0, "", "") and out.read_bytes() == before


def test_generate_random_with_options(tmp_path, capsys):
    out = tmp_path / "r.npz"
    code, _, _ = run(capsys, "generate", "random", 50, 4000, "-o", out, "--no-self-loops", "--no-duplicates")
    graph = read(out)
    assert code == 0 and graph.nodes == 50 and 1500 < graph.edges < 50 * 49
    assert (graph.sources() != graph.targets).all()
    assert len(set(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))) == graph.edges


def test_generate_lists_and_trees(tmp_path, capsys):
    assert (tuple(formats.FORMATS), arrays.FORMATS) == (GRAPH_FORMATS, ARRAY_FORMATS)
    for suffix in (".npy", ".txt", ".csv"):
        out = tmp_path / f"list{suffix}"
        words = ("list", 1000, "--lists", 3, "--order", "random-balanced", "--interval", 8, "--seed", 5)
        code, text, err = run(capsys, "generate", *words, "-o", out, "--device", "cpu", "--json")
        told = json.loads(text)
        assert (code, told["kind"], told["elements"], told["lists"], told["seed"]) == (0, "list", 1000, 3, 5)
        assert "1,000 elements of 3 lists in " in err
        expected = generate_list("random-balanced", 1000, lists=3, interval=8, seed=5, device="cpu")
        assert np.array_equal(read_array(out), expected)
        assert json.loads(run(capsys, "rank", out, "--json")[1])["lists"] == 3
        out = tmp_path / f"tree{suffix}"
        assert run(capsys, "generate", "tree", 1000, "--shape", "star", "--no-shuffle", "-o", out, "--quiet")[0] == 0
        assert json.loads(run(capsys, "tree", out, "--json")[1])["roots"] == [0]
    out = tmp_path / "large.txt"
    assert run(capsys, "generate", "tree", "1e5", "-o", out)[0] == 0
    assert np.array_equal(read_array(out), generate_tree("random-binary", 100_000))


def test_generate_with_given_probabilities(tmp_path, capsys):
    out = tmp_path / "r.npz"
    words = ("--probabilities", 0, 0, 0, 1, "--noise", 0, "--halving", "even", "--permute")
    assert run(capsys, "generate", "rmat", 8, 100, "-o", out, *words)[0] == 0
    graph = read(out)
    assert graph.out_degrees.max() == 100 and (graph.sources() == graph.targets).all()


# Command lines by exit code, each with what the error must name.
ERRORS = {
    1: {
        "info empty.txt": "empty.txt",
        "info none.txt": "none.txt",
        "info bad.txt": "bad.txt:2",
        "generate rmat 10 10 -o none/a.npz": "folder none",
    },
    2: {
        "info": "GRAPH",
        "info ''": "GRAPH",
        "bfs '' --source 0": "GRAPH",
        "rank ''": "LIST",
        "tree ' '": "FOREST",
        "info bad.txt --plot a.jpg": ".png",
        "info bad.txt --plot ''": "--plot",
        "info bad.txt --mda 0": "'0'",
        "rank list.txt --values ''": "--values",
        "generate rmat 10 10 -o ''": "--output",
        "generate rmat 10 10 -o a.xyz": ".xyz",
        "generate rmat 10 ten -o a.npz": "'ten'",
        "generate rmat 10 10 -o a.npz --device tpu": "'tpu'",
        "generate rmat 10 10 -o a.npz --noise 3": "noise",
        "generate rmat 1e10 10 -o a.npz": "10000000000",
        "generate rmat 0 10 -o a.npz": "not 0",
        "generate random 10 10 -o a.npz --preset thesis": "--preset",
        "generate star 10 10 -o a.npz": "'star'",
        "generate rmat 10 10": "--output",
        "generate rmat 10 -o a.npz": "M",
        "generate list 10 10 -o a.npy": "M",
        "generate list 0 -o a.npy": "element",
        "generate list 10 --lists 11 -o a.npy": "lists",
        "generate list 10 --shape star -o a.npy": "--shape",
        "generate list 10 -o a.npz": ".npy",
        "generate tree 10 --no-self-loops -o a.npy": "--no-self-loops",
        "generate tree 10 --device cuda -o a.npy": "CPU",
        "generate tree 0 -o a.npy": "not 0",
    },
    4: {"generate rmat 10 10 -o a.npz --device cuda:99": ""},
}


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [(words, code, named) for code, cases in ERRORS.items() for words, named in cases.items()],
)
def test_errors_are_one_sentence_and_a_code(words, code, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("bad.txt").write_text("0 1\n1 x\n")
    Path("empty.txt").touch()
    found, out, err = run(capsys, *shlex.split(words))
    assert (found, out) == (code, "")
    assert err.startswith("static_graph: error: ") and named in err and err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "empty.txt"]


def test_without_arguments_the_help_is_an_error(capsys):
    code, out, err = run(capsys)
    assert (code, out) == (2, "") and err.startswith("examples:")


def test_warnings_are_printed_unless_quiet(tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text("# Nodes: 2 Edges: 7\n0 1\n")
    assert "static_graph: warning: " in run(capsys, "info", path)[2]
    assert run(capsys, "info", path, "--quiet")[2] == ""


def test_an_internal_error_exits_with_5(graph_file, monkeypatch, capsys):
    monkeypatch.setattr("static_graph.cli.info.describe", lambda *_: 1 / 0)
    code, _, err = run(capsys, "info", graph_file)
    assert code == 5 and "internal error (ZeroDivisionError" in err and "Traceback" not in err
    assert "Traceback" in run(capsys, "info", graph_file, "-v")[2]


def test_an_interrupt_exits_with_130(graph_file, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("static_graph.cli.info.describe", interrupted)
    assert run(capsys, "info", graph_file)[::2] == (130, "static_graph: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_command_and_leaves_nothing_half_written(number, code, tmp_path):
    program = f"""
import dataclasses, os, sys, time
from static_graph.cli import main
from static_graph.io import formats
def write_half(file, graph):
    file.write(b"half")
    os.kill(os.getpid(), {int(number)})
    time.sleep(60)
formats.FORMATS["txt"] = dataclasses.replace(formats.FORMATS["txt"], write=write_half)
sys.argv[1:] = ["generate", "random", "10", "20", "-o", "out.txt"]
sys.exit(main())
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=60)
    said = "terminated" if number == signal.SIGTERM else "interrupted"
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"static_graph: {said}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("redirected", "code"), [("info g.txt >&-", 0), ("info g.txt 2>&-", 0), ("info none.txt >&- 2>&-", 1)]
)
def test_a_closed_stream_is_not_an_error(redirected, code, graph_file):
    command = f"{sys.executable} -m static_graph {redirected}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=graph_file.parent, capture_output=True, text=True, env=environment, timeout=60
    )
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith("g.txt\n") == (redirected == "info g.txt 2>&-")


def test_help_begins_with_examples():
    parser = build_parser()
    assert parser.format_help().startswith("examples:\n  python -m static_graph ")
    done = process("generate", "--help")
    assert done.returncode == 0 and done.stdout.startswith("examples:") and done.stderr == ""


@pytest.mark.slow
def test_the_command_as_a_process(graph_file, tmp_path):
    done = process("info", graph_file, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["nodes"] == 3
    assert process("--version").stdout.startswith("static_graph ")
    assert process("info", "none.txt", cwd=tmp_path).returncode == 1


def test_a_closed_pipe_is_not_an_error(graph_file):
    command = f"{sys.executable} -m static_graph info {graph_file} | true"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_heavy_is_imported_for_help():
    program = (
        "import sys, static_graph.cli; static_graph.cli.main(['--help']);"
        "print({'numpy', 'scipy', 'networkx', 'matplotlib', 'meshio'} & set(sys.modules), file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stderr == "set()\n"


def test_only_the_memory_layer_and_the_common_modules_of_dmr_are_imported():
    for source in (ROOT / "static_graph").rglob("*.py"):
        lines = [line.split() for line in source.read_text(encoding="utf-8").splitlines()]
        names = {words[1] for words in lines if len(words) > 1 and words[0] in ("import", "from")}
        foreign = {
            name for name in names if name.split(".")[0] == "dmr" and not re.match(r"dmr\.(memory|common)\b", name)
        }
        assert not foreign, source
        if "cli" not in source.parts and source.name != "__main__.py":
            assert not {name for name in names if name.startswith("static_graph.cli")}, source
