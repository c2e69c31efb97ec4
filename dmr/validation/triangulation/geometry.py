"""Checks of triangle orientation and of the constrained Delaunay property."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points, filters
from dmr.mesh.naming import named
from dmr.mesh.types import Mesh
from dmr.validation.report import Findings
from dmr.validation.triangulation.shapes import TriangleShapes
from dmr.validation.triangulation.topology import Topology, describe, place

Int64 = NDArray[np.int64]


def check_orientation(mesh: Mesh, shapes: TriangleShapes, findings: Findings) -> None:
    """Check that every triangle is counter-clockwise, with a positive area."""
    findings.start("orientation")
    wrong = shapes.wrong

    def message(i: int) -> str:
        fault = "has no area" if shapes.wrong_signs[i] == 0 else "is clockwise"
        return f"{fault}; its corners are {describe(mesh.vertices, *mesh.triangles[wrong[i]])}"

    findings.add("orientation", "triangle", wrong, message)


def check_delaunay(mesh: Mesh, topology: Topology, points: Points, shapes: TriangleShapes, findings: Findings) -> None:
    """Check that every edge, except boundary edges and segments, is locally Delaunay.

    An edge is locally Delaunay if the circumcircle of neither adjacent triangle strictly contains the vertex opposite
    the edge in the other. Edges of triangles that are not positively oriented are not tested.
    """
    findings.start("delaunay")
    twins, workers = topology.twins, topology.workers
    corners = mesh.triangles.reshape(-1)  # corner 3 t + k is opposite half-edge 3 t + k
    scale = filters.unit(mesh.vertices)
    constrained = topology.edge_mask(mesh.segments) if len(mesh.segments) else None
    positive = shapes.positive if len(shapes.wrong) else None

    def test(start: int, stop: int) -> Int64:
        across = twins[start:stop]
        # Each edge once: both triangles are positively oriented, so the test from the other side has the same sign.
        tested = across > np.arange(start, stop, dtype=across.dtype)
        if constrained is not None:
            tested &= ~constrained[start:stop]
        edges = start + np.flatnonzero(tested)
        if positive is not None:
            edges = edges[positive[edges // 3] & positive[twins[edges] // 3]]
        vertices = [topology.starts[edges], topology.ends[edges], corners[edges], corners[twins[edges]]]
        places = []
        for name, vertex in zip(("a", "b", "c", "d"), vertices, strict=True):
            buffer = workers.buffer(f"circle {name}", len(edges), np.complex128)
            places.append(np.take(points.places, vertex, out=buffer, mode="clip"))
        with np.errstate(all="ignore"):
            if scale != 1:
                for p in places:
                    p *= scale
            inside, outside = filters.in_circle(*places)
        unknown = np.flatnonzero(~(inside | outside))
        if unknown.size:
            inside[unknown] = points.in_circle(*(vertex[unknown] for vertex in vertices)) > 0
        return edges[inside]

    wrong = np.concatenate([np.zeros(0, np.int64), *workers.map(test, len(twins))])

    def message(i: int) -> str:
        h = wrong[i]
        u, v = topology.starts[h], topology.ends[h]
        across = named("triangle", twins[h] // 3)
        return (
            f"vertex {place(mesh.vertices, corners[twins[h]])} of {across}, across the edge of "
            f"vertices {describe(mesh.vertices, u, v)}, lies inside its circle"
        )

    findings.add("delaunay", "triangle", wrong // 3, message)
