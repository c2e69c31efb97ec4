"""scripts/bench/validate.py: phases of a validation, and errors."""

from __future__ import annotations

import json
from dataclasses import replace

from dmr.validation import checker
from scripts.bench import validate as bench_validate

SMALL = ["--points", "3000", "--repeats", "1", "--threads", "1", "2"]


def test_phases_and_the_sequential_part(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    assert bench_validate.main([*SMALL, "--json", str(found)]) == 0
    rows = [json.loads(line) for line in found.read_text().splitlines()]
    assert [(row["input"], row["threads"]) for row in rows] == [
        (kind, threads) for kind in ("no input", "with input") for threads in (1, 2)
    ]
    for row in rows:
        seconds = row["seconds"]
        assert 0 < seconds["half-edges"] < seconds["all"]
        assert 0 < seconds["outside pieces"] < seconds["all"]
        assert 0 < seconds["input"] < seconds["all"]
    printed = capsys.readouterr().out
    assert all(f"\n{phase} " in printed for phase in bench_validate.PHASES)
    # Nothing stays replaced.
    assert checker.check_stars.__module__ == "dmr.validation.triangulation.topology"
    assert bench_validate.Workers.map.__qualname__ == "Workers.map"


def test_an_invalid_mesh_is_reported(capsys, monkeypatch):
    made = bench_validate.make_meshes(300, "cpu", 1)
    broken = replace(made[1], triangles=made[1].triangles[:, ::-1])
    monkeypatch.setattr(bench_validate, "make_meshes", lambda *_: (made[0], broken))
    assert bench_validate.main(SMALL) == 5
    assert "no input, 1 threads: orientation" in capsys.readouterr().err
