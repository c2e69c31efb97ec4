"""Writes the study of PageRank as a page and a CSV, from its JSON record."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from statistics import median
from typing import Any

from scripts.lib.markdown import table
from scripts.study.common import heading

Record = dict[str, Any]

# Tables 3.1 and 3.2 of the report: nodes, edges; then microseconds in total, of update_entries and of pagerank.
PAPER: dict[str, dict[str, tuple[int, int, int]]] = {
    "p2p-Gnutella08": {
        "one thread": (570_645, 167_338, 359_988), "threads": (147_166, 30_931, 67_992), "GPU": (1_647_214, 25, 83)
    },
    "p2p-Gnutella04": {
        "one thread": (1_750_101, 556_804, 1_076_789), "threads": (418_116, 97_083, 197_117),
        "GPU": (1_850_878, 24, 70),
    },
    "p2p-Gnutella30": {
        "one thread": (19_195_826, 5_781_478, 12_252_205), "threads": (4_284_705, 1_001_799, 2_107_035),
        "GPU": (4_118_556, 26, 72),
    },
    "p2p-Gnutella31": {
        "one thread": (56_344_460, 17_544_081, 35_704_146), "threads": (12_100_191, 2_940_818, 6_092_461),
        "GPU": (7_057_582, 26, 1_704),
    },
}  # fmt: skip
SIZES = {
    "p2p-Gnutella08": (6_301, 20_777),
    "p2p-Gnutella04": (10_876, 39_994),
    "p2p-Gnutella30": (36_682, 88_328),
    "p2p-Gnutella31": (62_586, 147_892),
}
PHASES = ("upload", "prepare", "iterations", "download")


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """Page with the report's tables beside the measured ones, and a section per part."""
    parts = study["parts"]
    lines = [
        *heading(study, "PageRank"),
        "All sparse methods gave the same bits, on every device." if agree(study) else "**BITS DIFFER.**",
        "",
    ]
    for name, section in {"runs": _runs, "rules": _rules, "tolerances": _tolerances, "sizes": _sizes}.items():
        if parts.get(name):
            lines += [*section(parts[name]), ""]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(study: Record) -> str:
    """CSV with one line per method, graph and device of the part "runs": medians of the phases in milliseconds."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["graph", "device", "threads", "method", *(f"{phase}_ms" for phase in PHASES), "digest"])
    for row in study["parts"].get("runs", []):
        if "seconds" in row:
            phases = [f"{_ms(row, phase):.4f}" for phase in PHASES]
            writer.writerow([row["graph"], row["device"], row["threads"], row["method"], *phases, row["digest"]])
    return target.getvalue()


def agree(study: Record) -> bool:
    """Whether all sparse methods gave the same bits for each graph, and each precision."""
    seen: dict[tuple[Any, ...], str] = {}
    rows = [row for row in study["parts"].get("runs", []) if row.get("sparse")]
    keys: list[tuple[Record, tuple[Any, ...]]] = [(row, ("runs", row["graph"])) for row in rows]
    keys += [(row, ("sizes", row["preset"], row["nodes"], row["precision"])) for row in study["parts"].get("sizes", [])]
    return all(seen.setdefault(key, row["digest"]) == row["digest"] for row, key in keys)


def _ms(row: Record, phase: str) -> float:
    return 1000 * float(median(row["seconds"].get(phase, [0.0])))


def _total(row: Record) -> float:
    return sum(_ms(row, phase) for phase in row["seconds"])


def _place(row: Record) -> str:
    return "GPU" if row["threads"] == 0 else "one thread" if row["threads"] == 1 else "threads"


def _runs(rows: list[Record]) -> list[str]:
    body, speed = [], []
    for row in rows:
        paper = PAPER[row["graph"]][_place(row)] if row["method"] == "dense" else ()
        theirs = [f"{micro / 1000:,.3f}" for micro in paper] or ["", "", ""]
        where = row["device"] + (f", {row['threads']}" if row["threads"] else "")
        if "seconds" not in row:
            body.append([row["graph"], where, row["method"], row["left_out"], "", "", "", "", *theirs])
            continue
        ours = [f"{_ms(row, phase):,.3f}" for phase in PHASES]
        body.append([row["graph"], where, row["method"], f"{_total(row):,.3f}", *ours, *theirs])
    for graph in SIZES:
        times = {
            (_place(row), row["method"]): _ms(row, "iterations")
            for row in rows
            if row["graph"] == graph and "seconds" in row
        }
        for place in ("one thread", "threads", "GPU"):
            dense, pull = times.get((place, "dense")), times.get((place, "pull"))
            if dense and pull:
                speed.append([graph, place, f"{dense:,.3f}", f"{pull:,.3f}", f"{dense / pull:,.0f}"])
    nodes = {row["graph"]: (row["nodes"], row["edges"]) for row in rows}
    found = [
        [graph, *(f"{number:,}" for number in SIZES[graph]), *(f"{number:,}" for number in nodes[graph])]
        for graph in nodes
    ]
    return [
        "## Table 3.1: graphs",
        "",
        table(["graph", "nodes, report", "edges, report", "nodes, file", "edges, file"], found, right=True),
        "",
        "## Table 3.2: times of 10 iterations",
        "",
        "Milliseconds, medians, from a graph on the host to scores on the host. *upload* and *download* are copies, "
        "*prepare* transposes the graph and fills the matrix (the report's `update_entries`), *iterations* are its "
        "`pagerank`; each ends when the device has finished. The last three columns are the report's, on one and on "
        "several cores and a V100: its GPU times of both kernels are those of launches.",
        "",
        table(
            [
                "graph", "device, threads", "method", "total", *PHASES, "total, report", "update, report",
                "pagerank, report",
            ],
            body,
            right=True,
        ),
        "",
        "## Dense against sparse",
        "",
        "Milliseconds of 10 iterations.",
        "",
        table(["graph", "on", "dense", "pull", "dense / pull"], speed, right=True),
    ]  # fmt: skip


def _rules(rows: list[Record]) -> list[str]:
    body = [
        [
            row["graph"], row["iterations"], f"{row['change']:.2e}", f"{row['distance']:.3f}",
            " ".join(map(str, row["top_report"])), " ".join(map(str, row["top_brin_page"])),
        ]
        for row in rows
    ]  # fmt: skip
    head = ["graph", "iterations", "last change", "L1 to Brin and Page", "top 5, report", "top 5, Brin and Page"]
    return ["## The report's rule", "", "PageRank with a tolerance of 1e-12.", "", table(head, body)]


def _tolerances(rows: list[Record]) -> list[str]:
    head = ["graph", *rows[0]["iterations"]]
    body = [[row["graph"], *row["iterations"].values()] for row in rows]
    return ["## Iterations by tolerance", "", "alpha = 0.85, rule of Brin and Page.", "", table(head, body, right=True)]


def _sizes(rows: list[Record]) -> list[str]:
    columns = list(dict.fromkeys((row["method"], row["precision"]) for row in rows))
    by_graph: dict[tuple[str, int], dict[tuple[str, str], float]] = {}
    for row in rows:
        times = by_graph.setdefault((row["preset"], row["nodes"]), {})
        times[row["method"], row["precision"]] = 1000 * min(row["seconds"])
    body = [
        [preset, f"{nodes:,}", *(f"{times[column]:.4f}" for column in columns)]
        for (preset, nodes), times in by_graph.items()
    ]
    head = ["R-MAT", "nodes", *(f"{method}, {precision}" for method, precision in columns)]
    return [
        "## Pull, push and blocking by size", "",
        "R-MAT graphs of 8 edges per node; milliseconds per iteration, the least of three runs.", "",
        table(head, body, right=True),
    ]  # fmt: skip
