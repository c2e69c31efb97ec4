"""Fixtures of the tests of triangulations."""

import pytest

from dmr.triangulation import native


@pytest.fixture(autouse=True)
def _threads_share_small_inputs(monkeypatch):
    """Several threads share inputs of a few points, too, as they do large ones."""
    monkeypatch.setattr(native, "LEAST_PER_THREAD", 1)
