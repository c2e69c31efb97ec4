"""scripts/validate_mesh.py as a process, from another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from dmr.io import write
from dmr.mesh.types import Mesh, Pslg
from tests.support.meshes import grid
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


def run(folder, *arguments):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "validate_mesh.py", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path):
    mesh = grid(np.arange(5.0))
    write(tmp_path / "good.ele", mesh)
    write(tmp_path / "bad.ele", Mesh(mesh.vertices, np.vstack([mesh.triangles, mesh.triangles[:1]])))
    return tmp_path


def test_a_valid_mesh_exits_with_0(folder):
    done = run(folder, "good.ele", "--min-angle", "45", "--max-area", "0.5", "--input", "good.ele")
    assert done.returncode == 0, done.stderr
    assert "ok  delaunay" in done.stdout
    assert done.stdout.endswith("valid\n")


def test_an_invalid_mesh_exits_with_5_and_json_names_the_failure(folder):
    done = run(folder, "bad.ele", "--json")
    assert done.returncode == 5, done.stderr
    report = json.loads(done.stdout)
    assert report["counts"] == {"edges": 3}
    assert report["failures"][0]["index"] == 32


def test_an_unreadable_file_exits_with_1(folder):
    (folder / "broken.ele").write_text("3 3 0\n1 1 2\n")
    for name in ("nothing.ele", "broken.ele"):
        done = run(folder, name)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert name.split(".")[0] in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_an_invalid_option_exits_with_2(folder):
    done = run(folder, "good.ele", "--min-angle", "80")
    assert done.returncode == 2
    assert "60 degrees" in done.stderr


def test_a_mesh_is_compared_with_its_outline(folder):
    write(folder / "square.poly", Pslg([[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 1], [1, 2], [2, 3], [3, 0]]))
    write(folder / "open.poly", Pslg([[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 1], [1, 2], [2, 3]]))
    write(folder / "square.1.ele", Mesh([[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 1, 2], [0, 2, 3]]))
    assert run(folder, "square.1.ele", "--input", "square.poly").returncode == 0
    done = run(folder, "square.1.ele", "--input", "open.poly")
    assert done.returncode == 5
    assert "FAILED  stray segments" in done.stdout
    assert run(folder, "square.1.ele", "--input", "open.poly", "--convex-hull").returncode == 0
    assert run(folder, "square.1.ele", "--input", "square.1.ele", "--convex-hull").returncode == 2
    assert run(folder, "square.poly").returncode == 1
