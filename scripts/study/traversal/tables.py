"""Writes the study of traversals as CSV, and as a page of tables that compares its figures with the papers'."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scripts.study.traversal import sweeps as traversal_sweeps
from scripts.study.traversal import thesis as traversal_thesis
from scripts.study.traversal.cases import BASE
from scripts.study.traversal.papers import COLLAPSE_MACHINE, FERMI, THESIS_MACHINE, WARP_MACHINE
from scripts.study.traversal.records import Record, find, gteps, improvement, median_ms, table, text_of

CSV_COLUMNS = (
    "input", "algorithm", "scheme", "options", "median_ms", "best_ms", "improvement_percent", "gteps", "rounds",
    "relaxed", "launches", "figures", "agrees",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A table of the page.

    Attributes:
        title: its heading; words: text about the table and the source of figures in brackets; table: makes it, or "".
        says: makes a sentence that summarises the figures, or None.
    """

    title: str
    words: str
    table: Callable[[Record], str]
    says: Callable[[Record], str] | None = None

    def text(self, study: Record) -> str:
        """Text of the section; empty if nothing was run for it."""
        found = self.table(study)
        if not found:
            return ""
        said = [self.words, *([self.says(study)] if self.says else [])]
        return f"## {self.title}\n\n{' '.join(said)}\n\n{found}"


SECTIONS = (
    Section(
        "Degrees (figures 4.2, 4.3 and 6.1)",
        "Out-degrees, and what splitting adds at the level that was the fastest in the thesis: 8 on its web graph, 54 "
        "on its R-MAT. In brackets the thesis' figures; its R-MAT is another draw of the same generator.",
        traversal_thesis.degrees,
    ),
    Section(
        "Node splitting (table 6.1)",
        "A thread a node, every node in every round, plain stores, with the update of children in the time, as in the "
        "thesis. *Less* is time saved of the baseline. The histogram chooses as section 4.2.1 says; for what it chose "
        f"the thesis has one figure for both searches. In brackets: {THESIS_MACHINE}.",
        traversal_thesis.splitting,
        traversal_thesis.splitting_says,
    ),
    Section(
        "Child launches (table 6.2)",
        "Nodes above the threshold launch a child. A round has 2,048 children at most; what found no place is relaxed "
        "*in place*. The last column has a threshold that no node is above: the thesis found that slower than the "
        f"baseline, for what the device runtime does. In brackets: {THESIS_MACHINE}.",
        traversal_thesis.children,
        traversal_thesis.children_say,
    ),
    Section(
        "Time against the maximum degree allowed (figures 6.2 to 6.4)",
        "Median ms; for child launches the column is the threshold. The thesis' curves, without numbers, fall as the "
        "level falls, down to 54 on R-MAT and 8 on the web graph, then rise slowly; child launches are the faster ones "
        f"at high levels and the slower ones at low levels, where they are many. Figure 6.4 is the same on {FERMI}.",
        traversal_thesis.curves,
    ),
    Section(
        "Atomic relaxation (figure 6.6)",
        "What the atomic minimum, which needs no update of children, saves of the time with plain stores; and the "
        f"rounds of both. The thesis: {THESIS_MACHINE} and {FERMI}.",
        traversal_thesis.atomic,
        traversal_thesis.atomic_says,
    ),
    Section(
        "Blocks of a round (figure 6.5)",
        "The round of a breadth-first search that took longest. In the thesis' figure (its first round, R-MAT, "
        f"{FERMI}) blocks of the baseline differ and with splitting almost all take the same time; here a node that "
        "was not reached yet has nothing to relax, so that the first round would show one block at work.",
        traversal_thesis.timeline,
    ),
    Section(
        "Random beside R-MAT, over a CPU (Hong et al.)",
        "How many times faster than one thread of this machine's CPU (scipy's breadth_first_order) a breadth-first "
        f"search is. In brackets, for graphs of the same size, a thread a node in the paper: {WARP_MACHINE}.",
        traversal_sweeps.over_cpu,
    ),
    Section(
        "Virtual warps (Hong et al.)",
        "Median ms by the lanes of a virtual warp, nodes handed out beforehand, and how many times faster than one "
        "lane the fastest is. The paper's chart has no numbers; it says that the best width depends on the graph.",
        traversal_sweeps.widths,
        traversal_sweeps.warps_say,
    ),
    Section(
        "Chunks from a work queue (Hong et al.)",
        "Median ms by how many nodes a warp takes at a time. In the paper's chart, without numbers, small chunks cost "
        "atomics and large ones balance badly.",
        traversal_sweeps.chunks,
    ),
    Section(
        "Deferred outliers (Hong et al.)",
        "Median ms with nodes of more edges left to whole blocks; chunks of 64.",
        traversal_sweeps.outliers,
    ),
    Section(
        "Expanded and collapsed loops (Slota et al.)",
        "GTEPS: edges of reached nodes over the time, in 10^9 a second; and how many times faster than its baseline "
        f"the fastest strategy is. The paper's chart ({COLLAPSE_MACHINE}) has no numbers.",
        traversal_sweeps.strategies,
    ),
    Section(
        "What each option adds to the local collapse (Slota et al.)",
        "GTEPS: the local collapse (M), then coalesced reads (C), a shared-memory queue (S) and team primitives (L) "
        f"added. The paper's chart ({COLLAPSE_MACHINE}) has no numbers.",
        traversal_sweeps.ablation,
    ),
    Section(
        "The best of each scheme",
        "The fastest case of each scheme, and how much less time than the fixed-point baseline it takes.",
        traversal_sweeps.gains,
    ),
    Section(
        "Searches from many sources",
        "GTEPS: arcs of the nodes reached over the time; the mean over sources drawn from the largest strongly "
        "connected component, which all reach the same nodes, with the lowest and the highest. By the size of the "
        "graph this is Hong et al.'s data-size scalability.",
        traversal_sweeps.searches,
    ),
)


def to_csv(study: Record) -> str:
    """CSV with one line per graph, algorithm and case."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for given in study["inputs"]:
        for run in given["runs"]:
            base = find(given, run["algorithm"], BASE)
            assert base is not None
            times = (f"{median_ms(run):.4f}", f"{1000 * min(run['seconds']):.4f}", f"{improvement(base, run):.2f}")
            counts = (f"{gteps(given, run):.4f}", run["rounds"], run["relaxed"], run["launches"])
            texts = (text_of(run["figures"]), "yes" if run["agrees"] else "NO")
            named = (given["input"], run["algorithm"], run["scheme"], text_of(run["options"]))
            writer.writerow((*named, *times, *counts, *texts))
    return target.getvalue()


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """Page with the conditions, every table that has runs, and the pictures (file names)."""
    parts = [_head(study), *(text for section in SECTIONS if (text := section.text(study)))]
    parts += [f"![{name}]({name})" for name in pictures]
    return "\n\n".join(parts) + "\n"


def _head(study: Record) -> str:
    machine = study["machine"]
    where = f"{study['device']}; {machine['processor']}, {machine['cores']} cores; commit {study['commit']}"
    rows = [
        (
            given["input"], f"{given['nodes']:,}", f"{given['edges']:,}", given["largest_degree"],
            given["automatic_mda"], *((given["source"], f"{_reached(given):,}") if given["reached"] else ("", "")),
        )
        for given in study["inputs"]
    ]  # fmt: skip
    wrong = [
        f"{given['input']}: {run['algorithm']}, {run['scheme']} {text_of(run['options'])}"
        for given in study["inputs"]
        for run in given["runs"]
        if not run["agrees"]
    ]
    verdict = "All schemes gave the same distances." if not wrong else "DISTANCES DIFFER: " + "; ".join(wrong)
    header = ("graph", "nodes", "edges", "largest degree", "histogram's MDA", "source", "edges reached")
    return f"# Traversals: {study['name']}\n\n{where}. {verdict}\n\n{table(header, rows)}"


def _reached(given: Record) -> int:
    return max((found["edges"] for found in given["reached"].values()), default=0)
