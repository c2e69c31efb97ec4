"""Folders that tests of engines share."""

from __future__ import annotations

from pathlib import Path

import pytest

from dmr.distributed.jobs.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log"
