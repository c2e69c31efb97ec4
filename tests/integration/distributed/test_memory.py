"""The memory of a refinement in tiles: that of a tile, not that of the whole."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dmr.common.system.resident import resident_sets

# Refines a square with so many triangles in a new process, after a small run that loads what is loaded once. Prints
# triangles, and by how many bytes the second run raises the highest resident set. The coarse mesh, which one process
# holds whole, has at most 16,384 triangles, as few for this result as 4 million are for 1.5e8.
RUN = """
import json, sys
import dmr, dmr.distributed
from dmr.common.system.resident import resident_sets
from dmr.distributed.tiles import tasks

tasks.LEAST_COARSE = tasks.MOST_COARSE = 2**14
folder, count, tile = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])

def refined(name, count, tile):
    square, options = dmr.domains.rectangle(1, 1), {"max_area": 1 / (0.582 * count), "device": "cpu", "threads": 1}
    if not tile:
        return len(dmr.refine(square, **options).mesh.triangles)
    return dmr.distributed.refine(square, f"{folder}/{name}", tile_triangles=tile, **options).counts["triangles"]

refined("small", 4e4, tile and 10_000)
before = resident_sets()[1]
count = refined("large", count, tile)
print(json.dumps([count, resident_sets()[1] - before]))
"""


def growth(folder, count: float, tile: int) -> float:
    """Returns by how many bytes per triangle of the result the highest resident set grows; no tiles if `tile` is 0."""
    folder.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", RUN, str(folder), str(count), str(tile)], capture_output=True, text=True, check=True
    )
    triangles, grown = json.loads(ended.stdout)
    assert triangles > 0.85 * count
    return grown / triangles


@pytest.mark.slow
@pytest.mark.skipif(resident_sets() is None, reason="the system does not tell the resident set")
def test_memory_is_that_of_a_tile(tmp_path):
    plain = growth(tmp_path / "plain", 6e5, 0)
    tiled = growth(tmp_path / "tiled", 6e5, 60_000)
    halves = growth(tmp_path / "halves", 6e5, 300_000)
    assert tiled < 0.3 * plain  # a tile is a tenth; bands, borders and the coarse mesh come on top
    assert tiled < 0.5 * halves  # larger tiles need more
