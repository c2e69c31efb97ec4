"""docs/guide/adaptive.md and sizes.md as programs: they run, print what the pages say, and draw their pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("matplotlib")

from scripts.make.tutorial import PAGE, PAGES, run


def masked(text: str) -> str:
    """Without the numbers: a mesh may have some triangles more or less in another version."""
    return re.sub(r"\s*\d[\d,.]*(?:e[-+]?\d+)?", "#", text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adaptive", "sizes"])
def test_the_page_prints_and_draws_what_it_shows(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    if name == "adaptive":
        pytest.importorskip("skfem")
    page = PAGE.with_name(f"{name}.md")
    text = page.read_text(encoding="utf-8")
    for block, printed in run(text, tmp_path):
        assert masked(printed) == masked(block["text"] or ""), block["code"]
    shown = {Path(name).name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)}
    assert shown == {path.name for path in PAGES[page].iterdir()} == {path.name for path in tmp_path.glob("*.png")}
