"""Domains of several polygons: districts that share borders, islands in lakes in islands, gaps between neighbours.

The domain is the union of the polygons. All rings and lines are merged into one graph; then an exact test determines
which polygon contains each face that they enclose. A face in no polygon gets a hole point, whatever encloses it: a
lake, a gap between districts, the water between an island and a pier.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import checks_keywords, listed, real_option, shortened, whole_option
from dmr.domains.composing import merged, with_holes, with_regions
from dmr.domains.faces import enclosed_faces
from dmr.domains.interior import INSIDE, side_of_rings
from dmr.domains.rings import checked_ring
from dmr.domains.shapes import closed_segments
from dmr.errors import InvalidMeshError, OptionError
from dmr.mesh.types import Float, Pslg


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One polygon of a domain.

    Attributes:
        rings: (n, 2) each, checked: the outline, then the holes.
        attribute: the attribute of its region, or None.
        area: the maximum triangle area; 0 for no bound.
        marker: the marker of its segments.
    """

    rings: tuple[Float, ...]
    attribute: float | None = None
    area: float = 0.0
    marker: int = 0

    def covers(self, point: Float) -> bool:
        """Whether a point lies strictly inside the outline and in none of the holes."""
        if side_of_rings(self.rings[:1], point) != INSIDE:
            return False
        return not any(side_of_rings([hole], point) == INSIDE for hole in self.rings[1:])

    def graph(self) -> Pslg:
        """The graph of its rings."""
        ends = closed_segments(self.rings)
        return Pslg(np.concatenate(self.rings), ends, segment_markers=np.full(len(ends), self.marker, np.int32))


@checks_keywords
def polygons(
    parts: Iterable[tuple[ArrayLike, Sequence[ArrayLike]]],
    *,
    attributes: Sequence[float] | None = None,
    areas: Sequence[float] | None = None,
    markers: Sequence[int] | None = None,
) -> Pslg:
    """The union of several polygons as one domain.

    The polygons may share borders and vertices, touch, nest (an island in a lake) and overlap. Where they overlap, the
    last one determines attribute and area. Vertices are merged as by `merge`.

    Args:
        parts: each (outline, holes), as for `polygon`; holes that touch themselves or each other are also valid.
        attributes: one region attribute per part; None for no regions.
        areas: maximum triangle area of each part, <= 0 for none.
        markers: of the segments of each part; a shared border takes the first nonzero one.

    Returns:
        The graph, with a hole point in each face that no part covers, and a region in each face that a part covers.

    Raises:
        InvalidMeshError: a ring is invalid (the message names its part, number and vertex), or the number of
            attributes is wrong.
    """
    rings = [checked_part(*_pair(part, k), f"part {k}: ") for k, part in enumerate(listed("parts", parts))]
    given = {"attributes": attributes, "areas": areas, "markers": markers}
    numbers = {name: None if values is None else listed(name, values) for name, values in given.items()}
    for name, values in numbers.items():
        if values is not None and len(values) != len(rings):
            raise InvalidMeshError(f"{name} must have one entry for each part: {len(rings)}, not {len(values)}")
    patches = [
        Patch(
            rings=each,
            attribute=_entry("attributes", numbers["attributes"], k),
            area=_entry("areas", numbers["areas"], k) or 0.0,
            marker=_marker(numbers["markers"], k),
        )
        for k, each in enumerate(rings)
    ]
    return cover(patches)


def _pair(part: Any, number: int) -> tuple[Any, Any]:
    pair = listed(f"part {number}", part)
    if len(pair) != 2:
        raise InvalidMeshError(f"part {number} must be (outline, holes), and has {len(pair)} entries")
    return pair[0], pair[1]


def _entry(name: str, values: list[Any] | None, k: int) -> float | None:
    if values is None:
        return None
    number = real_option(f"{name}[{k}]", values[k])
    if not math.isfinite(number):
        raise OptionError(f"{name}[{k}] must be finite, not {number:g}")
    return number


def _marker(values: list[Any] | None, k: int) -> int:
    number = 0 if values is None else whole_option(f"markers[{k}]", values[k])
    if not -(2**31) <= number < 2**31:
        raise OptionError(f"markers[{k}] does not fit in 32 bits: {shortened(number)}")
    return number


def checked_part(outline: ArrayLike, holes: Sequence[ArrayLike], where: str) -> tuple[Float, ...]:
    """The checked rings of one polygon; `where` is the prefix of their names in messages ("part 3: ")."""
    return (
        checked_ring(outline, f"{where}the outline"),
        *(checked_ring(hole, f"{where}hole {k}") for k, hole in enumerate(listed(f"{where}holes", holes))),
    )


def cover(patches: Sequence[Patch], others: Sequence[Pslg] = ()) -> Pslg:
    """The union of the patches, merged with other graphs (lines, free points), whose markers come before the patches'.

    Without patches, the other graphs are only merged: no information about enclosed faces exists.

    Raises:
        InvalidMeshError: there are neither patches nor graphs.
    """
    graph = merged([*(patch.graph() for patch in patches), *others], first=len(patches))
    if not patches:
        return graph
    faces = enclosed_faces(graph)
    owners = _owners(patches, faces)
    regions = [
        (*faces[k].tolist(), patches[owner].attribute or 0.0, patches[owner].area)
        for k, owner in enumerate(owners.tolist())
        if owner >= 0 and (patches[owner].attribute is not None or patches[owner].area > 0)
    ]
    return with_regions(with_holes(graph, faces[owners < 0]), regions)


def _owners(patches: Sequence[Patch], points: Float) -> NDArray[np.intp]:
    """(k,): the last patch that covers each point, or -1."""
    owners = np.full(len(points), -1)
    for k, patch in enumerate(patches):
        low, high = patch.rings[0].min(axis=0), patch.rings[0].max(axis=0)
        near = np.flatnonzero(((low < points) & (points < high)).all(axis=1))
        owners[[point for point in near if patch.covers(points[point])]] = k
    return owners
