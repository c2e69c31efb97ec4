"""Plots of degree distributions: figures 4.2 and 4.3 of the thesis, and 6.1 (after splitting)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from dmr.common.arguments import as_path, checks_keywords
from dmr.common.text import counted
from static_graph.common.arguments import check_graph
from static_graph.common.targets import check_target, replace_file
from static_graph.errors import DmrError, TargetError
from static_graph.graph.csr import CsrGraph
from static_graph.graph.degrees import Counts, degree_distribution, split_distribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = (6.4, 4.2)  # inches
BLUE, GREY = "#3465a4", "#555753"


@checks_keywords
def plot_degrees(
    graph: CsrGraph, path: str | Path, *, mda: int | None = None, title: str = "", overwrite: bool = True
) -> Path:
    """Plots the number of nodes of each out-degree, on logarithmic axes.

    Args:
        graph: the graph.
        path: a `.png` file.
        mda: if given, a second panel with the same axes shows the distribution after splitting nodes at this maximum
            degree.
        title: the title of the plot.
        overwrite: whether the file may exist already.

    Returns:
        The file written.

    Raises:
        FileError: the file cannot be written.
        OptionError: `graph` is not a graph, or `mda` is invalid.
        DmrError: matplotlib is not installed.
    """
    check_graph(graph, CsrGraph)
    path = as_path(path)
    check_picture_target(path, overwrite)
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise DmrError("pictures need matplotlib: install it, or the extra [view]") from None
    distribution = degree_distribution(graph.out_degrees)
    panels: list[tuple[str, Counts]] = [(title, distribution)]
    if mda is not None:
        after = split_distribution(distribution, mda)
        extra = int(after.sum() - distribution.sum())
        panels.append((f"after splitting, MDA {mda}: {counted(extra, 'extra node')}", after))
    figure = Figure(figsize=(PANEL[0] * len(panels), PANEL[1]), layout="constrained")
    axes: Any = figure.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True)
    for place, (head, counts) in zip(axes[0], panels, strict=True):
        _draw(place, head, counts)
    axes[0][0].set_xlim(-0.2, 1.5 * max(len(distribution) - 1, 1))
    axes[0][0].set_ylim(0.7, 1.5 * max(counts.max(initial=1) for _, counts in panels))
    axes[0][0].set_ylabel("nodes")

    def fill(file: BinaryIO) -> None:
        canvas: Any = FigureCanvasAgg(figure)
        canvas.print_png(file, metadata={"Software": None})

    replace_file(path, fill, overwrite=overwrite)
    return path


def check_picture_target(path: Path, overwrite: bool) -> None:
    """Raises FileError if a picture cannot be written to a path; called before drawing."""
    if path.suffix.lower() != ".png":
        raise TargetError("pictures are written as .png", path)
    check_target(path, overwrite)


def _draw(axes: Axes, head: str, counts: Counts) -> None:
    degrees = np.flatnonzero(counts)
    axes.set_xscale("symlog", linthresh=1)  # includes degree 0
    axes.set_yscale("log")
    axes.plot(degrees, counts[degrees], ".", markersize=4, color=BLUE)
    axes.set_xlabel("out-degree")
    axes.set_title(head, fontsize=10, color=GREY)
    axes.grid(color="#eeeeec", linewidth=0.6)
    axes.set_axisbelow(True)
