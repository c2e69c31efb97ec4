"""The meshes of both sanitizers' tests."""

from __future__ import annotations

import pytest

from tests.support.sanitizers.small_meshes import write_small_meshes


@pytest.fixture(scope="module")
def small_meshes(tmp_path_factory):
    """A folder of meshes that between them reach every kernel."""
    return write_small_meshes(tmp_path_factory.mktemp("meshes"))
