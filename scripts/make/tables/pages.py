"""The marked tables of the pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.make.tables import lists, performance, refinement, traversal

ROOT = Path(__file__).resolve().parents[3]
TABLES: Mapping[str, Callable[[], str]] = {
    **refinement.TABLES,
    **traversal.TABLES,
    **lists.TABLES,
    **performance.TABLES,
}
MARKED = re.compile(r"<!-- table: (?P<name>[\w.-]+) -->\n(?P<text>.*?)<!-- end of table -->\n", re.DOTALL)


def pages() -> list[Path]:
    """Pages that have marked tables."""
    everything = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [page for page in everything if MARKED.search(page.read_text(encoding="utf-8"))]


def filled(page: str) -> str:
    """Returns the text of a page with its tables made again.

    Raises:
        KeyError: the page marks a table that nothing makes.
    """

    def made(found: re.Match[str]) -> str:
        name = found["name"]
        return f"<!-- table: {name} -->\n\n{TABLES[name]()}\n\n<!-- end of table -->\n"

    return MARKED.sub(made, page)
