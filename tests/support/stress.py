"""Runs the stress test of threads, `scripts/stress/threads.py`."""

from __future__ import annotations

import subprocess
import sys

from tests.support.paths import ROOT


def stress(*options: str) -> subprocess.CompletedProcess[str]:
    """Runs the stress test in another process, with its command-line options."""
    command = [sys.executable, "-m", "scripts.stress.threads", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
