"""The study of two threads beside a busy program."""

from __future__ import annotations

import json

import pytest

from scripts.study import busy_core

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [(), ("--idle",)])
def test_each_work_is_timed_with_both_numbers_of_threads(options, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(busy_core.os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(busy_core.os, "sched_setaffinity", lambda *_: None)
    for name, value in {"POINTS": 500, "NODES": 300, "EDGES": 1500, "SETTLING": 0.0}.items():
        monkeypatch.setattr(busy_core, name, value)
    path = tmp_path / "records.jsonl"
    works = ["points", "plate", "triangulate", "bfs", "sssp", "pagerank", "strong", "weak"]
    assert busy_core.main(["--only", *works, "--repeats", "1", "--json", str(path), *options]) == 0
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["work"] for record in records] == works
    assert all(record["busy"] == (not options) for record in records)
    assert all(record["one_thread"] > 0 and record["two_threads"] > 0 for record in records)
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(works)


def test_one_core_is_too_few(monkeypatch, capsys):
    monkeypatch.setattr(busy_core.os, "sched_getaffinity", lambda _: {3})
    assert busy_core.main([]) == 4
    assert "two cores" in capsys.readouterr().err
