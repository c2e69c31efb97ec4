"""The commands `rank` and `tree`, and the arrays that they read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from static_graph import euler_tour, generate_list, generate_tree, rank
from static_graph.cli import main
from static_graph.io import read_array
from static_graph.lists.methods.table import NAMES, RULES


def run(capsys, *words):
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


@pytest.fixture
def list_file(tmp_path):
    np.save(tmp_path / "list.npy", generate_list("random", 1000, lists=3, device="cpu"))
    return tmp_path / "list.npy"


def test_rank_writes_ranks(list_file, tmp_path, capsys):
    values = np.arange(1000) - 500
    (tmp_path / "values.txt").write_text("\n".join(map(str, values)))
    ranks, sums = rank(np.load(list_file), values=values, device="cpu")
    out = tmp_path / "ranks.npy"
    code, text, err = run(capsys, "rank", list_file, "-o", out, "--device", "cpu")
    assert code == 0 and f"wrote {out}" in err and np.array_equal(np.load(out), ranks)
    lines = [line.split() for line in text.splitlines()]
    assert ["elements", "1,000"] in lines and ["lists", "3"] in lines and ["longest", "334"] in lines
    code, text, err = run(capsys, "rank", list_file, "-o", out)
    assert (code, text) == (2, "") and f"{out} exists; -f overwrites it" in err
    table = tmp_path / "sums.csv"
    assert run(capsys, "rank", list_file, "-o", table, "--values", tmp_path / "values.txt", "--quiet")[0] == 0
    rows = np.loadtxt(table, delimiter=",", skiprows=1, dtype=np.int64)
    assert table.read_text().startswith("element,rank,sum\n")
    assert np.array_equal(rows, np.column_stack([np.arange(1000), ranks, sums]))


def test_rank_by_every_method(list_file, capsys):
    for method in NAMES:
        code, text, _ = run(capsys, "rank", list_file, "--method", method, "--json")
        found = json.loads(text)
        assert code == 0 and (found["elements"], found["lists"], found["longest"]) == (1000, 3, 334)
        assert found["method"] == method or method == "auto"
    words = ("--method", "helman-jaja", "--splitters", RULES[1], "--spacing", "equal", "--finish", "wyllie")
    code, text, _ = run(capsys, "rank", list_file, *words, "--finish-size", 4, "--json")
    assert code == 0 and json.loads(text)["figures"]["levels"] >= 1
    code, text, _ = run(capsys, "rank", list_file, "--method", "wyllie", "--packing", 32, "--json")
    assert code == 0 and json.loads(text)["figures"]["rounds"] >= 2


def test_tree_writes_its_arrays(tmp_path, capsys):
    parents = generate_tree("random-binary", 500)
    np.save(tmp_path / "parents.npy", parents)
    tree = euler_tour(parents, device="cpu")
    out = tmp_path / "tree.csv"
    code, _, _ = run(capsys, "tree", tmp_path / "parents.npy", "--subtree", "--level", "-o", out)
    assert code == 0 and out.read_text().startswith("node,subtree,level\n")
    rows = np.loadtxt(out, delimiter=",", skiprows=1, dtype=np.int64)
    assert np.array_equal(rows, np.column_stack([np.arange(500), tree.subtree_size, tree.level]))
    out = tmp_path / "tree.npz"
    code, text, _ = run(capsys, "tree", tmp_path / "parents.npy", "-o", out, "--lca", 3, 9, "--json")
    found, arrays = json.loads(text), np.load(out)
    assert code == 0 and found["lca"] == tree.lca([3], [9])[0] and found["height"] == tree.level.max()
    assert found["leaves"] == np.count_nonzero(np.bincount(parents[parents >= 0], minlength=500) == 0)
    assert set(arrays) == {"node", "parent", "subtree", "preorder", "postorder", "level"}
    assert np.array_equal(arrays["postorder"], tree.postorder)


def test_tree_from_edges(tmp_path, capsys):
    (tmp_path / "edges.txt").write_text("# a forest\n0 1\n\n1, 2\n4 3\n")
    code, text, _ = run(capsys, "tree", tmp_path / "edges.txt", "--root", 2, 4, "--nodes", 6, "--lca", 0, 3)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert code == 0 and {"nodes 6", "trees 3", "roots 2, 4, 5", "height 2", "lowest common ancestor none"} <= set(
        lines
    )


# Command lines by exit code, each with what the error must name.
ERRORS = {
    1: {
        "rank none.npy": "none.npy",
        "rank empty.txt": "empty.txt",
        "rank blank.txt": "blank.txt",
        "rank list.txt --values empty.txt": "empty.txt",
        "tree nothing.npy": "nothing.npy",
        "tree hollow.npy": "hollow.npy",
        "rank list.bin": "list.bin",
        "rank bad.txt": "bad.txt:2",
        "rank three.txt": "three.txt:1",
        "rank ragged.txt": "ragged.txt:3",
        "rank large.txt": "large.txt:1",
        "rank real.npy": "real.npy",
        "rank text.npy": "text.npy",
        "rank cycle.txt": "cycle.txt: element 0",
        "rank pairs.txt": "pairs.txt: successors",
        "tree pairs.txt --nodes 4": "pairs.txt: edge 1",
        "rank list.txt --values three.npy": "values",
        "tree cycle.txt": "cycle.txt: node 0",
        "tree list.txt --root 9": "list.txt: 9",
        "tree list.txt --lca 0 9": "pair 0: 0 and 9",
    },
    2: {
        "rank list.txt -o a.txt": "a.txt",
        "rank list.txt --packing 64": "packing",
        "rank list.txt --method fast": "'fast'",
        "rank list.txt --splitters few": "'few'",
        "tree list.txt --nodes 2": "nodes",
    },
}


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [(words, code, named) for code, cases in ERRORS.items() for words, named in cases.items()],
)
def test_errors_are_one_sentence_and_a_code(words, code, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "bad.txt": "0\nx\n",
        "three.txt": "1 2 3\n",
        "ragged.txt": "1 2\n3 4\n5\n",
        "large.txt": "9999999999999999999\n",
        "text.npy": "hello",
        "cycle.txt": "1\n0\n",
        "list.txt": "1\n-1\n",
        "pairs.txt": "0 1\n4 3\n",
        "list.bin": "",
        "empty.txt": "",
        "blank.txt": "\n# nothing\n",
        "hollow.npy": "",
    }.items():
        Path(name).write_text(text)
    np.save("nothing.npy", [])
    np.save("real.npy", np.zeros(3))
    np.save("three.npy", np.zeros(3, int))
    before = sorted(tmp_path.iterdir())
    found, out, err = run(capsys, *words.split())
    assert (found, out) == (code, "")
    assert err.startswith("static_graph: error: ") and named in err and err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_arrays_from_text_files(tmp_path):
    path = tmp_path / "a.txt"
    for text, expected in (
        ("3\n-1\n", [3, -1]),
        ("% c\n 1,2 \r\n\r\n3\t4\n", [[1, 2], [3, 4]]),
    ):
        path.write_text(text)
        assert read_array(path).tolist() == expected
