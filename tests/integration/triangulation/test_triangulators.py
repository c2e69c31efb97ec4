"""The other programs of the benchmark of triangulations."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from scripts.bench import triangulate as bench
from scripts.lib.triangulators import PEERS, installed


@pytest.mark.parametrize("name", ["qhull", "matplotlib", "geos", "cdt", "cgal", "startinpy", "dylaunator", "adaptive"])
def test_programs_make_as_many_triangles_of_points(name, capsys):
    if not installed([name]):
        assert name in capsys.readouterr().err
        pytest.skip(f"{PEERS[name].package} is not installed")
    points = dmr.Pslg(np.random.default_rng(1).random((300, 2)))
    assert PEERS[name](points) == len(dmr.triangulate(points).triangles)


def test_programs_get_what_they_take():
    points, segments = bench.points(100, 1), bench.crossed(100, 1)
    assert PEERS["cdt"].takes(points) and PEERS["cdt"].takes(segments)
    assert PEERS["qhull"].takes(points) and not PEERS["qhull"].takes(segments)
    assert not PEERS["meshpy"].takes(points) and PEERS["meshpy"].takes(segments)
    assert not PEERS["dylaunator"].takes(bench.points(PEERS["dylaunator"].most + 1, 1))
