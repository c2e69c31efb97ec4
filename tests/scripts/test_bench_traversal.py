"""The benchmark of traversals: measurements, comparisons, output and records."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from scripts.bench import traversal as bench_traversal
from static_graph import CsrGraph, Traversal, write

pytestmark = pytest.mark.slow

SMALL = "gtgraph-500-3000"


def test_the_record_holds_every_requested_measurement(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--inputs", SMALL, "--threads", "1", "2", "--repeats", "2", "--commit", "abc", "--json", str(found)]
    assert bench_traversal.main(arguments) == 0
    rows = [json.loads(line) for line in found.read_text().splitlines()]
    assert [(row["searched"], row["threads"]) for row in rows] == [("bfs", 1), ("sssp", 1), ("bfs", 2), ("sssp", 2)]
    for row in rows:
        assert (row["input"], row["nodes"], row["edges"], row["commit"]) == (SMALL, 500, 3000, "abc")
        assert row["same"] is True and len(row["call"]) == len(row["search"]) == len(row["scipy"]) == 2
        assert all(0 < inner <= outer for inner, outer in zip(row["search"], row["call"], strict=True))
        assert 0 < row["reached_edges"] <= 3000 and row["rounds"] > 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(rows) and all("same" in line for line in lines[2:])


def test_several_sources_and_files(tmp_path):
    path, found = tmp_path / "graph.npz", tmp_path / "found.jsonl"
    ring = np.arange(100)
    write(path, CsrGraph.from_edges([*ring, 100, 100], [*(ring + 1) % 100, 101, 101], None, 102))
    arguments = ["--inputs", str(path), "--threads", "1", "--repeats", "1", "--sources", "3", "--delta", "7"]
    assert bench_traversal.main([*arguments, "--json", str(found)]) == 0
    rows = [json.loads(line) for line in found.read_text().splitlines()]
    for row in rows:
        assert len(row["sources"]) == 3 and max(row["sources"]) < 100, "of the largest component"
        assert row["reached_edges"] == pytest.approx(100) and row["same"] is True
    assert bench_traversal.main([*arguments, "--no-scipy"]) == 0


def test_wrong_distances_are_named(monkeypatch, capsys):
    honest = bench_traversal.SEARCHES["bfs"]

    def dishonest(*arguments, **options) -> Traversal:
        found = honest(*arguments, **options)
        distances = found.distances.copy()
        distances[-1] += 1
        return replace(found, distances=distances)

    monkeypatch.setitem(bench_traversal.SEARCHES, "bfs", dishonest)
    assert bench_traversal.main(["--inputs", SMALL, "--threads", "1", "--repeats", "1"]) == 5
    said = capsys.readouterr()
    assert "OTHER" in said.out and f"bfs on {SMALL}, cpu, 1 thread: other distances" in said.err


def test_missing_files_are_refused(capsys):
    assert bench_traversal.main(["--inputs", "missing.txt"]) == 1
    assert "missing.txt" in capsys.readouterr().err
