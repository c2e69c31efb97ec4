"""Fixtures of the tests of scripts."""

from __future__ import annotations

import logging

import pytest


@pytest.fixture(autouse=True)
def log_level():
    """Restores the level of the package's log, which some scripts raise for their process."""
    log = logging.getLogger("dmr")
    before = log.level
    yield
    log.setLevel(before)
