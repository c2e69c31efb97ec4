"""The page on the backend of networkx: its example runs, and it names every function."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from static_graph.networkx_backend.dispatching import SMALLEST
from static_graph.networkx_backend.info import FUNCTIONS
from tests.graph.networkx_backend.processes import environment
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "graphs" / "networkx.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_runs(tmp_path):
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    subprocess.run([sys.executable, "-c", block], cwd=tmp_path, env=environment(tmp_path), check=True, timeout=60)


def test_every_function_is_there():
    rows = re.findall(r"^\| (`.*)$", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    lengths = {
        f"{name}_length" for row in rows if "_length" in row for name in re.findall(r"`(\w+shortest_path)`", row)
    }
    assert (named | lengths) - {"_length"} == {*FUNCTIONS}
    assert f"fewer than {SMALLEST:,} nodes and edges" in PAGE
