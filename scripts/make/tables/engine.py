"""Tables of the page on the graph engine."""

from __future__ import annotations

from collections.abc import Callable

from scripts.make.tables.records import measured, study, tables_of
from scripts.study.components import report, strong

STUDY = "2026-11-23-h200-components"


def conditions() -> str:
    """States when and where the study was measured."""
    assert not report.differing(study(STUDY))
    return f"Measured {measured(study(STUDY))}. All strategies gave the same results."


TABLES: dict[str, Callable[[], str]] = {
    "engine-conditions": conditions,
    **tables_of(
        "engine",
        lambda: study(STUDY),
        {
            "strategies": report.strategies,
            "ablation": report.ablation,
            "claims": report.claims,
            "strong": strong.by_step,
        },
    ),
}
