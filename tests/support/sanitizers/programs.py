"""Runs the programs of this folder in separate processes, with or without a sanitizer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.native_builds import CXX, output_of
from tests.support.paths import ROOT


def runtime(name):
    """The runtime library of a sanitizer; the test is skipped where the compiler has none."""
    if shutil.which(CXX) is None:
        pytest.skip(f"no compiler {CXX}")
    found = Path(output_of(CXX, f"-print-file-name={name}").strip())
    if not found.is_absolute() or not found.exists():
        pytest.skip(f"{CXX} comes without {name}")
    return found


def script(name, *arguments, before=(), **environment):
    return subprocess.run(
        [*before, sys.executable, str(ROOT / "tests" / "support" / "sanitizers" / name), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONMALLOC": "malloc", **environment},
    )


def results(outcome):
    """The lines that a script printed, from JSON; it must have exited normally and without a report."""
    assert outcome.returncode == 0 and "Sanitizer" not in outcome.stderr, outcome.stderr[-6000:]
    return [json.loads(line) for line in outcome.stdout.splitlines()]


def is_detected(fault, sentence, kernel, library, environment):
    """Whether a sanitizer ends faults.py, and its report has this sentence and names the kernel."""
    outcome = script("faults.py", library, fault, **environment)
    return outcome.returncode != 0 and sentence in outcome.stderr and kernel in outcome.stderr
