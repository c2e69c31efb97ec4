"""Tables of the page on the graph engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from scripts.make.tables.records import Record, measured, study
from scripts.study.components import report, strong

STUDY = "2026-11-23-h200-components"


def conditions() -> str:
    """When and where the study was measured."""
    assert not report.differing(study(STUDY))
    return f"Measured {measured(study(STUDY))}. All strategies gave the same results."


_MADE: Mapping[str, Callable[[Record], str]] = {
    "strategies": report.strategies,
    "ablation": report.ablation,
    "claims": report.claims,
    "strong": strong.by_step,
}
TABLES: Mapping[str, Callable[[], str]] = {
    "engine-conditions": conditions,
    **{f"engine-{name}": partial(lambda make: make(study(STUDY)), make) for name, make in _MADE.items()},
}
