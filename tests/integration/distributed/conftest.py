"""Folders that tests of engines share, and folders in memory for tests of many small tiles."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dmr.distributed.jobs.store import Store

# Modules whose tests refine in many tiles of a few hundred triangles: up to half of their processor time is spent on
# making files on a disk. The other modules test engines, kills, resumes and full disks, and use a disk.
IN_MEMORY = tuple(
    f"test_{name}"
    for name in ("bounds_by_place", "hard_meshes", "refining_parts", "sizes_in_tiles", "tiles", "validation")
)
MEMORY = Path("/dev/shm")
ROOM = 2**30  # bytes; in containers the folder may have 64 MiB


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A new folder: in memory for the modules `IN_MEMORY`, if there is room."""
    if request.path.stem not in IN_MEMORY or not _has_room():
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY, prefix="dmr-test-") as folder:
        yield Path(folder)


def _has_room() -> bool:
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log").mkdir()
    return tmp_path / "log"
