"""Pictures of the study of traversals: degrees, time against MDA, atomics, virtual warps, GTEPS, and
the timeline of blocks.

There is one picture per kind, with panels for the graphs: six pictures for any number of graphs. They are drawn from
the JSON record and need only matplotlib.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scripts.study.traversal.cases import BASE, CHUNKS, Case
from scripts.study.traversal.papers import ATOMIC_GAIN, like
from scripts.study.traversal.records import Record, each_search, find, gteps, median_ms, of_scheme
from scripts.study.traversal.sweeps import ABLATED, ABLATED_NAMES, STRATEGIES, WIDTHS
from scripts.study.traversal.thesis import atomic_gains, distribution
from static_graph.graph.degrees import split_distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY = "#1b2430", "#8a929c"
# Okabe and Ito's palette, distinguishable with colour-vision deficiency.
BASE_COLOUR, SPLIT_COLOUR, CHILD_COLOUR = "#D55E00", "#009E73", "#0072B2"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
INCHES, DOTS = 9.0, 200
BINS = 400  # parts of the time of a timeline
LEAST_GAIN = -100.0  # percent; lines below it are cut off


def pictures(study: Record) -> dict[str, bytes]:
    """Draws each PNG for which there are runs; keyed by the end of its file name."""
    drawn = {
        "degrees": _degrees, "mda": _mda, "atomic": _atomic, "warps": _warps, "gteps": _gteps, "timeline": _timeline
    }  # fmt: skip
    lacking = {name for name in ("degrees", "timeline") if not any(given.get(name) for given in study["inputs"])}
    found = {name: draw(study) for name, draw in drawn.items() if name not in lacking}
    return {name: picture for name, picture in found.items() if picture is not None}


def _degrees(study: Record) -> bytes | None:
    """Figures 4.2, 4.3 and 6.1: distribution of out-degrees, before and after splitting at the thesis' level."""
    figure, pairs = _pairs_of_panels(study, "degrees")
    for given, axes in pairs:
        before, mda = distribution(given), like(given["input"]).mda
        after = split_distribution(before, mda)
        extra = int(after.sum() - before.sum())
        panels = ((given["input"], before), (f"split at {mda}: {extra:,} extra nodes", after))
        for axis, (title, counts), colour in zip(axes, panels, (BASE_COLOUR, SPLIT_COLOUR), strict=True):
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
    """Figure 6.5: one line per processor, shaded by the number of its blocks that run; baseline left, split right."""
    from matplotlib.ticker import MaxNLocator

    figure, pairs = _pairs_of_panels(study, "timeline")
    for given, axes in pairs:
        longest = max(found["nanoseconds"] for found in given["timeline"].values())
        shades = [_running(found, longest) for found in given["timeline"].values()]
        most = max(int(shade.max()) for shade in shades)
        for place, (name, title) in enumerate((("none", "baseline"), ("split", "node splitting"))):
            axis, found = axes[place], given["timeline"][name]
            image = axis.imshow(
                shades[place], cmap="viridis_r", vmin=0, vmax=most, aspect="auto", interpolation="nearest",
                extent=(0, longest / 1e3, 0, len(shades[place])), origin="lower",
            )  # fmt: skip
            _label(axis, f"{given['input']}: {title}, round {found['round']}", "us", "multiprocessor, or thread")
            axis.yaxis.set_major_locator(MaxNLocator(integer=True))
            if place == 1:
                bar = figure.colorbar(image, ax=axis, ticks=MaxNLocator(integer=True))
                bar.set_label("blocks that run", fontsize=8)
                bar.ax.tick_params(labelsize=8)
    return _png(figure)


def _running(found: Record, longest: int) -> NDArray[np.int64]:
    """Number of blocks that run on each processor in each of `BINS` parts of a time in nanoseconds."""
    processors = {number: place for place, number in enumerate(sorted(set(found["processor"])))}
    shade = np.zeros((len(processors), BINS + 1), np.int64)
    for number, begun, ended in zip(found["processor"], found["begun"], found["ended"], strict=True):
        shade[processors[number], BINS * begun // longest] += 1
        shade[processors[number], min(BINS * ended // longest + 1, BINS)] -= 1
    return shade.cumsum(axis=1)[:, :BINS]


def _atomic(study: Record) -> bytes | None:
    """Figure 6.6: time that atomic relaxation saves, by the maximum degree allowed; one panel per search."""
    swept = [
        (given, algorithm, found)
        for given, algorithm, _ in each_search(study)
        if (found := atomic_gains(given, algorithm))
    ]
    if not swept:
        return None
    algorithms = list(dict.fromkeys(algorithm for _, algorithm, _ in swept))
    figure, axes = _panels(len(algorithms), 2)
    for axis, algorithm in zip(axes, algorithms, strict=True):
        axis.axhspan(*ATOMIC_GAIN, color=GREY, alpha=0.4, linewidth=0, label="thesis: 2 to 6%")
        for place, (given, _, found) in enumerate(row for row in swept if row[1] == algorithm):
            _line(axis, found, COLOURS[place % len(COLOURS)], given["input"])
        axis.set_xscale("log", base=2)
        _label(axis, f"{algorithm}: atomic minimum, split graph", "maximum degree allowed", "time saved, %")
        gains = [gain for _, name, found in swept if name == algorithm for _, gain in found]
        axis.set_ylim(max(min(gains) - 5, LEAST_GAIN), max(gains) + 5)
        axis.axhline(0, color=INK, linewidth=0.8)
    _legend(figure, axes[0])
    return _png(figure)


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


def _pairs_of_panels(study: Record, data: str) -> tuple[Figure, list[tuple[Record, list[Any]]]]:
    """Makes two panels for each input that has some data; returns the figure, and these inputs with their panels."""
    inputs = [given for given in study["inputs"] if given.get(data)]
    figure, axes = _panels(2 * len(inputs), 2)
    return figure, [(given, axes[2 * row : 2 * row + 2]) for row, given in enumerate(inputs)]


def _legend(figure: Figure, axis: Axes) -> None:
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)


def _png(figure: Figure) -> bytes:
    """PNG without date and program version, so that the same figures give the same bytes."""
    target = io.BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()
