"""docs/guide/adaptive.md as a program: it runs, prints what the page says, and draws its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("PIL")
pytest.importorskip("skfem")
pytest.importorskip("matplotlib")

from scripts.make.tutorial import PAGE, PAGES, run

ADAPTIVE = PAGE.with_name("adaptive.md")
TEXT = ADAPTIVE.read_text(encoding="utf-8")


def masked(text: str) -> str:
    """Without the numbers: a mesh may have some triangles more or less in another version."""
    return re.sub(r"\s*\d[\d,.]*(?:e[-+]?\d+)?", "#", text)


@pytest.mark.slow
def test_the_page_prints_and_draws_what_it_shows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    for block, printed in run(TEXT, tmp_path):
        assert masked(printed) == masked(block["text"] or ""), block["code"]
    shown = [Path(name).name for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)]
    assert shown == [path.name for path in PAGES[ADAPTIVE].iterdir()] == [path.name for path in tmp_path.glob("*.png")]
