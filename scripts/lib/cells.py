"""Cells of the tables that benchmarks print."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def median_and_range(seconds: Sequence[float]) -> tuple[str, str]:
    """Cells of a table: the median of some times, and their range."""
    return f"{statistics.median(seconds):.4f}", f"{min(seconds):.4f}..{max(seconds):.4f}"


def figure(value: float | None, form: str) -> str:
    """Cell of a table: a number, or "-" if it was not measured."""
    return "-" if value is None else format(value, form)
