"""Fixtures of the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty folder, as the working directory. Modules put their input into it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
