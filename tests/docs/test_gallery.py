"""The gallery's domains: without conflicts, refined, and proved right; and its page shows all of them."""

from __future__ import annotations

import re

import pytest

import dmr
from scripts.make.gallery_domains import EXHIBITS
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "examples" / "gallery.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("make", EXHIBITS, ids=lambda make: make.__name__)
def test_exhibits_are_meshed_as_promised(make) -> None:
    exhibit = make()
    result = dmr.refine(exhibit.pslg, **exhibit.options, on_conflict="error", device="cpu")
    bounds = {name: exhibit.options.get(name) for name in ("max_area", "max_edge")}
    bounds["min_angle"] = exhibit.options.get("min_angle", 30.0)
    report = dmr.validate(result.mesh, input=exhibit.pslg, unrefined=result.unrefined_triangles, **bounds)
    assert report.ok, report.failures
    assert result.complete
    assert set(result.unrefined) <= {"small_input_angle"}
    assert bool(result.unrefined) == (make.__name__ in ("country", "web", "pearls"))
    again = make().pslg
    assert again.vertices.tobytes() == exhibit.pslg.vertices.tobytes()


@pytest.mark.slow
def test_the_page_shows_all_of_them() -> None:
    names = [make.__name__ for make in EXHIBITS]
    assert re.findall(r"!\[.*?\]\(\.\./\.\./images/gallery/(\w+)\.png\)", PAGE) == names
    pictures = sorted((ROOT / "docs" / "images" / "gallery").iterdir())
    assert [path.stem for path in pictures] == sorted(names)
    assert all(path.stat().st_size < 120_000 for path in pictures)
    titles = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert [make().title for make in EXHIBITS] == titles
