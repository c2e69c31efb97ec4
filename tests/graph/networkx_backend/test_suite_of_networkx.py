"""networkx's own tests, with every call sent to the backend."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from static_graph.networkx_backend.info import FUNCTIONS
from tests.graph.networkx_backend.processes import REPORT, environment

TESTS = [
    f"networkx.algorithms.{folder}.tests" for folder in ("components", "link_analysis", "shortest_paths", "traversal")
]
TESTS.append("networkx.algorithms.tests.test_dag")  # ancestors, descendants


def report(folder, **variables):
    """Runs the tests; returns the report of the plugin."""
    path = folder / "report.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.graph.networkx_backend.processes",
    ]
    done = subprocess.run(
        [*command, "--tb=native", "--pyargs", *TESTS],
        cwd=folder,
        env=environment(folder, NETWORKX_TEST_BACKEND="static_graph", **{REPORT: str(path)}, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return json.loads(path.read_text("utf-8"))


@pytest.mark.slow
def test_with_networkx_for_other_functions(tmp_path):
    found = report(tmp_path, NETWORKX_FALLBACK_TO_NX="1")
    assert set(found["outcomes"]) == {"passed"}
    assert set(found["answered"]) == {*FUNCTIONS}  # none of them was left to networkx


@pytest.mark.slow
def test_without_networkx(tmp_path):
    """A test ends as an expected failure at the first function that the backend does not have."""
    found = report(tmp_path)
    assert set(found["outcomes"]) == {"passed", "xfailed"}
    missing = {re.fullmatch(r".*'(\w+)' not implemented by static_graph", reason)[1] for reason in found["xfailed"]}
    assert not missing & {*FUNCTIONS}
    assert found["outcomes"]["passed"] > 30
