"""Pages of the guide that are programs: they run, print what they say, and draw their pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("PIL")

from scripts.make.tutorial import PAGE, PAGES, run

NEEDED: dict[str, tuple[str, ...]] = {
    "sizes": (),
    "adaptive": ("skfem",),
    "scikit-fem": ("skfem",),
    "ocean": ("skfem", "geopandas", "shapely", "pyproj", "scipy"),
}


def masked(text: str) -> str:
    """Without the numbers: a mesh may have some triangles more or less in another version."""
    return re.sub(r"\s*\d[\d,.]*(?:e[-+]?\d+)?", "#", text)


def test_every_program_is_tested() -> None:
    assert {page.stem for page in PAGES} == {PAGE.stem, *NEEDED}


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_the_page_prints_and_draws_what_it_shows(name: str, tmp_path: Path) -> None:
    for package in NEEDED[name]:
        pytest.importorskip(package)
    pytest.importorskip("matplotlib").use("agg")
    page = next(page for page in PAGES if page.stem == name)
    text = page.read_text(encoding="utf-8")
    for block, printed in run(text, tmp_path):
        assert masked(printed) == masked(block["text"] or ""), block["code"]
    shown = sorted(Path(image).name for image in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text))
    assert shown == sorted(path.name for path in tmp_path.glob("*.png"))
    kept = sorted(PAGES[page].iterdir())
    assert shown == [path.name for path in kept] and all(path.stat().st_size < 120_000 for path in kept)
