"""Selection and distribution of tests by tests/conftest.py, on a folder with one test for each marker."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

pytest_plugins = ["pytester"]

MARKED = """
import os
import pathlib
import pytest

MARKERS = ("slow", "gpu", "large")

@pytest.mark.parametrize("name", ["plain", *(pytest.param(name, marks=getattr(pytest.mark, name)) for name in MARKERS)])
def test_marked(name):
    pathlib.Path(__file__).with_name(f"{name}.ran").write_text(os.environ.get("PYTEST_XDIST_WORKER", ""))
"""


@pytest.fixture
def folder(pytester: pytest.Pytester) -> pytest.Pytester:
    """Folder with this project's conftest and a module of four tests: plain, slow, gpu and large."""
    pytester.makeini("[pytest]\nmarkers =\n    slow\n    gpu\n    large\n")
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(test_marked=MARKED)
    return pytester


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ("", {"plain", "slow"}),
        ("not slow", {"plain"}),
        ("slow", {"slow"}),
        ("gpu", {"gpu"}),
        ("large", {"large"}),
        ("gpu or large", {"gpu", "large"}),
        ("not gpu", {"plain", "slow"}),
    ],
)
def test_gpu_and_large_run_only_if_named(folder, expression, selected):
    folder.runpytest_inprocess("-p", "no:cacheprovider", "-m", expression, "test_marked.py")
    assert {path.stem for path in folder.path.glob("*.ran")} == selected


@pytest.mark.slow
@pytest.mark.parametrize(("expression", "distributed"), [("", True), ("gpu", False)])
def test_folders_are_distributed_but_not_gpu_tests(folder, expression, distributed):
    pytest.importorskip("xdist")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", expression, str(folder.path)]
    done = subprocess.run(
        command, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [bool(path.read_text()) for path in folder.path.glob("*.ran")] == ([True] * 2 if distributed else [False])
