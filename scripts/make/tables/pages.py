"""The marked tables and sentences of the pages."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.make.tables import engine, lists, performance, refinement, searches, traversal

WIDTH = 120  # of the lines of a sentence
ROOT = Path(__file__).resolve().parents[3]
TABLES: Mapping[str, Callable[[], str]] = {
    **refinement.TABLES,
    **traversal.TABLES,
    **lists.TABLES,
    **engine.TABLES,
    **performance.TABLES,
    **searches.TABLES,
}
MARKED = re.compile(r"<!-- table: (?P<name>[\w.-]+) -->\n(?P<text>.*?)<!-- end of table -->\n", re.DOTALL)


def pages() -> list[Path]:
    """Pages that have marked tables."""
    everything = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [page for page in everything if MARKED.search(page.read_text(encoding="utf-8"))]


def filled(page: str) -> str:
    """Returns the text of a page with its tables and sentences made again.

    Raises:
        KeyError: the page marks a table that nothing makes.
    """

    def made(found: re.Match[str]) -> str:
        text = TABLES[found["name"]]()
        if not text.startswith("|"):
            text = textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
        return f"<!-- table: {found['name']} -->\n\n{text}\n\n<!-- end of table -->\n"

    return MARKED.sub(made, page)
