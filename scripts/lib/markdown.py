"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[object], body: Iterable[Sequence[object]], *, right: bool = False) -> str:
    """Returns a table, or "" if it has no rows.

    Args:
        head: the names of the columns; body: the rows.
        right: whether all columns but the first are right-aligned.
    """
    rows = [list(row) for row in body]
    if not rows:
        return ""
    rule = ["---", *(["---:" if right else "---"] * (len(head) - 1))]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, rule, *rows))


def aligned_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Returns a table whose columns also align as plain text; all but the first are right-aligned."""
    rows = [list(head), *map(list, body)]
    widths = [max(3, *(len(row[k]) for row in rows)) for k in range(len(head))]

    def text(cells: Sequence[str]) -> str:
        filled = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(filled)} |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([text(rows[0]), text(rule), *map(text, rows[1:])])
