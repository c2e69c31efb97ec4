"""Compares the slides (List ranking on GPUs) with the measurements of a study."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from static_graph.lists.cost_model import GTX_280, SLIDES_TABLE
from static_graph.lists.methods.table import RULES

Record = dict[str, Any]
Parts = dict[str, list[Record]]
MODEL_HEAD = (
    "elements", "GTX 280: blocks per multiprocessor", "predicted, ms", "measured, ms", "predicted / measured",
    "here: T(K), ms", "by the gather, ms", "measured, ms", "GTX 280 / here",
)  # fmt: skip


def beside(parts: Parts) -> list[tuple[str, str, str]]:
    """(slide, its statement, measurement) for each slide whose parts were measured, in the slides' order."""
    found = []
    for part, slide, said, measured in SLIDES:
        if parts.get(part):
            found.append((slide, said, measured(parts[part])))
    return found


def model_beside(rows: list[Record]) -> list[list[str]]:
    """Lines of the slides' table, with the measurements for the same sizes."""
    here = {row["size"]: row for row in rows}
    lines = []
    for log_size, blocks, predicted, measured in SLIDES_TABLE:
        line = [f"2^{log_size}", str(blocks), f"{predicted}", f"{measured}", f"{predicted / measured:.2f}"]
        row = here.get(2**log_size)
        if row is None:
            lines.append([*line, "", "", "", ""])
        else:
            own = [1000 * row[name] for name in ("seconds", "throughput", "measured")]
            lines.append([*line, *(f"{value:.4g}" for value in own), f"{measured / own[-1]:.1f}"])
    return lines


def _packing(rows: list[Record]) -> str:
    short = [row for row in rows if row["options"].get("packing") == 32]
    if not short:
        return "no such list"
    size = short[-1]["size"]
    return f"{size:,} elements: {_ms(_row(rows, size, 'wyllie'))} ms in 64 bits, {_ms(short[-1])} ms in 32"


def _wyllies(rows: list[Record]) -> str:
    size = rows[-1]["size"]
    times = [(name, _row(rows, size, name)) for name in ("wyllie", "lock-step", "on-demand")]
    return f"{size:,} elements: " + ", ".join(f"{name} {_ms(row)} ms" for name, row in times)


def _against_wyllie(rows: list[Record]) -> str:
    ratios = {
        size: _median(_row(rows, size, "wyllie")) / _median(_row(rows, size, "helman-jaja"))
        for size in dict.fromkeys(row["size"] for row in rows)
    }
    slower = [size for size, ratio in ratios.items() if ratio <= 1]
    faster = [size for size in ratios if size > max(slower, default=0)]
    size = max(ratios)
    since = f"faster than Wyllie from {faster[0]:,} elements on; " if faster else ""
    return f"{since}{ratios[size]:.1f} times as fast at {size:,}"


def _against_sequential(rows: list[Record]) -> str:
    size = rows[-1]["size"]
    row = _row(rows, size, "helman-jaja")
    return (
        f"{size:,} elements: {_ms(row)} ms, {row['sequential'] / _median(row):,.1f} times as fast as one thread of the "
        f"host; {_median(row) / row['gather']:.2f} times a random gather"
    )


def _kinds(rows: list[Record]) -> str:
    size = rows[-1]["size"]
    times = {row["kind"]: _ms(row) for row in rows if row["size"] == size and row["options"].get("spacing") == "equal"}
    return f"{size:,} elements, equal intervals: " + ", ".join(f"{kind} {time} ms" for kind, time in times.items())


def _ordered(rows: list[Record]) -> str:
    row = rows[-1]
    scan = f"{1000 * row['scan']:.4g} ms: {_median(row) / row['scan']:.1f} times as long"
    return f"{row['size']:,} elements: {_ms(row)} ms, and the scan {scan}"


def _rules(rows: list[Record]) -> str:
    said = []
    for size in dict.fromkeys(row["size"] for row in rows):
        here = [row for row in rows if row["size"] == size and "finish" not in row["options"]]
        best = [min((row for row in here if row["options"].get("splitters") == rule), key=_median) for rule in RULES]
        by_rule = ", ".join(f"{rule} {_ms(row)} ms" for rule, row in zip(RULES, best, strict=True))
        default, fastest = next(row for row in here if not row["options"]), min(here, key=_median)
        own = f"by default ({default['figures']['splitters']:,} splitters) {_ms(default)} ms"
        least = f"fastest with {fastest['figures']['splitters']:,}, {_ms(fastest)} ms"
        said.append(f"{size:,} elements: {by_rule}, {own}, {least}")
    return "; ".join(said)


def _finishes(rows: list[Record]) -> str:
    said = []
    for size in dict.fromkeys(row["size"] for row in rows):
        ended = [row for row in rows if row["size"] == size and "finish" in row["options"]]
        to_one = next(row for row in ended if row["options"] == {"finish": "one", "finish_size": 1})
        parts = [f"{size:,} elements: down to one element {_ms(to_one)} ms"]
        for finish in dict.fromkeys(row["options"]["finish"] for row in ended):
            others = sorted((r for r in ended if r["options"]["finish"] == finish and r is not to_one), key=_median)
            parts.append(f"finish {finish} {_less(others[0], to_one)} to {_less(others[-1], to_one)}")
        said.append(", ".join(parts))
    return "; ".join(said)


def _default_splitters(rows: list[Record]) -> str:
    size = rows[-1]["size"]
    default = next(row for row in rows if row["size"] == size and not row["options"])
    asked = {"splitters": RULES[0], "spacing": "equal"}
    equal = next(row for row in rows if (row["size"], row["options"]) == (size, asked))
    return (
        f"{size:,} elements: the default (splitters at random places, walkers that each take several sublists) takes "
        f"{_less(default, equal)} time than {RULES[0]} at equal intervals"
    )


def _toured(rows: list[Record]) -> str:
    nodes = rows[-1]["nodes"]
    said = []
    for given in ("parents", "edges"):
        row = next(r for r in rows if (r["kind"], r["nodes"], r["given"]) == ("random-binary", nodes, given))
        whole = sum(row["phases"].values())
        shares = ", ".join(f"{name} {100 * seconds / whole:.0f}%" for name, seconds in row["phases"].items())
        said.append(f"from {given} {1000 * whole:.4g} ms ({shares})")
    return f"{nodes:,} nodes: " + "; ".join(said)


def _latency(rows: list[Record]) -> str:
    machine = rows[0]["machine"]
    return f"{machine['latency']:.0f} cycles at {machine['clock'] / 1e9:.2f} GHz, measured along a random list"


def _model(rows: list[Record]) -> str:
    ratios = [[row[name] / row["measured"] for row in rows] for name in ("seconds", "throughput")]
    spans = [f"{min(part):.2f} to {max(part):.2f}" for part in ratios]
    return f"T(K) is {spans[0]} times the measured time, the prediction by a random gather {spans[1]} times"


def _accuracy() -> str:
    ratios = [predicted / measured for *_, predicted, measured in SLIDES_TABLE]
    return f"the prediction is {min(ratios):.2f} to {max(ratios):.2f} times the measured time (table below)"


# (part, slide, its statement, function for the measurement), in the order of the slides.
SLIDES: tuple[tuple[str, str, str, Callable[[list[Record]], str]], ...] = (
    ("sizes", "Optimization I: 32-bit packing", "32 bits for lists below 2^16 elements; a plot by size", _packing),
    ("sizes", "Comparison of the methods", "a plot of Wyllie's algorithm, lock-step, and reduced memory operations",
     _wyllies),
    ("model", "Where is the performance bottleneck?", "400 to 600 cycles per random read, "
     f"{GTX_280.latency:.0f} in the model, at {GTX_280.clock / 1e9:.1f} GHz", _latency),
    ("splitters", "When do we stop?", "a list of one element; the CPU or Wyllie may save about 1%", _finishes),
    ("splitters", "Choosing the right amount of splitters",
     "n / log n for small lists, n / (2 log^2 n) for more than 8 M elements", _rules),
    ("sizes", "Results: runtime with respect to Wyllie's", "a plot by size", _against_wyllie),
    ("kinds", "Runtime performance analysis", "a plot of the four kinds of lists", _kinds),
    ("ordered", "Results: ordered lists", "equivalent to a scan; a plot of both", _ordered),
    ("sizes", "Comparison with recent results", "a plot; the conclusions: the fastest on a single chip when published",
     _against_sequential),
    ("trees", "Results for GPU; timing breakup", "plots of rooting and subtree sizes, random binary trees", _toured),
    ("model", "Modeling list ranking", _accuracy(), _model),
    ("splitters", "Chronology of work", "Wei and JaJa (2010): 30% faster by thread count and splitters that even out "
     "the load", _default_splitters),
)  # fmt: skip


def _row(rows: list[Record], size: int, method: str) -> Record:
    """Row of a method without options."""
    return next(row for row in rows if (row["size"], row["method"], row["options"]) == (size, method, {}))


def _median(row: Record) -> float:
    return float(median(row["seconds"]))


def _less(row: Record, other: Record) -> str:
    """Relative difference of the times of two cases, as text."""
    part = 100 * (_median(row) / _median(other) - 1)
    return f"{abs(part):.1f}% {'more' if part > 0 else 'less'}"


def _ms(row: Record) -> str:
    return f"{1000 * _median(row):.4g}"
