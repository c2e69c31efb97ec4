"""Writes the study of traversals as CSV, and as a page of tables that compares its figures with the papers'."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scripts.lib.markdown import table
from scripts.study.traversal import sweeps as traversal_sweeps
from scripts.study.traversal import thesis as traversal_thesis
from scripts.study.traversal.cases import BASE
from scripts.study.traversal.papers import COLLAPSE_MACHINE, FERMI, THESIS_MACHINE, WARP_MACHINE
from scripts.study.traversal.records import Record, disagreeing, find, gteps, improvement, median_ms, text_of

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
        "Out-degrees, and the nodes that splitting adds at the level that was the fastest in the thesis: 8 on its web "
        "graph, 54 on its R-MAT. In brackets the thesis' figures. It does not state the parameters of its R-MAT; those "
        "of rmat-thesis are fitted to these very figures, so their agreement is not a result.",
        traversal_thesis.degrees,
    ),
    Section(
        "Node splitting (table 6.1)",
        "One thread per node, every node in every round, plain stores; times include the update of children, as in the "
        "thesis. *Less* is the time saved relative to the baseline. The histogram chooses by section 4.2.1; for its "
        f"level the thesis has one figure, without the search. In brackets: {THESIS_MACHINE}.",
        traversal_thesis.splitting,
        traversal_thesis.splitting_says,
    ),
    Section(
        "Child launches (table 6.2)",
        "Nodes above the threshold launch a child. A round has at most 2,048 children; nodes beyond that are relaxed "
        "*in place*. In the last column no node is above the threshold: the thesis found that slower than the "
        f"baseline, because of the device runtime. In brackets: {THESIS_MACHINE}.",
        traversal_thesis.children,
        traversal_thesis.children_say,
    ),
    Section(
        "Time against the maximum degree allowed (figures 6.2 to 6.4)",
        "Median ms; for child launches the column is the threshold. The thesis' curves, without numbers, fall as the "
        "level falls, down to 54 on R-MAT and 8 on the web graph, then rise slowly; child launches are faster than "
        "splitting at high levels and slower at low levels, where there are many. Figure 6.4 is the same on "
        f"{FERMI}.",
        traversal_thesis.curves,
    ),
    Section(
        "Atomic relaxation (figure 6.6)",
        "Time that the atomic minimum, which needs no update of children, saves relative to plain stores; and the "
        f"rounds of both. The thesis: {THESIS_MACHINE} and {FERMI}.",
        traversal_thesis.atomic,
        traversal_thesis.atomic_says,
    ),
    Section(
        "Blocks of a round (figure 6.5)",
        "The same round of a breadth-first search for both: the one that takes the baseline longest; split at the "
        "histogram's level. *Ends* are the times at which the first multiprocessor and the last one have no block "
        f"left. The thesis' figure shows its first round (R-MAT, {FERMI}), with different blocks of the baseline and "
        "nearly equal ones with splitting; here nodes that are not reached yet have nothing to relax, so that in the "
        "first round one block works.",
        traversal_thesis.timeline,
    ),
    Section(
        "Random and R-MAT graphs relative to a CPU (Hong et al.)",
        "Speed-up of breadth-first search over one thread of this machine's CPU (scipy's breadth_first_order). In "
        f"brackets, for graphs of the same size, one thread per node in the paper: {WARP_MACHINE}.",
        traversal_sweeps.over_cpu,
    ),
    Section(
        "Virtual warps (Hong et al.)",
        "Median ms by the lanes of a virtual warp, with nodes assigned statically, and the speed-up of the fastest "
        "over one lane. The paper's chart has no numbers; its text says that the best width depends on the graph.",
        traversal_sweeps.widths,
        traversal_sweeps.warps_say,
    ),
    Section(
        "Chunks from a work queue (Hong et al.)",
        "Median ms by the number of nodes that a warp takes at a time. In the paper's chart, without numbers, small "
        "chunks cost atomics and large ones balance badly.",
        traversal_sweeps.chunks,
    ),
    Section(
        "Deferred outliers (Hong et al.)",
        "Median ms if nodes of more edges are left to whole blocks; chunks of 64.",
        traversal_sweeps.outliers,
    ),
    Section(
        "Expanded and collapsed loops (Slota et al.)",
        "GTEPS: edges of reached nodes divided by the time, in 10^9 per second; and the speed-up of the fastest "
        f"strategy over its baseline. The paper's chart ({COLLAPSE_MACHINE}) has no numbers.",
        traversal_sweeps.strategies,
    ),
    Section(
        "Effect of each option on the local collapse (Slota et al.)",
        "GTEPS: the local collapse (M), with coalesced reads (C), a shared-memory queue (S) and team primitives (L) "
        f"added one by one. The paper's chart ({COLLAPSE_MACHINE}) has no numbers.",
        traversal_sweeps.ablation,
    ),
    Section(
        "The fastest case of each scheme",
        "And the time that it saves relative to the fixed-point baseline.",
        traversal_sweeps.gains,
    ),
    Section(
        "Searches from many sources",
        "GTEPS: arcs of the nodes reached divided by the time; mean, lowest and highest over sources drawn from the "
        "largest strongly connected component, which all reach the same nodes. By the size of the graph this is Hong "
        "et al.'s data-size scalability.",
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
    wrong = disagreeing(study)
    verdict = compared(study) if not wrong else "DISTANCES DIFFER: " + "; ".join(wrong)
    header = ("graph", "nodes", "edges", "largest degree", "histogram's MDA", "source", "edges reached")
    command = f"```sh\n{study['command']}\n```"
    return f"# Traversals: {study['name']}\n\n{where}. {verdict}\n\n{command}\n\n{table(header, rows)}"


def compared(study: Record) -> str:
    """States which distances were compared."""
    cases = sum(len(given["runs"]) for given in study["inputs"])
    searches = [run for given in study["inputs"] for run in given.get("gteps", ())]
    said = [f"in {cases:,} cases of one source"] * (cases > 0)
    if searches:
        said.append(f"in {len(searches):,} cases of many sources, from the first {len(searches[0]['sha256'])} of them")
    return f"All schemes gave the same distances {' and '.join(said)}." if said else "No distances were compared."


def _reached(given: Record) -> int:
    return max((found["edges"] for found in given["reached"].values()), default=0)
