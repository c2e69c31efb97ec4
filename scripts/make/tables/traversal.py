"""Tables of the page on traversal: those of the study, over the graphs of all its records."""

from __future__ import annotations

from collections.abc import Callable

from scripts.make.tables.records import Record, measured, study, tables_of
from scripts.study.traversal import sweeps, thesis
from scripts.study.traversal.records import disagreeing
from scripts.study.traversal.tables import compared

STUDIES = tuple(f"2026-11-23-h200-traversal-{graphs}" for graphs in ("web", "1m", "4m", "16m"))


def graphs() -> Record:
    """The graphs of all records as one record."""
    return {"inputs": [given for name in STUDIES for given in study(name)["inputs"]]}


def conditions() -> str:
    """States when and where the study was measured, and what was compared."""
    assert not disagreeing(graphs())
    dated = dict.fromkeys(measured(study(name)) for name in STUDIES)
    return f"Measured {'; '.join(dated)}. {compared(graphs())}"


TABLES: dict[str, Callable[[], str]] = {
    "traversal-conditions": conditions,
    **tables_of(
        "traversal",
        graphs,
        {
            "degrees": thesis.degrees,
            "splitting": thesis.splitting,
            "splitting-says": thesis.splitting_says,
            "children": thesis.children,
            "children-say": thesis.children_say,
            "atomic": thesis.atomic,
            "atomic-says": thesis.atomic_says,
            "timeline": thesis.timeline,
            "warps": sweeps.widths,
            "warps-say": sweeps.warps_say,
            "cpu": sweeps.over_cpu,
            "strategies": sweeps.strategies,
            "ablation": sweeps.ablation,
            "schemes": sweeps.by_scheme,
            "searches": sweeps.searches_by_graph,
        },
    ),
}
