"""scripts/compare/speed.py: sizes for a number of triangles."""

from __future__ import annotations

import pytest

import dmr
from scripts.compare.speed import ours, size_for
from scripts.lib.sizes.more_domains import TIMED


@pytest.mark.parametrize("name", ["square", "hinge", "radial"])
def test_sizes_are_scaled_for_the_number_of_triangles(name):
    domain = TIMED[name]()
    size = size_for(domain, 3000)
    assert 0.95 < len(dmr.refine(domain.outline, size=size, device="cpu", threads=1).mesh.triangles) / 3000 < 1.05


def test_each_call_is_timed():
    seconds, triangles = ours(TIMED["square"](), 0.1, 3)
    assert len(seconds) == 3 and min(seconds) > 0
    assert triangles > 100
