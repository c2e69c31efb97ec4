"""Colours triangles by a quantity, and draws the legend."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.pictures.quantities import LARGEST_MIN_ANGLE, REGION_COLOURS, measured, quality_colours
from dmr.mesh.types import Float, Mesh

INK = "#1b2430"

_MOST_REGIONS = 16  # named in a legend
_LETTER = 8.5  # mean width of a letter in a legend, in pixels


@dataclass(frozen=True)
class ColourScale:
    """A common colour scale for all meshes of a picture, so that their colours can be compared.

    Attributes:
        color: one of `QUANTITIES`.
        limits: the values at the ends of the scale; values outside take the colour of the nearer end.
        logarithmic: whether the scale is logarithmic.
        regions: for "region", the attributes that occur, in ascending order; names: those that have names.
    """

    color: str
    limits: tuple[float, float]
    logarithmic: bool = False
    regions: tuple[float, ...] = ()
    names: Mapping[float, str] = field(default_factory=dict)

    @classmethod
    def over(cls, meshes: Sequence[Mesh], color: str) -> ColourScale:
        """Creates a scale for all `meshes`.

        Raises:
            OptionError: `color` is "region", and a mesh has no triangle attributes.
        """
        if color == "min_angle":
            return cls(color, (0.0, LARGEST_MIN_ANGLE))
        values = np.concatenate([measured(mesh, color) for mesh in meshes])
        if color == "region":
            found = np.unique(values)
            names = {float(number): name for mesh in meshes for number, name in mesh.names["regions"].items()}
            return cls(color, (0.0, float(len(found))), regions=tuple(found.tolist()), names=names)
        values = values[values > 0]
        # A few slivers must not compress all other areas into one shade.
        low, high = (float(np.percentile(values, 1)), float(values.max())) if len(values) else (0.5, 1.5)
        if high <= low * (1 + 1e-6):  # all areas equal, as in a grid: rounding errors must not get different colours
            low, high = low * 0.5, high * 1.5
        return cls(color, (low, high), logarithmic=high > 20 * low)

    def paint(self, mesh: Mesh) -> NDArray[np.uint8]:
        """(m, 3): the colour of each triangle."""
        values = measured(mesh, self.color)
        if self.color == "region":
            return REGION_COLOURS[np.searchsorted(self.regions, values) % len(REGION_COLOURS)]
        with np.errstate(divide="ignore"):
            place = self.place(values)
        return self.table()[np.clip(place * 256, 0, 255).astype(np.uint8)]

    def table(self) -> NDArray[np.uint8]:
        """(256, 3): the colours from the lower to the upper end of the scale; not for regions."""
        return quality_colours() if self.color == "min_angle" else _viridis()

    def place(self, values: Float) -> Float:
        """The positions of values on the scale: 0 at its lower end, 1 at its upper end."""
        low, high = self.limits
        if self.logarithmic:
            return np.log(values / low) / math.log(high / low)
        return (values - low) / (high - low)


def round_numbers(low: float, high: float, logarithmic: bool = False) -> list[float]:
    """Two to eight round numbers in [low, high]: multiples of 1, 2 or 5 times a power of ten.

    On a logarithmic scale: the numbers 1, 2 or 5 times a power of ten themselves.
    """
    if logarithmic:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for mantissas, stride in (((1, 2, 5), 1), *(((1,), stride) for stride in (1, 2, 3, 5, 10, 20, 50, 100))):
            found = [float(f"{m}e{e}") for e in powers if e % stride == 0 for m in mantissas]
            found = [value for value in found if low <= value <= high]
            if len(found) <= 8:
                return found
    step = (high - low) / 6
    power = math.floor(math.log10(step))
    for mantissa, exponent in ((1, power), (2, power), (5, power), (1, power + 1)):
        unit = float(f"{mantissa}e{exponent}")
        if unit >= step * 0.999999:
            break
    first, last = math.ceil(low / unit - 1e-9), math.floor(high / unit + 1e-9)
    return [float(f"{k * unit:.12g}") for k in range(first, last + 1)]


def ticks(scale: ColourScale, length: float) -> list[tuple[float, str]]:
    """Lists places along a legend, in pixels, and their numbers: every k-th round number, so that no two overlap."""
    values = round_numbers(*scale.limits, scale.logarithmic)
    texts = [f"{value:g}".replace("e-0", "e-").replace("e+0", "e+") for value in values]
    found = list(zip((length * scale.place(np.array(values))).tolist(), texts, strict=True))
    for stride in range(1, len(found)):
        chosen = found[::stride]
        if all(right - left > _LETTER * (len(a) + len(b) + 1) / 2 for (left, a), (right, b) in pairwise(chosen)):
            return chosen
    return found[:1]


def draw_legend(pv: Any, plotter: Any, scale: ColourScale, width: float, height: float, ratio: float) -> None:
    """Draws the legend in the current renderer: a strip of `width` x `height`, times `ratio` pixels."""
    camera = plotter.camera
    camera.parallel_projection = True
    camera.focal_point, camera.position = (width / 2, height / 2, 0.0), (width / 2, height / 2, 1.0)
    camera.up, camera.parallel_scale, camera.clipping_range = (0.0, 1.0, 0.0), height / 2, (0.5, 1.5)

    def write(text: str, x: float, y: float, size: int) -> None:
        actor = plotter.add_text(text, position=(x / width, y / height), viewport=True, color=INK, font="arial")
        style = actor.GetTextProperty()
        style.SetFontSize(round(size * ratio))
        style.SetJustificationToCentered()
        style.SetVerticalJustificationToTop()

    def boxes(left: NDArray[Any], right: NDArray[Any], bottom: float, top: float, rgb: NDArray[np.uint8]) -> None:
        corners = np.zeros((len(left), 4, 3))
        corners[:, (0, 3), 0], corners[:, (1, 2), 0] = left[:, None], right[:, None]
        corners[:, :2, 1], corners[:, 2:, 1] = bottom, top
        cells = np.arange(4 * len(left)).reshape(-1, 4)
        surface = pv.PolyData.from_regular_faces(corners.reshape(-1, 3), cells)
        surface.cell_data["rgb"] = rgb
        plotter.add_mesh(surface, scalars="rgb", rgb=True, lighting=False)

    title = {"min_angle": "smallest angle (degrees)", "area": "area", "region": "region"}[scale.color]
    write(title, width / 2, height - 4, 17)
    bottom, top = height - 50.0, height - 32.0
    if scale.color == "region":
        count = len(scale.regions)
        shown = min(count, _MOST_REGIONS)
        step = min(90.0, 0.9 * width / max(shown, 1))
        left = width / 2 + (np.arange(shown) - shown / 2) * step
        boxes(left + 0.1 * step, left + 0.9 * step, bottom, top, REGION_COLOURS[np.arange(shown) % len(REGION_COLOURS)])
        for k in range(shown):
            more = k == shown - 1 and count > shown
            name = scale.names.get(scale.regions[k], f"{scale.regions[k]:g}")
            fitting = name if len(name) <= step / _LETTER else f"{name[: int(step / _LETTER) - 1]}."
            write("..." if more else fitting, left[k] + step / 2, bottom - 6, 15)
        return
    start, length = 0.2 * width, 0.6 * width
    edges = start + length * np.arange(257) / 256
    boxes(edges[:-1], edges[1:], bottom, top, scale.table())
    for away, text in ticks(scale, length):
        x = start + away
        plotter.add_mesh(pv.Line((x, bottom - 5, 0), (x, bottom, 0)), color=INK, line_width=1.2 * ratio, lighting=False)
        write(text, x, bottom - 7, 15)


def _viridis() -> NDArray[np.uint8]:
    """(256, 3): a perceptually uniform colour map, also in greyscale and for colour-blind readers."""
    table = importlib.import_module("matplotlib").colormaps["viridis"](np.arange(256), bytes=True)
    return np.ascontiguousarray(table[:, :3])
