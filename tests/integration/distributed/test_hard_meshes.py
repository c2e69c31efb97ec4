"""Outlines and meshes that are hard to triangulate, in tiles: each union is proved, or refused as by `dmr.refine`."""

from __future__ import annotations

from pathlib import Path

import pytest

import dmr
from dmr.errors import DmrError, InvalidMeshError
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

HARD_MESHES = ROOT.parent / "shared" / "hard_meshes"
MOST_TRIANGLES = 4000  # of the results that are made again in tiles


def hard_meshes() -> list[str]:
    files = [path.relative_to(HARD_MESHES) for path in HARD_MESHES.rglob("*.poly")]
    return sorted(str(path) for path in files)


@pytest.mark.parametrize("name", hard_meshes())
def test_a_union_is_proved_or_refused_as_on_one_device(name, tmp_path):
    try:
        source = dmr.read(HARD_MESHES / name)
    except DmrError:
        pytest.skip("cannot be read")
    try:
        plain = dmr.refine(source, device="cpu", threads=1, max_steiner=MOST_TRIANGLES)
    except InvalidMeshError:
        with pytest.raises(InvalidMeshError):
            in_tiles(source, tmp_path / "out", 200)
        return
    count = len(plain.mesh.triangles)
    if not plain.complete or count > MOST_TRIANGLES:
        pytest.skip(f"has {count} triangles or more")
    parts = in_tiles(source, tmp_path / "out", max(100, count // 6))
    report = dmr.distributed.validate(parts, input=source, min_angle=30, threads=1)
    assert report.ok, report.failures


def in_tiles(source: dmr.Mesh | dmr.Pslg, out: Path, tile_triangles: int) -> dmr.distributed.Parts:
    return dmr.distributed.refine(source, out, tile_triangles=tile_triangles, device="cpu", threads=1)
