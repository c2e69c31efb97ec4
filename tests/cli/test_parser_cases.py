"""`dmr refine` on the 32 hard files of the shared collection: the outcome of its manifest, and no hang."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CASES = ROOT.parent / "shared" / "hard_meshes" / "parser"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the shared collection is not here")

# One process refines all of them, so that a crash or a hang is seen and start-up is paid once.
PROGRAM = """
import contextlib, io, json, pathlib, sys
from dmr.cli import main
for name in sys.argv[1:]:
    print(json.dumps({"started": name}), flush=True)
    before = set(pathlib.Path().iterdir())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["refine", name, "--device", "cpu"])
    new = sorted(str(path) for path in set(pathlib.Path().iterdir()) - before)
    said = {"out": out.getvalue(), "err": err.getvalue()}
    print(json.dumps({"name": name, "code": code, "new": new, **said}), flush=True)
"""


def expectations():
    entries = json.loads((CASES.parent / "manifest.json").read_text()) if CASES.is_dir() else []
    return {Path(e["file"]).stem: e["expect"] for e in entries if e["file"].startswith("parser/")}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parser")
    for path in CASES.iterdir():
        shutil.copy(path, folder)
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *(f"{name}.ele" for name in expectations())],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"{lines[-1:]} {done.stderr}"
    return {Path(line["name"]).stem: line for line in lines if "name" in line}


def test_the_collection_has_32_files(outcomes):
    assert len(outcomes) == 32


@pytest.mark.parametrize("name", expectations())
def test_the_outcome_is_that_of_the_manifest(outcomes, name):
    expected, found = expectations()[name], outcomes[name]
    assert found["out"] == ""
    assert "Traceback" not in found["err"]
    if found["code"] == 0:
        assert expected.startswith("ok"), f"{name} was accepted"
        assert found["new"] == [f"{name}.1.ele", f"{name}.1.node"]
        return
    assert found["code"] == 1
    assert not expected.startswith("ok") or "or clear error" in expected
    assert found["new"] == []
    assert found["err"].count("\n") == 1
    line = "" if name == "missing_ele" else r":\d+"
    assert re.match(rf"dmr: error: {name}\.(ele|node){line}: \S", found["err"]), found["err"]
