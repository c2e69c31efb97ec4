"""Pictures of the study of lists."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scripts.study.lists.report import ms, name_of
from static_graph.lists.cost_model import SLIDES_TABLE
from static_graph.lists.methods.table import RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = dict[str, Any]
# Okabe and Ito's palette, distinguishable with colour-vision deficiency.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
DOTS = 150


def pictures(study: Record) -> dict[str, bytes]:
    """Draws each PNG for which there are runs; keyed by the end of its file name."""
    parts, found = study["parts"], {}
    if parts.get("sizes"):
        found["sizes"] = _drawn(parts["sizes"], _draw_sizes, _draw_speedups)
    if parts.get("kinds"):
        sides = [lambda axes, _: _draw_kinds(axes, parts["kinds"])]
        cut = [r for r in parts.get("splitters", ()) if "splitters" in r["options"] and r["figures"]["splitters"]]
        if cut:  # empty if the lists were too short to be cut
            sides.append(lambda axes, _: _draw_splitters(axes, cut))
        found["kinds"] = _drawn([], *sides)
    if parts.get("ordered"):
        found["ordered"] = _drawn(parts["ordered"], _draw_ordered)
    if parts.get("trees"):
        found["trees"] = _drawn(parts["trees"], _draw_trees, _draw_phases)
    if parts.get("model"):
        found["model"] = _drawn(parts["model"], _draw_model)
    return found


def _draw_sizes(axes: Axes, rows: list[Record]) -> None:
    for colour, (name, here) in zip(COLOURS, _by_name(rows).items(), strict=False):
        _line(axes, here, [ms(row) for row in here], "o-", color=colour, label=name)
    for style, name in (("k--", "sequential"), ("k:", "gather")):
        one = {row["size"]: row for row in rows}
        _line(axes, list(one.values()), [1000 * row[name] for row in one.values()], style, label=name)
    axes.set_title("random lists")
    _scales(axes, "elements", "milliseconds")


def _draw_speedups(axes: Axes, rows: list[Record]) -> None:
    named = _by_name(rows)
    fast, slow = named["helman-jaja"], named["wyllie"]
    _line(axes, fast, [ms(b) / ms(a) for a, b in zip(fast, slow, strict=True)], "o-", color=COLOURS[0], label="Wyllie")
    over = [1000 * row["sequential"] / ms(row) for row in fast]
    _line(axes, fast, over, "s-", color=COLOURS[5], label="the sequential pass")
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.set_title("speed-up of helman-jaja over ...")
    _scales(axes, "elements", "speed-up")


def _draw_ordered(axes: Axes, rows: list[Record]) -> None:
    for colour, (name, here) in zip(COLOURS, _by_name(rows).items(), strict=False):
        _line(axes, here, [ms(row) for row in here], "o-", color=colour, label=name)
    one = list({row["size"]: row for row in rows}.values())
    for style, name in (("k--", "sequential"), ("k-.", "scan")):
        _line(axes, one, [1000 * row[name] for row in one], style, label=name)
    axes.set_title("ordered lists")
    _scales(axes, "elements", "milliseconds")


def _draw_kinds(axes: Axes, rows: list[Record]) -> None:
    rows = [row for row in rows if row["size"] == rows[-1]["size"]]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    names = [f"{row['method']} {row['options'].get('spacing', '')}".strip() for row in rows[: len(rows) // len(kinds)]]
    for k, name in enumerate(names):
        places = [i + (k - (len(names) - 1) / 2) / (len(names) + 1) for i in range(len(kinds))]
        axes.bar(places, [ms(row) for row in rows[k :: len(names)]], 1 / (len(names) + 1), color=COLOURS[k], label=name)
    axes.set_xticks(range(len(kinds)), [kind.replace("-", "\n") for kind in kinds])
    axes.set_title(f"kinds of lists, {rows[0]['size']:,} elements")
    axes.set_ylabel("milliseconds")
    axes.margins(y=0.25)


def _draw_splitters(axes: Axes, rows: list[Record]) -> None:
    rows = [row for row in rows if row["size"] == rows[-1]["size"]]
    for colour, spacing in zip(COLOURS, ("equal", "random"), strict=False):
        here = sorted(
            (row for row in rows if row["options"]["spacing"] == spacing), key=lambda row: row["figures"]["splitters"]
        )
        counts = [row["figures"]["splitters"] for row in here]
        axes.plot(counts, [ms(row) for row in here], "o-", ms=3, lw=1.2, color=colour, label=f"{spacing} spacing")
    for style, rule in zip(("--", ":"), RULES, strict=True):
        for count in {row["figures"]["splitters"] for row in rows if row["options"]["splitters"] == rule}:
            axes.axvline(count, color="#444444", linewidth=0.9, linestyle=style, label=rule)
    axes.set_title(f"splitters, {rows[0]['size']:,} elements")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("splitters")
    axes.set_ylabel("milliseconds")
    axes.set_ylim(0, 1.4 * max(map(ms, rows)))


def _draw_trees(axes: Axes, rows: list[Record]) -> None:
    for colour, given in zip(COLOURS, ("parents", "edges"), strict=False):
        here = [row for row in rows if row["kind"] == "random-binary" and row["given"] == given]
        times = [1000 * sum(row["phases"].values()) for row in here]
        axes.plot([row["nodes"] for row in here], times, "o-", ms=3, lw=1.2, color=colour, label=f"from {given}")
    axes.set_title("Euler tours of random binary trees")
    _scales(axes, "nodes", "milliseconds, transfers included")


def _draw_phases(axes: Axes, rows: list[Record]) -> None:
    rows = [row for row in rows if row["nodes"] == rows[-1]["nodes"]]
    phases = max((list(row["phases"]) for row in rows), key=len)
    left = [0.0] * len(rows)
    for colour, phase in zip(COLOURS, phases, strict=False):
        widths = [1000 * row["phases"].get(phase, 0.0) for row in rows]
        axes.barh(range(len(rows)), widths, 0.7, left=left, color=colour, label=phase)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(rows)), [f"{row['kind']}\nfrom {row['given']}" for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * max(left))  # room for the legend
    axes.set_title(f"where the time goes, {rows[0]['nodes']:,} nodes")
    axes.set_xlabel("milliseconds")


def _draw_model(axes: Axes, rows: list[Record]) -> None:
    for style, name, label in (
        ("o-", "measured", "measured"),
        ("s--", "seconds", "T(K), the slides' model"),
        ("^:", "throughput", "by a random gather"),
    ):
        _line(axes, rows, [1000 * row[name] for row in rows], style, label=label)
    logs, _, predicted, measured = zip(*SLIDES_TABLE, strict=True)
    sizes = [2**log_size for log_size in logs]
    axes.plot(sizes, measured, "o-", ms=3, lw=1, color="#888888", label="GTX 280 (slides), measured")
    axes.plot(sizes, predicted, "s--", ms=3, lw=1, color="#888888", label="GTX 280 (slides), predicted")
    axes.set_title("the cost model")
    _scales(axes, "elements", "milliseconds")


def _by_name(rows: list[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for row in rows:
        found.setdefault(name_of(row), []).append(row)
    return found


def _line(axes: Axes, rows: Sequence[Record], values: Sequence[float], style: str, **more: Any) -> None:
    axes.plot([row["size"] for row in rows], values, style, ms=3, lw=1.2, **more)


def _scales(axes: Axes, across: str, up: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(across)
    axes.set_ylabel(up)


def _drawn(rows: list[Record], *draws: Callable[[Axes, list[Record]], None]) -> bytes:
    """Draws a PNG with its parts side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4 * len(draws), 4.6), layout="constrained")
    for axes, draw in zip(figure.subplots(1, len(draws), squeeze=False)[0], draws, strict=True):
        draw(axes, rows)
        axes.grid(color="#eeeeec", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, fontsize=8)
    target = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DOTS)
    canvas.print_png(target, metadata={"Software": None})
    return target.getvalue()
