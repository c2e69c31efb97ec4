"""docs/guide/tutorial.md as a program: it runs, prints what the page says, and draws the pictures of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import dmr

pytest.importorskip("PIL")

from scripts.make.tutorial import PAGE, PAGES, blocks, run

TEXT = PAGE.read_text(encoding="utf-8")


def masked(text: str) -> str:
    """Without the numbers: a mesh may have some triangles more or less in another version."""
    return re.sub(r"\d[\d,.]*(?:e[-+]?\d+)?", "#", text)


def test_every_block_of_code_is_run() -> None:
    assert len(blocks(TEXT)) == len(re.findall(r"^```python$", TEXT, re.MULTILINE)) > 15


@pytest.fixture
def draws(request: pytest.FixtureRequest) -> bool:
    """Whether VTK can draw here."""
    try:
        request.getfixturevalue("drawing")
    except pytest.skip.Exception:
        return False
    return True


@pytest.mark.slow
def test_the_page_prints_and_draws_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draws: bool) -> None:
    image = pytest.importorskip("PIL.Image")
    drawn, draw = [], dmr.view

    def view(*meshes: Any, screenshot: str, **options: Any) -> None:
        drawn.append(screenshot)
        if draws:
            draw(*meshes, screenshot=screenshot, **options)

    monkeypatch.setattr(dmr, "view", view)
    for block, printed in run(TEXT, tmp_path):
        assert masked(printed) == masked(block["text"] or ""), block["code"]
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert drawn == [Path(name).name for name in shown], "a reader has no folder for pictures"
    assert {path.name for path in PAGES[PAGE].iterdir()} == set(drawn)
    for name in shown:
        kept = PAGE.parent / name
        assert kept.stat().st_size < 120_000
        if draws:
            with image.open(kept) as before, image.open(tmp_path / kept.name) as now:
                assert before.size == now.size


def test_errors_name_the_line_of_the_page(tmp_path: Path) -> None:
    page = "# Title\n\ntext\n\n```python\nx = 1\nx.y\n```\n"
    with pytest.raises(AttributeError) as caught:
        list(run(page, tmp_path))
    assert caught.traceback[-1].lineno + 1 == 7
