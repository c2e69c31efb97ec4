"""Fills the tables and sentences of the pages with the figures of the records in docs/results.

    python -m scripts.make.tables             # rewrites the tables that have changed
    python -m scripts.make.tables --check     # names them instead; exit code 1 if there are any

A page marks each table by comments, which Markdown does not show:

    <!-- table: thesis-6.3 -->
    ...
    <!-- end of table -->
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from scripts.make.tables.pages import ROOT, filled, pages


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrites or checks the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a table is out of date")
    check = parser.parse_args(arguments).check
    changed = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = filled(text)
        if new == text:
            continue
        changed += 1
        print(f"{page.relative_to(ROOT)}: {'out of date' if check else 'rewritten'}")
        if not check:
            page.write_text(new, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
