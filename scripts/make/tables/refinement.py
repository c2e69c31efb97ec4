"""Tables of the pages on the thesis and of the log of experiments: refinement."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Any

from scripts.lib.markdown import table
from scripts.make.tables.records import bench, find, measured, study
from scripts.study.refinement.papers import TABLE_6_3
from scripts.study.refinement.rows import BASE, DEFAULT, HOST_DRIVEN, LITERAL
from scripts.study.refinement.tables import lines, overtakings, percent

STUDY = "2026-11-23-h200-refinement"
LAUNCHES = "2026-11-21-h200-launches"
PROFILES = ("2026-11-22-h200-5.6m-profile", "2026-11-22-h200-1m-profile")
LARGE, MIDDLE = "thesis-5.6m", "thesis-1.1m"
LAUNCHED_BY = {
    "stream": "host, into a stream",
    "tail-launch": "device, kernel by kernel (tail launches)",
    "graph": "host, as a graph",
    "graph-itself": "device, a graph that launches itself",
    "graph-while": "device, a loop in a graph",
}


def table_6_3() -> str:
    """Table 6.3 of the thesis, with the rows of the study."""
    body = []
    for line in _lines(LARGE):
        theirs, published = TABLE_6_3.get(line["row"]), ["", "", "", ""]
        if theirs is not None:
            times = zip(theirs, TABLE_6_3[BASE], strict=True)
            published = [cell for ms, base in times for cell in (f"{ms:,.2f}", f"{100 * (1 - ms / base):.2f}%")]
        saved = (percent(line[name]) for name in ("improvement_percent", "literal_percent"))
        body.append([line["title"], *published, f"{line['median_ms']:,.1f}", *saved])
    head = ("", "Kepler, ms", "", "Fermi, ms", "", "H200, ms", "", "relative to the base as printed")
    return table(head, body, right=True)


def all_inputs() -> str:
    """Milliseconds, rounds and acceptance of every row on every input."""
    inputs = [given["input"] for given in study(STUDY)["inputs"]]
    by_row: dict[str, dict[str, Any]] = {}
    for line in lines(study(STUDY)):
        by_row.setdefault(line["row"], {})[line["input"]] = line
    body = [
        [
            _titles()[row],
            *(cell for name in inputs for cell in _cells(found.get(name))),
        ]
        for row, found in by_row.items()
    ]
    head = [
        "",
        *(cell for name in inputs for cell in (f"{name.removeprefix('thesis-').upper()}: ms", "rounds", "wins")),
    ]
    return table(head, body, right=True)


def _cells(line: dict[str, Any] | None) -> list[str]:
    if line is None:
        return ["", "", ""]
    return [f"{line['median_ms']:,.1f}", f"{line['rounds']:,}", f"{line['acceptance']:.1%}"]


def figure_6_8() -> str:
    """Until when the base is ahead of the rows of two stages, on the input of the figure."""
    return "\n".join(overtakings(_input(MIDDLE)))


def first_round() -> str:
    """Candidates and insertions of the rounds with the most of them, on the input of figure 6.8."""
    found = {row["row"]: row["history"] for row in _input(MIDDLE)["rows"]}
    body = []
    for name in (BASE, LITERAL, "atomic", "two-stage", DEFAULT):
        history = found[name]
        cavities, inserted = max(zip(history["attempted"], history["inserted"], strict=True))
        body.append([_titles()[name], f"{cavities:,}", f"{inserted:,}", f"{max(history['inserted']):,}"])
    head = ("", "cavities of the largest round", "of these inserted", "most insertions in a round")
    return table(head, body, right=True)


def tail() -> str:
    """The tail of the base: rounds and time after nearly all points are inserted, on the largest input."""
    (row,) = (row for row in _input(LARGE)["rows"] if row["row"] == BASE)
    history = row["history"]
    done = list(accumulate(history["inserted"]))
    last = next(k for k, count in enumerate(done) if count >= 0.999 * done[-1])
    seconds = history["seconds"]
    late = slice(last + 1, None)
    single = sum(count == 1 for count in history["inserted"][late])
    return (
        f"At 5.6 M, 99.9% of the base's points are inserted after {last + 1} of {len(done)} rounds and "
        f"{1000 * seconds[last]:.0f} of {1000 * seconds[-1]:.0f} ms (history of the median run). In the other rounds, "
        f"{statistics.median(history['inserted'][late]):.0f} of {statistics.median(history['attempted'][late]):.0f} "
        f"cavities insert their point (medians); {single} of these rounds insert a single one."
    )


def drivers() -> str:
    """The default driven by the host and by the device."""
    body = []
    for given in study(STUDY)["inputs"]:
        found = {line["row"]: line["median_ms"] for line in _lines(given["input"])}
        host, device = found[HOST_DRIVEN], found[DEFAULT]
        body.append([f"{given['triangles']:,}", f"{host:.1f}", f"{device:.1f}", f"{host / device:.1f}"])
    return table(("triangles", "host-driven, ms", "device-driven, ms", "speed-up"), body, right=True)


def launches() -> str:
    """Microseconds per kernel by what launches it, in sequences of 50."""
    (record,) = bench(LAUNCHES)
    found = {(one["driver"], one["blocks"]): one["a_kernel"] for one in record["microseconds"] if one["kernels"] == 50}
    blocks = sorted({count for _, count in found})
    body = [[title, *(f"{found[name, count]:.2f}" for count in blocks)] for name, title in LAUNCHED_BY.items()]
    head = ("launched by", *(f"{count:,} block{'s' if count > 1 else ''}" for count in blocks))
    return table(head, body, right=True)


def counters() -> str:
    """Hardware counters of the default's kernels, as the pages of two profiles have them."""
    large, small = (_profile(name) for name in PROFILES)
    chosen = ("longest, us", "threads of 32", "warps, %", "DRAM, %", "L2, %")
    body = []
    for kernel, found in large.items():
        if kernel not in small or found["longest, us"] == "-":
            continue
        rounded = [f"{float(found[name].replace(',', '')):,.0f}" for name in chosen]
        megabytes = f"{int(found['DRAM, bytes'].replace(',', '')) / 1e6:,.0f}"
        others = [f"{float(small[kernel][name]):,.0f}" for name in ("longest, us", "warps, %", "L2, %")]
        body.append([kernel, *rounded, megabytes, *others])
    head = (
        "kernel (name at that commit)", "5.6 M: us", "active threads of 32", "warps, %", "DRAM, %", "L2, %", "DRAM, MB",
        "1 M: us", "warps, %", "L2, %",
    )  # fmt: skip
    return table(head, body, right=True)


def _profile(name: str) -> dict[str, dict[str, str]]:
    """Cells of the table of a profile's page, by kernel and column."""
    lines = find(f"{name}.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def conditions() -> str:
    """States when and where the study was measured, and how much of it was proved."""
    found = lines(study(STUDY))
    proved, runs = sum(line["proved"] for line in found), sum(line["runs"] for line in found)
    unproved = ", ".join(sorted({line["input"].removeprefix("thesis-") for line in found if not line["proved"]}))
    return (
        f"Measured {measured(study(STUDY))}; medians of {max(line['repeats'] for line in found)} runs per row, one run "
        f"of rows that take more than 3 s. The exact checker proved the results of {proved} of {runs} runs"
        + (f", none of {unproved.upper()}." if unproved else ".")
    )


def _lines(name: str) -> list[dict[str, Any]]:
    return [{**line, "title": _titles()[line["row"]]} for line in lines(study(STUDY)) if line["input"] == name]


def _input(name: str) -> dict[str, Any]:
    (given,) = (given for given in study(STUDY)["inputs"] if given["input"] == name)
    return dict(given)


def _titles() -> dict[str, str]:
    return {row["row"]: row["title"] for given in study(STUDY)["inputs"] for row in given["rows"]}


TABLES: Mapping[str, Callable[[], str]] = {
    "thesis-conditions": conditions,
    "thesis-6.3": table_6_3,
    "thesis-inputs": all_inputs,
    "thesis-figure-6.8": figure_6_8,
    "thesis-first-round": first_round,
    "thesis-tail": tail,
    "thesis-drivers": drivers,
    "thesis-launches": launches,
    "log-counters": counters,
}
