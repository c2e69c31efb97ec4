"""Draws meshes and graphs with matplotlib, which is optional (the extra [plot]) and imported when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import chosen, shortened
from dmr.common.number_arrays import real_array
from dmr.errors import DmrError, OptionError
from dmr.mesh.arrays import Float, GraphArrays, Int, MeshArrays
from dmr.mesh.names import REGIONS
from dmr.mesh.pictures.quantities import LARGEST_MIN_ANGLE, QUANTITIES, measured, quality_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.tri import Triangulation

INK, FACE = "#1b2430", "#dbe6f0"
# The edges of many triangles would blacken the picture: they become thinner from 5,000 triangles on. Over values, which
# they would dim, and in very large meshes they are left out.
WITH_FULL_EDGES, MOST_OVER_VALUES, MOST_WITH_EDGES = 5_000, 20_000, 500_000
MOST_DOTS = 2_000
MOST_LABELS = 24  # of regions

_TITLES = {"min_angle": "smallest angle (degrees)", "area": "area"}


def triangulation_of(mesh: MeshArrays) -> Triangulation:
    """Converts a mesh for `tripcolor`, `tricontourf` and the other functions of `matplotlib.tri`.

    Raises:
        DmrError: matplotlib is missing, or the mesh has no triangles.
    """
    if not len(mesh.triangles):
        raise DmrError("there is nothing to draw: the mesh has no triangles")
    tri = _import("matplotlib.tri")
    made: Triangulation = tri.Triangulation(mesh.vertices[:, 0], mesh.vertices[:, 1], mesh.triangles)
    return made


def plot_mesh(mesh: MeshArrays, values: str | ArrayLike | None, ax: Axes | None, style: dict[str, Any]) -> Axes:
    """Draws a mesh; arguments, result and errors are those of `Mesh.plot`."""
    name = chosen("values", values, QUANTITIES) if isinstance(values, str) else ""
    shown = measured(mesh, name) if name else None if values is None else _numbers(mesh, values)
    triangulation = triangulation_of(mesh)
    ax = _axes(ax)
    if shown is None:
        colours = {"cmap": _import("matplotlib.colors").ListedColormap([FACE]), **style}
        ax.tripcolor(triangulation, np.zeros(len(mesh.vertices)), **colours)
    elif name == "region":
        _paint_regions(shown, mesh.names[REGIONS], triangulation, ax, style)
    else:
        on_vertices = not name and len(shown) == len(mesh.vertices)
        given = (triangulation, shown) if on_vertices else (triangulation,)
        colours = {"shading": "gouraud"} if on_vertices else {"facecolors": shown}
        if name == "min_angle":  # the scale of `dmr.view`
            scale = _import("matplotlib.colors").ListedColormap(quality_colours() / 255)
            colours |= {"cmap": scale, "vmin": 0.0, "vmax": LARGEST_MIN_ANGLE}
        _add_colour_bar(ax, ax.tripcolor(*given, **{**colours, **style}), label=_TITLES.get(name, ""))
    count = len(mesh.triangles)
    if count <= (MOST_WITH_EDGES if shown is None else MOST_OVER_VALUES):
        width = 0.3 * min(1.0, (WITH_FULL_EDGES / count) ** 0.5)
        ax.triplot(triangulation, color=INK, linewidth=width, zorder=2)
    _draw_lines(ax, mesh.vertices, np.concatenate([mesh.boundary, mesh.segments]))
    return ax


def plot_pslg(pslg: GraphArrays, ax: Axes | None) -> Axes:
    """Draws a graph; arguments, result and errors are those of `Pslg.plot`."""
    if not len(pslg.vertices):
        raise DmrError("there is nothing to draw: the graph has no vertices")
    ax = _axes(ax)
    _draw_lines(ax, pslg.vertices, pslg.segments)
    if len(pslg.vertices) <= MOST_DOTS or not len(pslg.segments):
        ax.plot(*pslg.vertices.T, ".", color=INK, markersize=3)
    if len(pslg.holes):
        ax.plot(*pslg.holes.T, "x", color="#c0392b")
    for x, y, attribute, _ in pslg.regions.tolist():
        ax.annotate(pslg.names[REGIONS].get(attribute, f"{attribute:g}"), (x, y), ha="center", va="center")
    return ax


def _numbers(mesh: MeshArrays, values: ArrayLike) -> Float:
    """Converts values, one for each vertex or each triangle, to float64."""
    try:
        array = real_array(values)
    except ValueError as error:
        raise OptionError(f"values must be real numbers ({error})") from None
    if array.shape not in ((len(mesh.triangles),), (len(mesh.vertices),)):
        raise OptionError(
            f"values must have shape ({len(mesh.triangles)},), one for each triangle, or ({len(mesh.vertices)},), "
            f"one for each vertex, not {array.shape}"
        )
    return array


def _paint_regions(
    regions: Float, names: Mapping[int, str], triangulation: Triangulation, ax: Axes, style: dict[str, Any]
) -> None:
    """Gives each region a colour, and the colour bar the names or numbers of the regions.

    If there are more regions than colours, these repeat. Of many regions, every k-th has a label.
    """
    present, place = np.unique(regions, return_inverse=True)
    count = len(present)
    given = _import("matplotlib").colormaps.get_cmap(style.get("cmap", "Set3"))
    few = given.resampled(min(count, given.N))
    matplotlib_colors = _import("matplotlib.colors")
    colours = matplotlib_colors.ListedColormap(few(np.arange(count) % few.N))
    limits = matplotlib_colors.BoundaryNorm(np.arange(count + 1) - 0.5, count)
    painted = ax.tripcolor(triangulation, facecolors=place, **{**style, "cmap": colours, "norm": limits})
    labelled = slice(None, None, -(-count // MOST_LABELS))
    bar = _add_colour_bar(ax, painted, ticks=range(count)[labelled])
    bar.set_ticklabels([names.get(value, f"{value:g}") for value in present[labelled].tolist()])


def _add_colour_bar(ax: Axes, painted: Any, **style: Any) -> Any:
    beside = ax.inset_axes((1.03, 0.0, 0.03, 1.0))  # as high as the drawing, unlike a colour bar beside the axes
    return ax.figure.colorbar(painted, cax=beside, **style)


def _draw_lines(ax: Axes, vertices: Float, edges: Int) -> None:
    lines = _import("matplotlib.collections").LineCollection(vertices[edges], colors=INK, linewidths=1.2, zorder=3)
    ax.add_collection(lines)
    ax.autoscale_view()


def _axes(ax: Any) -> Axes:
    """Returns the given axes, or those of a new figure, with equal scales."""
    if ax is None:
        ax = _import("matplotlib.pyplot").subplots(layout="constrained")[1]
    elif not hasattr(ax, "tripcolor"):
        raise OptionError(f"ax must be matplotlib axes, not {shortened(ax)}")
    ax.set_aspect("equal")
    found: Axes = ax
    return found


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise DmrError(
            f"plots need matplotlib, the extra [plot] of this package: pip install matplotlib ({error})"
        ) from error
