"""Writes the study of lists as a page and a CSV, from its JSON record."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from scripts.lib.markdown import table
from scripts.study.common import heading
from scripts.study.lists import slides as lists_slides

Record = dict[str, Any]
SLIDES_HEAD = ("slide", "there", "here")
NO_NUMBERS = (
    "Their text has the figures of the model's table, the rules for splitters and the possible gain of a finish. Their "
    "other results are plots without numbers, from which no conclusions are drawn here."
)


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """Page with the slides' figures beside the measured ones, a section per part, and the pictures."""
    parts = study["parts"]
    lines = [
        *heading(study, "List ranking"),
        "Milliseconds, medians of the timed runs, without transfers and without the check of the list. "
        + ("All methods gave the same ranks." if agree(study) else "**RANKS DIFFER.**"),
        "",
        "## Comparison with the slides",
        "",
        "*List ranking on GPUs*, on a GTX 280 of 2009, slide by slide. " + NO_NUMBERS,
        "",
        table(SLIDES_HEAD, lists_slides.beside(parts)),
        "",
    ]
    for name, section in SECTIONS.items():
        if parts.get(name):
            lines += [*section(parts[name]), ""]
    lines += [f"![{file}]({file})" for file in pictures]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(study: Record) -> str:
    """CSV with one line per ranking: part, size, kind, method, options, median and runs in milliseconds."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["part", "size", "kind", "method", "options", "median_ms", "runs_ms", "agrees"])
    for part, rows in study["parts"].items():
        for row in rows:
            if "seconds" in row and "method" in row:
                runs = " ".join(f"{1000 * s:.4f}" for s in row["seconds"])
                agrees = "yes" if row["agrees"] else "no"
                common = [part, row["size"], row.get("kind", "random"), row["method"], options_of(row)]
                writer.writerow([*common, f"{ms(row):.4f}", runs, agrees])
    return target.getvalue()


def agree(study: Record) -> bool:
    """Whether all methods gave the same ranks."""
    return all(row.get("agrees", True) for rows in study["parts"].values() for row in rows)


def _sizes(rows: list[Record]) -> list[str]:
    names = list(dict.fromkeys(name_of(row) for row in rows))
    head = ["elements", *names, "sequential", "gather", "check", "best / gather", "sequential / best"]
    body = []
    for size in dict.fromkeys(row["size"] for row in rows):
        here = {name_of(row): row for row in rows if row["size"] == size}
        common = next(iter(here.values()))
        best = min(map(ms, here.values()))
        others = [1000 * common[name] for name in ("sequential", "gather", "check")]
        body.append(
            [
                f"{size:,}",
                *(number(ms(here[name])) if name in here else "" for name in names),
                *map(number, others),
                f"{best / others[1]:.2f}",
                f"{others[0] / best:,.1f}",
            ]
        )
    return ["## Time against size, random lists", "", table(head, body)]


def _ordered(rows: list[Record]) -> list[str]:
    names = list(dict.fromkeys(name_of(row) for row in rows))
    body = []
    for size in dict.fromkeys(row["size"] for row in rows):
        here = {name_of(row): row for row in rows if row["size"] == size}
        common = next(iter(here.values()))
        scan = 1000 * common["scan"]
        times = [ms(here[name]) for name in names]
        body.append(
            [
                f"{size:,}",
                *map(number, times),
                number(1000 * common["sequential"]),
                number(scan),
                f"{times[-1] / scan:.1f}",
            ]
        )
    head = ["elements", *names, "sequential", "scan", f"{names[-1]} / scan"]
    return ["## Ordered lists, and a scan", "", table(head, body)]


def _kinds(rows: list[Record]) -> list[str]:
    names = list(dict.fromkeys(f"{row['method']} {row['options'].get('spacing', '')}".strip() for row in rows))
    body = []
    for size, kind in dict.fromkeys((row["size"], row["kind"]) for row in rows):
        here = [row for row in rows if (row["size"], row["kind"]) == (size, kind)]
        body.append([f"{size:,}", kind, *(number(ms(row)) for row in here), number(1000 * here[0]["sequential"])])
    return [
        "## Kinds of lists",
        "",
        "One splitter per 32 elements, the interval of the balanced kinds, at equal intervals or at random places.",
        "",
        table(["elements", "kind", *names, "sequential"], body),
    ]


def _splitters(rows: list[Record]) -> list[str]:
    body = [
        [
            f"{row['size']:,}",
            options_of(row) or "default",
            f"{row['figures']['splitters']:,}",
            row["figures"]["levels"],
            number(ms(row)),
        ]
        for row in rows
    ]
    return ["## Splitters and finishes", "", table(["elements", "options", "splitters", "levels", "ms"], body)]


def _trees(rows: list[Record]) -> list[str]:
    phases = max((list(row["phases"]) for row in rows), key=len)
    body = [
        [
            f"{row['nodes']:,}",
            row["kind"],
            row["given"],
            f"{row['height']:,}",
            *(number(1000 * row["phases"][name]) if name in row["phases"] else "" for name in phases),
            number(1000 * sum(row["phases"].values())),
        ]
        for row in rows
    ]
    head = ["nodes", "tree", "given", "height", *phases, "all"]
    return [
        "## Euler tours",
        "",
        "Upload includes the checks of the input. Root tour, root rank and root parents turn edges into parents, by a "
        "separate tour. Tour is sorting and linking; numbers is the scan, and subtree size, preorder, postorder and "
        "level computed from it.",
        "",
        table(head, body),
    ]


def _model(rows: list[Record]) -> list[str]:
    machine = rows[0]["machine"]
    body = [
        [
            f"{row['size']:,}",
            f"{row['cycles']:,.0f}",
            number(1000 * row["seconds"]),
            number(1000 * row["throughput"]),
            number(1000 * row["measured"]),
            *(f"{row[name] / row['measured']:.2f}" for name in ("seconds", "throughput")),
        ]
        for row in rows
    ]
    head = ["elements", "C(K), cycles", "T(K), ms", "by the gather, ms", "measured, ms"]
    return [
        "## The cost model",
        "",
        f"Read from the device: {machine['multiprocessors']} multiprocessors at {machine['clock'] / 1e9:.2f} GHz, "
        f"{machine['cores']} cores of depth {machine['depth']}, {machine['latency']:.0f} cycles per access, "
        f"{1e9 * machine['gather']:.4f} ns per element of a random gather.",
        "",
        table([*head, "T(K) / measured", "gather / measured"], body),
        "",
        "The slides' table, on a GTX 280, and their sizes here:",
        "",
        table(lists_slides.MODEL_HEAD, lists_slides.model_beside(rows)),
    ]


SECTIONS: dict[str, Callable[[list[Record]], list[str]]] = {
    "sizes": _sizes, "ordered": _ordered, "kinds": _kinds, "splitters": _splitters, "trees": _trees, "model": _model
}  # fmt: skip


def name_of(row: Record) -> str:
    """Name of a method with its options, for column heads."""
    own = options_of(row)
    return f"{row['method']} ({own})" if own else str(row["method"])


def options_of(row: Record) -> str:
    """Options as text."""
    return ", ".join(f"{name} {value}" for name, value in row["options"].items())


def ms(row: Record) -> float:
    """Median in milliseconds."""
    return float(1000 * median(row["seconds"]))


def number(value: float) -> str:
    """Formats a number with four digits, or with all integer digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
