"""Determines which parts of the plane belong to the domain, and their attributes, from outline, holes and regions.

Segments divide the plane into parts. The unbounded part is outside, parts with a hole point are holes, and the rest is
the domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.text import option
from dmr.errors import InvalidMeshError
from dmr.mesh.naming import named
from dmr.mesh.types import Float, Int, Pslg
from dmr.triangulation.plane import BEYOND_HULL, ON_SEGMENT, OUTSIDE, Plane

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Domain:
    """The domain to be meshed.

    Attributes:
        kept: by label, whether the part of the plane belongs to it; left, right: (e,) whether a kept triangle lies on
            that side of each edge on a segment.
        attributes: by label, the attribute of the part's region, 0 outside of regions; None if there are no regions.
        area_bounds: by label, the area bound there, 0 for none; None if no region has one.
        notes: what was left out, one sentence each.
    """

    kept: Flags
    left: Flags
    right: Flags
    attributes: Float | None
    area_bounds: Float | None
    notes: list[str]


def carve(pslg: Pslg, plane: Plane) -> Domain:
    """Finds the domain.

    Args:
        pslg: the outline; plane: its triangulation.

    Raises:
        InvalidMeshError: an outline with a gap, a hole or region point outside of the domain or on a segment, two
            regions in one part, or no domain at all.
    """
    in_domain = np.ones(plane.parts, bool)
    in_domain[OUTSIDE] = False
    notes = _check_outline(pslg, plane)
    _carve_holes(pslg, plane, in_domain)
    if not in_domain.any():
        raise InvalidMeshError("the holes leave nothing of the domain: an outline has a gap, or a hole is all of it")
    left, right = ((labels >= OUTSIDE) & in_domain[np.maximum(labels, OUTSIDE)] for labels in (plane.left, plane.right))
    within_holes = ~left & ~right & ((plane.left > OUTSIDE) | (plane.right > OUTSIDE))
    if within_holes.any():
        notes.append(_segments_text(pslg, plane, within_holes, "within holes and carved away with them"))
    attributes, area_bounds = _label_regions(pslg, plane, in_domain)
    return Domain(in_domain, left, right, attributes, area_bounds, notes)


def _check_outline(pslg: Pslg, plane: Plane) -> list[str]:
    """Finds segments with the outside on both sides, which bound nothing. If a figure has only such segments, it has a
    gap."""
    stray = (plane.left <= OUTSIDE) & (plane.right <= OUTSIDE)
    if not stray.any():
        return []
    figure = _figures(plane.edges)
    bounding = np.zeros(figure.max() + 1, bool)
    bounding[figure[plane.edges[~stray, 0]]] = True
    by_edge = figure[plane.edges[:, 0]]
    unbound = np.flatnonzero(~bounding[by_edge])
    if unbound.size:
        first = unbound[plane.edge_segments[unbound].argmin()]
        raise _gap_error(pslg, plane, plane.edges[by_edge == by_edge[first]])
    return [
        _segments_text(pslg, plane, stray, "outside of the closed outlines, in whole or in part, and left out there")
    ]


def _figures(edges: Int) -> Int:
    """Labels the connected component (figure) of each vertex, by pointer jumping."""
    root = np.arange(int(edges.max()) + 1)
    while True:
        low = np.minimum(root[edges[:, 0]], root[edges[:, 1]])
        before = root.copy()
        np.minimum.at(root, root[edges[:, 0]], low)
        np.minimum.at(root, root[edges[:, 1]], low)
        root = root[root]
        if np.array_equal(root, before):
            return root.astype(np.int32)


def _gap_error(pslg: Pslg, plane: Plane, edges: Int) -> InvalidMeshError:
    """Makes the error that says where a figure of segments fails to close: at its two nearest loose ends."""
    vertices = np.concatenate([pslg.vertices, plane.new_vertices])
    ends, uses = np.unique(edges, return_counts=True)
    loose = ends[uses == 1]
    u, v = int(loose[0]), int(loose[-1])
    if len(loose) <= 2000:
        places = vertices[loose]
        distance = np.hypot(*(places[:, None] - places[None]).T)
        np.fill_diagonal(distance, np.inf)
        u, v = (int(loose[i]) for i in np.unravel_index(int(distance.argmin()), distance.shape))
    u, v = min(u, v), max(u, v)
    width = float(np.hypot(*(vertices[u] - vertices[v])))
    places_text = " and ".join(f"{named('vertex', w)} at ({vertices[w, 0]:.9g}, {vertices[w, 1]:.9g})" for w in (u, v))
    return InvalidMeshError(
        f"the outline is not closed: segments end at {places_text}, {width:.3g} apart, and enclose nothing. "
        f"Close the gap, or mesh the convex hull ({option('convex_hull', True)})"
    )


def _carve_holes(pslg: Pslg, plane: Plane, in_domain: Flags) -> None:
    for i, label in enumerate(plane.hole_labels.tolist()):
        _check_place("hole", i, pslg.holes[i], label, in_domain)
    in_domain[plane.hole_labels] = False


def _label_regions(pslg: Pslg, plane: Plane, in_domain: Flags) -> tuple[Float | None, Float | None]:
    if not len(pslg.regions):
        return None, None
    attributes, bounds = np.zeros(len(in_domain)), np.zeros(len(in_domain))
    owner: dict[int, int] = {}
    for i, label in enumerate(plane.region_labels.tolist()):
        _check_place("region", i, pslg.regions[i, :2], label, in_domain)
        if label in owner:
            raise InvalidMeshError(
                f"lies in the same part of the domain as {named('region', owner[label])}", "region", i
            )
        owner[label] = i
        attributes[label], bounds[label] = pslg.regions[i, 2], max(float(pslg.regions[i, 3]), 0.0)
    return attributes, bounds if (bounds > 0).any() else None


def _check_place(kind: str, index: int, place: Float, label: int, in_domain: Flags) -> None:
    x, y = place
    if label == ON_SEGMENT:
        raise InvalidMeshError(f"its point ({x:.9g}, {y:.9g}) lies on a segment: move it to one side", kind, index)
    if label == BEYOND_HULL or not in_domain[label]:
        where = "outside of the domain" if label <= OUTSIDE else "in a hole"
        raise InvalidMeshError(f"its point ({x:.9g}, {y:.9g}) lies {where}", kind, index)


def _segments_text(pslg: Pslg, plane: Plane, edges: Flags, where: str) -> str:
    segments = distinct(plane.edge_segments[edges])
    u, v = (named("vertex", end) for end in pslg.segments[segments[0]])
    count = f"{len(segments):,} segment{'s are' if len(segments) > 1 else ' is'}"
    return f"{count} {where} (the first: {named('segment', segments[0])}, from {u} to {v})"
