"""scripts/compare/spread.py: positions and numberings of a domain, and what counts as near Gmsh's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.mesh.shapes import triangle_areas
from scripts.compare import spread
from scripts.compare.gmsh import has_acute_corners
from scripts.compare.spread import Spread
from scripts.lib.sizes.domains import with_holes
from scripts.lib.sizes.variants import VARIANTS, Variant

BOX = [(0, 0), (4, 0), (4, 3), (0, 3)]
HOLES = [np.array([(1.0, 1), (2, 1), (2, 2)]), np.array([(2.5, 1), (3.5, 1), (3.5, 2), (2.5, 2)])]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_the_same_domain(variant):
    domain = with_holes(BOX, HOLES, 0.5)
    placed, size = variant.of(domain, lambda points: 0.2 + 0.1 * points[:, 0])
    mesh = dmr.triangulate(placed.outline, device="cpu")
    assert triangle_areas(mesh).sum() == pytest.approx(12 - 0.5 - 1)
    assert not has_acute_corners(placed)
    assert [len(ring) for ring in placed.rings] == [4, 3, 4]
    for before, after in zip(domain.rings, placed.rings, strict=True):
        wanted = 0.2 + 0.1 * domain.outline.vertices[before][:, 0]
        assert sorted(size(placed.outline.vertices[after])) == pytest.approx(sorted(wanted))


def test_variants_differ_in_position_or_numbering():
    domain = with_holes(BOX, HOLES, 0.5)
    tables = [variant.of(domain, 0.5)[0].outline.vertices for variant in VARIANTS]
    assert len({np.round(each, 9).tobytes() for each in tables}) == len(VARIANTS)


def test_the_numbering_of_a_variant():
    domain = with_holes(BOX, HOLES[:1], 0.5)
    placed, _ = Variant(start=1 / 3, reverse=True, holes_first=True).of(domain, 0.5)
    expected = [(1, 1), (2, 2), (2, 1), (0, 0), (0, 3), (4, 3), (4, 0)]
    assert placed.outline.vertices.tolist() == [list(map(float, each)) for each in expected]


def test_near_is_measured_from_the_median():
    found = Spread(ours=(89, 91, 110, 111), peer=(80, 100, 130))
    assert (found.near(found.ours), found.near(found.peer)) == (2, 1)
    assert found.ratio == pytest.approx(1.005)


def test_the_table_has_a_row_per_case(capsys, monkeypatch):
    monkeypatch.setattr(Spread, "of", classmethod(lambda cls, *_: cls((95, 100), (100, 120))))
    assert spread.main(["--domains", "L", "gear", "--scales", "1", "2", "--variants", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 4 + 2
    assert " ".join(lines[1].split()) == "L 1 | 95 98 100 1.05 1 | 100 110 120 1.20 2 | 0.89"
    assert lines[-1] == "medians of ours 0, meshes of ours 4 of 8, Gmsh's own 8 of 8"
