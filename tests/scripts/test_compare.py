"""The scripts that compare with Triangle: guarded calls, seeded domains, and a folder of files."""

from __future__ import annotations

import json
import math
import os
import time

import numpy as np
import pytest

import dmr
from dmr.mesh.shapes import triangle_areas

pytest.importorskip("triangle")

from scripts.compare import hard_meshes as compare_hard_meshes
from scripts.compare import optimization as compare_optimization
from scripts.compare import sizes as compare_sizes
from scripts.lib.guarded import Guarded
from scripts.lib.random_domains import FAMILIES, domain

pytestmark = pytest.mark.slow


def test_crashes_and_exceptions_cost_one_call():
    with Guarded(os._exit, 60) as leave:
        assert [leave(code).failure for code in (3, 4)] == ["exit code 3", "exit code 4"]
    with Guarded(os.abort, 60) as abort:
        assert abort().failure == "SIGABRT"
    with Guarded(math.sqrt, 60) as root:
        assert root(-1.0).failure.startswith("error: ValueError")
        assert root(49.0).value == 7


def test_hanging_calls_are_ended():
    with Guarded(time.sleep, 0.3) as sleep:
        assert sleep(0.0).failure == ""
        assert sleep(60.0).failure == "TIMEOUT"
        assert sleep(0.0).failure == ""


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [5, 60])
def test_domains_are_valid_and_seeded(family, n):
    pslg = domain(family, n, 1)
    assert np.array_equal(pslg.vertices, domain(family, n, 1).vertices)
    assert not np.array_equal(pslg.vertices, domain(family, n, 2).vertices)
    mesh = dmr.triangulate(pslg, on_conflict="error")
    assert 3 <= len(mesh.vertices) <= 4 * n + 20
    assert triangle_areas(mesh).sum() > 0


@pytest.mark.large
def test_sizes_of_a_few_domains(tmp_path, capsys):
    found = tmp_path / "sizes.jsonl"
    arguments = ["--families", "plates", "--sizes", "20", "--seeds", "1", "--angles", "20", "--validate"]
    assert compare_sizes.main([*arguments, "--json", str(found), "--save", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in found.read_text().splitlines()]
    assert [row["case"]["max_area"] is None for row in rows] == [True, False]
    assert all(row["size"] == row["ours"]["triangles"] / row["triangle"]["triangles"] for row in rows)
    assert isinstance(dmr.read(tmp_path / "plates-20-0.poly"), dmr.Pslg)
    assert "geom. mean" in capsys.readouterr().out


def test_meshes_from_a_folder(tmp_path, capsys):
    (tmp_path / "square.poly").write_text("4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n")
    (tmp_path / "open.poly").write_text("3 2 0 0\n1 0 0\n2 1 0\n3 1 1\n2 0\n1 1 2\n2 2 3\n0\n")
    (tmp_path / "manifest.json").write_text(json.dumps([{"file": "open.poly", "expect": "ok"}]))
    found = tmp_path / "rows.jsonl"
    arguments = ["--folder", str(tmp_path), "--angles", "20", "--jobs", "2", "--json", str(found)]
    assert compare_hard_meshes.main(arguments) == 0
    gap, square = (json.loads(line) for line in found.read_text().splitlines())
    assert gap["file"] == "open.poly"
    assert gap["ours"]["outcome"] == "error"
    assert gap["surprising"]
    assert gap["triangle"]["outcome"] == "zero"
    assert (square["ours"]["outcome"], square["ours"]["triangles"], square["ours"]["valid"]) == ("mesh", 2, True)
    assert square["size"] == 1
    text = capsys.readouterr().out
    assert "ours: 1 meshes (0 invalid), 0 stopped by a limit, 1 clear errors" in text
    assert "1 of 2 runs are not what the manifest expects" in text


def test_gains_of_an_optimization_are_printed(capsys):
    assert compare_optimization.main(["--inputs", "plate-1e-3", "--device", "cpu", "--threads", "1"]) == 0
    head, rule, row = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == row.count("|")
    before, after = (float(angle) for angle in row.split("|")[3].split(" to "))
    assert row.startswith("| plate-1e-3 | 2,5") and after > 49 > before
