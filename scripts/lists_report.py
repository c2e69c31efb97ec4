"""The study of lists as a page, a CSV and pictures, from what stands in the JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from static_graph.cost_model import SLIDES_TABLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = dict[str, Any]
# Okabe and Ito's colours, which stay apart for colour-blind eyes.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
DOTS = 200


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """The page: a section a part, and the pictures."""
    parts = study["parts"]
    lines = [f"# List ranking on {study['device']}", ""]
    about = study["machine"]
    lines += [
        f"{about['processor']}, {about['cores']} cores; driver {about['driver']}, {about['compiler']}; "
        f"commit {study['commit']}. `{study['command']}`",
        "",
        "Milliseconds, medians of the timed runs; neither transfers nor the check of the list count. "
        + ("All methods gave the same ranks." if _agree(parts) else "**RANKS DIFFER.**"),
        "",
    ]
    for name, section in SECTIONS.items():
        if parts.get(name):
            lines += [*section(parts[name]), ""]
    lines += [f"![{file}]({file})" for file in pictures]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(study: Record) -> str:
    """A line a ranking: part, size, kind, method, options, median and runs in milliseconds."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["part", "size", "kind", "method", "options", "median_ms", "runs_ms", "agrees"])
    for part, rows in study["parts"].items():
        for row in rows:
            if "seconds" in row and "method" in row:
                runs = " ".join(f"{1000 * s:.4f}" for s in row["seconds"])
                agrees = "yes" if row["agrees"] else "no"
                common = [part, row["size"], row.get("kind", "random"), row["method"], _options(row)]
                writer.writerow([*common, f"{_ms(row):.4f}", runs, agrees])
    return target.getvalue()


def _sizes(rows: list[Record]) -> list[str]:
    names = list(dict.fromkeys(_name(row) for row in rows))
    head = ["elements", *names, "sequential", "gather", "scan", "check", "best / gather", "sequential / best"]
    body = []
    for size in dict.fromkeys(row["size"] for row in rows):
        here = {_name(row): row for row in rows if row["size"] == size}
        common = next(iter(here.values()))
        best = min(map(_ms, here.values()))
        others = [1000 * common[name] for name in ("sequential", "gather", "scan", "check")]
        body.append(
            [
                f"{size:,}",
                *(_number(_ms(here[name])) if name in here else "" for name in names),
                *map(_number, others),
                f"{best / others[1]:.2f}",
                f"{others[0] / best:,.1f}",
            ]
        )
    return ["## Time against size, random lists", "", *_table(head, body)]


def _kinds(rows: list[Record]) -> list[str]:
    names = list(dict.fromkeys(_name(row) for row in rows))
    body = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        here = {_name(row): row for row in rows if row["kind"] == kind}
        first = next(iter(here.values()))
        body.append([kind, *(_number(_ms(here[name])) for name in names), _number(1000 * first["sequential"])])
    size = rows[0]["size"]
    return [f"## Kinds of lists, {size:,} elements", "", *_table(["kind", *names, "sequential"], body)]


def _splitters(rows: list[Record]) -> list[str]:
    body = [
        [
            f"{row['size']:,}",
            _options(row),
            f"{row['figures']['splitters']:,}",
            row["figures"]["levels"],
            _number(_ms(row)),
        ]
        for row in rows
    ]
    return ["## Splitters and finishes", "", *_table(["elements", "options", "splitters", "levels", "ms"], body)]


def _trees(rows: list[Record]) -> list[str]:
    phases = list(dict.fromkeys(name for row in rows for name in row["phases"]))
    body = [
        [
            row["kind"],
            row["given"],
            f"{row['height']:,}",
            *(_number(1000 * row["phases"][name]) if name in row["phases"] else "" for name in phases),
            _number(1000 * sum(row["phases"].values())),
        ]
        for row in rows
    ]
    head = ["tree", "given", "height", *phases, "all"]
    return [f"## Euler tours, {rows[0]['nodes']:,} nodes", "", *_table(head, body)]


def _model(rows: list[Record]) -> list[str]:
    machine = rows[0]["machine"]
    body = [
        [
            f"{row['size']:,}",
            f"{row['cycles']:,.0f}",
            _number(1000 * row["seconds"]),
            _number(1000 * row["throughput"]),
            _number(1000 * row["measured"]),
        ]
        for row in rows
    ]
    read_from = (
        f"Read from the device: {machine['multiprocessors']} multiprocessors at {machine['clock'] / 1e9:.2f} GHz, "
        f"{machine['cores']} cores of depth {machine['depth']}, {machine['latency']:.0f} cycles an access, "
        f"{1e9 * machine['gather']:.4f} ns an element of a random gather."
    )
    slides = [[f"2^{log}", blocks, predicted, measured] for log, blocks, predicted, measured in SLIDES_TABLE]
    return [
        "## The cost model",
        "",
        read_from,
        "",
        *_table(["elements", "C(K), cycles", "T(K), ms", "by the gather, ms", "measured, ms"], body),
        "",
        "The slides, on a GTX 280:",
        "",
        *_table(["elements", "blocks a multiprocessor", "predicted, ms", "measured, ms"], slides),
    ]


SECTIONS: dict[str, Callable[[list[Record]], list[str]]] = {
    "sizes": _sizes, "kinds": _kinds, "splitters": _splitters, "trees": _trees, "model": _model
}  # fmt: skip


def pictures(study: Record) -> dict[str, bytes]:
    """Every PNG that there are runs for, by the end of its file's name."""
    parts, found = study["parts"], {}
    if parts.get("sizes"):
        found["sizes"] = _drawn(lambda axes: _draw_sizes(axes, parts["sizes"]))
    if parts.get("model"):
        found["model"] = _drawn(lambda axes: _draw_model(axes, parts["model"]))
    return found


def _draw_sizes(axes: Axes, rows: list[Record]) -> None:
    for colour, name in zip(COLOURS, dict.fromkeys(_name(row) for row in rows), strict=False):
        here = [row for row in rows if _name(row) == name]
        axes.plot(
            [row["size"] for row in here], [_ms(row) for row in here], "o-", ms=3, lw=1.4, color=colour, label=name
        )
    one = {row["size"]: row for row in rows}
    for style, name in (("k--", "sequential"), ("k:", "gather"), ("k-.", "scan")):
        axes.plot(list(one), [1000 * row[name] for row in one.values()], style, lw=1, label=name)


def _draw_model(axes: Axes, rows: list[Record]) -> None:
    sizes = [row["size"] for row in rows]
    for style, name, label in (
        ("o-", "measured", "measured"),
        ("s--", "seconds", "T(K), the slides' model"),
        ("^:", "throughput", "by a random gather"),
    ):
        axes.plot(sizes, [1000 * row[name] for row in rows], style, ms=4, lw=1.2, label=label)


def _drawn(draw: Callable[[Axes], None]) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    axes = figure.subplots()
    draw(axes)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("elements")
    axes.set_ylabel("ms")
    axes.grid(color="#eeeeec", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=8)
    target = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DOTS)
    canvas.print_png(target, metadata={"Software": None})
    return target.getvalue()


def _agree(parts: dict[str, list[Record]]) -> bool:
    return all(row.get("agrees", True) for rows in parts.values() for row in rows)


def _name(row: Record) -> str:
    """A method with its options, as a column is called."""
    own = _options(row)
    return f"{row['method']} ({own})" if own else str(row["method"])


def _options(row: Record) -> str:
    return ", ".join(f"{name} {value}" for name, value in row["options"].items())


def _ms(row: Record) -> float:
    return float(1000 * median(row["seconds"]))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _table(head: Sequence[object], body: Iterable[Sequence[object]]) -> list[str]:
    rows = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *body)]
    return [rows[0], "|" + " --- |" * len(head), *rows[1:]]
