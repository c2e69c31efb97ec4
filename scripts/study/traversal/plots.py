"""Pictures of the study of traversals: degrees, time against MDA, virtual warps, GTEPS, and the timeline of blocks.

There is one picture per kind, with panels for the graphs: five pictures for any number of graphs. They are drawn from
the JSON record and need only matplotlib.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.study.traversal.cases import BASE, CHUNKS, Case
from scripts.study.traversal.papers import like
from scripts.study.traversal.records import Record, find, gteps, median_ms, of_scheme
from scripts.study.traversal.sweeps import ABLATED, ABLATED_NAMES, STRATEGIES, WIDTHS
from scripts.study.traversal.thesis import distribution
from static_graph.graph.degrees import split_distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY = "#1b2430", "#8a929c"
# Okabe and Ito's palette, distinguishable with colour-vision deficiency.
BASE_COLOUR, SPLIT_COLOUR, CHILD_COLOUR = "#D55E00", "#009E73", "#0072B2"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
INCHES, DOTS = 9.0, 200


def pictures(study: Record) -> dict[str, bytes]:
    """Draws each PNG for which there are runs; keyed by the end of its file name."""
    drawn = {"degrees": _degrees, "mda": _mda, "warps": _warps, "gteps": _gteps, "timeline": _timeline}
    found = {name: draw(study) for name, draw in drawn.items()}
    return {name: picture for name, picture in found.items() if picture is not None}


def _degrees(study: Record) -> bytes | None:
    """Figures 4.2, 4.3 and 6.1: distribution of out-degrees, before and after splitting at the thesis' level."""
    inputs = [given for given in study["inputs"] if given.get("degrees")]
    if not inputs:
        return None
    figure, axes = _panels(2 * len(inputs), 2)
    for row, given in enumerate(inputs):
        before, mda = distribution(given), like(given["input"]).mda
        after = split_distribution(before, mda)
        extra = int(after.sum() - before.sum())
        panels = ((given["input"], before), (f"split at {mda}: {extra:,} extra nodes", after))
        for axis, (title, counts), colour in zip(axes[2 * row :], panels, (BASE_COLOUR, SPLIT_COLOUR), strict=False):
            some = np.flatnonzero(counts)
            axis.plot(some, counts[some], ".", color=colour, markersize=3)
            _label(axis, title, "out-degree", "nodes")
            axis.set_xscale("symlog", linthresh=1)  # shows degree 0
            axis.set_yscale("log")
            axis.set_xlim(-0.2, 1.5 * len(before))
            axis.set_ylim(0.7, 1.5 * max(before.max(), after.max()))
    return _png(figure)


def _mda(study: Record) -> bytes | None:
    """Figures 6.2 and 6.3: time against the maximum degree allowed, one panel per graph and search."""
    panels = [(given, name) for given in study["inputs"] for name in given["reached"]]
    panels = [(given, name) for given, name in panels if of_scheme(given, name, "split", atomic=False)]
    if not panels:
        return None
    figure, axes = _panels(len(panels), 2)
    for (given, algorithm), axis in zip(panels, axes, strict=True):
        split = of_scheme(given, algorithm, "split", atomic=False)
        children = of_scheme(given, algorithm, "child-launch")
        base = find(given, algorithm, BASE)
        assert base is not None
        axis.axhline(median_ms(base), color=BASE_COLOUR, label="baseline")
        _line(axis, [(run["options"]["mda"], median_ms(run)) for run in split], SPLIT_COLOUR, "node splitting")
        _line(axis, [(run["options"]["threshold"], median_ms(run)) for run in children], CHILD_COLOUR, "child launches")
        axis.set_xscale("log", base=2)
        _label(axis, f"{given['input']}, {algorithm}", "maximum degree allowed", "ms")
    _legend(figure, axes[0])
    return _png(figure)


def _warps(study: Record) -> bytes | None:
    """Speed-up over one lane per node, by lanes and by chunks, one line per graph and search."""
    chunks = [Case("warp", {"warp_size": 32, "chunk": chunk}) for chunk in CHUNKS]
    if not any(find(given, "bfs", WIDTHS[0]) for given in study["inputs"]):
        return None
    figure, axes = _panels(4, 2)
    for row, algorithm in enumerate(("bfs", "sssp")):
        for place, given in enumerate(study["inputs"]):
            one_lane = find(given, algorithm, WIDTHS[0])
            if one_lane is None:
                continue
            for axis, swept, option in ((axes[2 * row], WIDTHS, "warp_size"), (axes[2 * row + 1], chunks, "chunk")):
                runs = [run for run in (find(given, algorithm, case) for case in swept) if run is not None]
                points = [(run["options"][option], median_ms(one_lane) / median_ms(run)) for run in runs]
                _line(axis, points, COLOURS[place % len(COLOURS)], given["input"])
                axis.set_xscale("log", base=2)
        _label(axes[2 * row], f"{algorithm}: static", "lanes of a virtual warp", "speed-up over one lane")
        _label(axes[2 * row + 1], f"{algorithm}: chunks, 32 lanes", "nodes of a chunk", "")
    _legend(figure, axes[0])
    return _png(figure)


def _gteps(study: Record) -> bytes | None:
    """GTEPS of breadth-first search by strategy, and of the local collapse by its options."""
    inputs = [given for given in study["inputs"] if find(given, "bfs", STRATEGIES[0])]
    if not inputs:
        return None
    figure, axes = _panels(2, 2)
    for axis, wanted, names in (
        (axes[0], STRATEGIES, ("baseline", "H", "ML", "MG")),
        (axes[1], ABLATED, ABLATED_NAMES),
    ):
        width = 0.8 / len(wanted)
        for k, (case, name) in enumerate(zip(wanted, names, strict=True)):
            runs = [find(given, "bfs", case) for given in inputs]
            heights = [0.0 if run is None else gteps(given, run) for given, run in zip(inputs, runs, strict=True)]
            places = [place + width * (k - (len(wanted) - 1) / 2) for place in range(len(inputs))]
            axis.bar(places, heights, width, color=GREY if name == "baseline" else COLOURS[k], label=name)
        axis.set_xticks(range(len(inputs)), [given["input"] for given in inputs], rotation=20, ha="right", fontsize=8)
        axis.legend(frameon=False, fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.13))
    _label(axes[0], "strategies", "", "GTEPS, breadth first")
    _label(axes[1], "options of the local collapse", "", "")
    return _png(figure)


def _timeline(study: Record) -> bytes | None:
    """Figure 6.5: one band per processor, with a bar for the run time of each block; baseline left, split right."""
    inputs = [given for given in study["inputs"] if given.get("timeline")]
    if not inputs:
        return None
    figure, axes = _panels(2 * len(inputs), 2)
    for row, given in enumerate(inputs):
        longest = max(found["nanoseconds"] for found in given["timeline"].values()) / 1e3
        for place, (name, title) in enumerate((("none", "baseline"), ("split", "node splitting"))):
            axis, found = axes[2 * row + place], given["timeline"][name]
            processors = sorted({line[0] for line in found["lines"]})
            for band, processor in enumerate(processors):
                _draw_band(axis, band, [line[1:] for line in found["lines"] if line[0] == processor], COLOURS[place])
            _label(axis, f"{given['input']}: {title}, round {found['round']}", "us", "multiprocessor, or thread")
            axis.set_yticks([band + 0.4 for band in range(len(processors))], [str(number) for number in processors])
            axis.set_ylim(len(processors), -0.2)
            axis.set_xlim(0, 1.02 * longest)
    return _png(figure)


def _draw_band(axis: Axes, band: int, blocks: list[list[int]], colour: str) -> None:
    """Draws the blocks of a processor, those that run at the same time side by side."""
    free: list[int] = []  # time from which on each lane of the band is free
    placed = []
    for begun, ended in sorted(blocks):
        beside = next((k for k, until in enumerate(free) if until <= begun), len(free))
        free[beside : beside + 1] = [ended]
        placed.append((beside, begun / 1e3, (ended - begun) / 1e3))
    height = 0.8 / len(free)
    for beside in range(len(free)):
        bars = [(begun, length) for where, begun, length in placed if where == beside]
        axis.broken_barh(bars, (band + beside * height, height), color=colour, edgecolor="white", linewidth=0.2)


def _line(axis: Axes, points: list[tuple[float, float]], colour: str, label: str) -> None:
    points.sort()
    axis.plot([x for x, _ in points], [y for _, y in points], "o-", color=colour, markersize=3, label=label)


def _label(axis: Axes, title: str, below: str, beside: str) -> None:
    axis.set_title(title, fontsize=9, color=INK, pad=14 if axis.get_legend() else None)
    axis.set_ylim(0)
    axis.set_xlabel(below, fontsize=8)
    axis.set_ylabel(beside, fontsize=8)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def _panels(count: int, columns: int) -> tuple[Figure, list[Any]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-count // columns)
    figure = Figure(figsize=(INCHES, 2.7 * rows), dpi=DOTS, layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, axes[:count]


def _legend(figure: Figure, axis: Axes) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)


def _png(figure: Figure) -> bytes:
    """PNG without date and program version, so that the same figures give the same bytes."""
    target = io.BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()
