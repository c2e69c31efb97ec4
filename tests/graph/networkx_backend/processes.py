"""The networkx backend in a separate process, and a pytest plugin that counts the calls that the backend answers."""

from __future__ import annotations

import configparser
import json
import os
from collections import Counter
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

GROUPS = ("networkx.backends", "networkx.backend_info")
REPORT = "NETWORKX_BACKEND_REPORT"  # the file for the plugin's report


def entry_points() -> configparser.SectionProxy:
    """The entry points in setup.cfg."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    return settings["options.entry_points"]


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """Variables for a process whose networkx finds this checkout's backend, also if the package is not installed.

    Args:
        folder: an empty folder; it gets the metadata of the distribution.
        variables: further variables.
    """
    metadata = folder / "dmr-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dmr\nVersion: 0\n", "utf-8")
    points = entry_points()
    text = "\n".join(f"[{group}]{points[group]}" for group in GROUPS)
    (metadata / "entry_points.txt").write_text(text, "utf-8")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), **variables}


class _Report:
    """Counts the calls that the backend answers, and collects outcomes of the tests."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.expected_failures: list[str] = []

    def count(self, backend: Any, name: str) -> None:
        """Wraps a function of the backend."""
        function = getattr(backend, name)

        @wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            self.answered[name] += 1
            return result

        setattr(backend, name, counted)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "wasxfail"):
            self.outcomes["xfailed"] += 1
            self.expected_failures.append(report.wasxfail)
        elif report.when == "call" or report.failed:
            self.outcomes[report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        report = {"answered": self.answered, "outcomes": self.outcomes, "xfailed": self.expected_failures}
        Path(os.environ[REPORT]).write_text(json.dumps(report), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the plugin, if pytest runs with `-p tests.graph.networkx_backend.processes`."""
    if REPORT not in os.environ:
        return
    from static_graph import networkx_backend
    from static_graph.networkx_backend.info import FUNCTIONS

    report = _Report()
    for name in FUNCTIONS:
        report.count(networkx_backend, name)
    config.pluginmanager.register(report)
