"""Tables of the page on list ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scripts.lib.markdown import table
from scripts.make.tables.records import bench, measured, middle, significant, study
from scripts.study.lists import slides
from scripts.study.lists.report import SLIDES_HEAD, agree
from static_graph.lists.cost_model import SLIDES_TABLE

STUDY = "2026-11-23-h200-lists"
BENCHES = {"H200": "2026-11-22-h200-lists", "2 cores": "2026-11-22-2-cores-lists"}


def conditions() -> str:
    """States when and where the study was measured."""
    assert agree(study(STUDY))
    return f"Measured {measured(study(STUDY))}. All methods gave the same ranks."


def beside_the_slides() -> str:
    """The statements of the slides, and the measurements."""
    return table(SLIDES_HEAD, slides.beside(study(STUDY)["parts"]))


def by_size() -> str:
    """Times of the default on random lists, with those of the slides' model on a GTX 280."""
    published = {2**log_size: measured for log_size, _, _, measured in SLIDES_TABLE}
    found = {
        (machine, row["elements"]): row
        for machine, name in BENCHES.items()
        for row in bench(name)
        if (row["method"], row["kind"]) == ("helman-jaja", "random")
    }
    body = []
    for size in sorted({size for _, size in found}):
        gpu, cpu = (found.get((machine, size)) for machine in BENCHES)
        cells = [f"2^{size.bit_length() - 1}", str(published.get(size, ""))]
        for row in (gpu, cpu):
            seconds = None if row is None else middle(row["rank"])
            cells.append("" if seconds is None else significant(1000 * seconds, 3))
            if row is gpu and row is not None and seconds is not None:
                cells.append(f"{seconds / row['gather']:.1f}")
        body.append(cells)
    return table(("elements", "GTX 280, ms", "H200, ms", "relative to a gather there", "2 cores, ms"), body, right=True)


TABLES: Mapping[str, Callable[[], str]] = {
    "lists-conditions": conditions,
    "lists-slides": beside_the_slides,
    "lists-sizes": by_size,
}
