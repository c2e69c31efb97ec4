"""Domains of several polygons: districts that share borders, islands in lakes in islands, gaps between neighbours.

The domain is what any of the polygons covers. All rings and lines are drawn into one graph; then each face that they
enclose is asked, exactly, which polygon it lies in. One that lies in none gets a hole point, whatever it is that
closes it off: a lake, a gap between districts, the water between an island and a pier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.domains.composing import merge, with_holes, with_regions
from dmr.domains.faces import enclosed_faces
from dmr.domains.interior import INSIDE, side_of_rings
from dmr.domains.rings import checked_ring
from dmr.domains.shapes import closed_segments
from dmr.errors import InvalidMeshError
from dmr.meshes import Float, Pslg


@dataclass(frozen=True, kw_only=True)
class Patch:
    """One polygon of a domain.

    Attributes:
        rings: (n, 2) each, checked: the outline, then the holes.
        attribute: of its region; None where it has none.
        area: of its largest triangle; 0 for no bound.
        marker: of its segments.
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
        """Its rings as segments."""
        ends = closed_segments(self.rings)
        return Pslg(np.concatenate(self.rings), ends, segment_markers=np.full(len(ends), self.marker, np.int32))


def polygons(
    parts: Iterable[tuple[ArrayLike, Sequence[ArrayLike]]],
    *,
    attributes: Sequence[float] | None = None,
    areas: Sequence[float] | None = None,
    markers: Sequence[int] | None = None,
) -> Pslg:
    """Several polygons as one domain: what any of them covers.

    They may share borders and vertices, touch, nest (an island in a lake) and overlap; where they overlap, the last
    one says attribute and area. Vertices are joined as by `merge`.

    Args:
        parts: (outline, holes) each, as for `polygon`; also holes that touch themselves or each other are right.
        attributes: of the region of each part; None for no regions.
        areas: largest triangle area of each part, <= 0 for none.
        markers: of the segments of each part; a shared border takes the first one that is not 0.

    Returns:
        The graph, with a hole point in each face that no part covers and a region in each one that a part does.

    Raises:
        InvalidMeshError: a ring that cannot be used, with its part, number and vertex; a wrong number of attributes.
    """
    rings = [checked_part(outline, holes, f"part {k}: ") for k, (outline, holes) in enumerate(parts)]
    given = {"attributes": attributes, "areas": areas, "markers": markers}
    for name, values in given.items():
        if values is not None and len(values) != len(rings):
            raise InvalidMeshError(f"{name} must have one entry for each part: {len(rings)}, not {len(values)}")
    patches = [
        Patch(
            rings=each,
            attribute=None if attributes is None else float(attributes[k]),
            area=0.0 if areas is None else float(areas[k]),
            marker=0 if markers is None else int(markers[k]),
        )
        for k, each in enumerate(rings)
    ]
    return cover(patches)


def checked_part(outline: ArrayLike, holes: Sequence[ArrayLike], where: str) -> tuple[Float, ...]:
    """The rings of one polygon; `where` begins the name of each in a message ("part 3: ")."""
    return (
        checked_ring(outline, f"{where}the outline"),
        *(checked_ring(hole, f"{where}hole {k}") for k, hole in enumerate(holes)),
    )


def cover(patches: Sequence[Patch], others: Sequence[Pslg] = ()) -> Pslg:
    """What patches cover, with other graphs (lines, free points) drawn into it.

    Without any patch the other graphs are merged, and that is all: nothing says what they enclose.

    Raises:
        InvalidMeshError: neither patches nor graphs.
    """
    graph = merge(*(patch.graph() for patch in patches), *others)
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
    """(k,): the last patch that covers each point, -1 where none does."""
    owners = np.full(len(points), -1)
    for k, patch in enumerate(patches):
        low, high = patch.rings[0].min(axis=0), patch.rings[0].max(axis=0)
        near = np.flatnonzero(((low < points) & (points < high)).all(axis=1))
        owners[[point for point in near if patch.covers(points[point])]] = k
    return owners
