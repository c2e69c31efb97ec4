"""Meshes by size from Gmsh's Frontal-Delaunay (Algorithm 6), and the figures by which they are compared with ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import dmr
from scripts.lib.sizes.domains import Domain, Float, Size


def gmsh_mesh(
    domain: Domain,
    size: Size,
    repeats: int,
    *,
    extend: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[dmr.Mesh, float]:
    """Returns Gmsh's mesh, and the least seconds of its two-dimensional meshing.

    Args:
        extend: whether Gmsh extends the lengths of the outline's pieces into the domain, as it does by default.
        clock: gives the seconds.

    Raises:
        ImportError, OSError: Gmsh, or a library that it needs, is missing.
    """
    import gmsh  # type: ignore[import-untyped,unused-ignore]

    runs = []
    for _ in range(repeats):
        gmsh.initialize(interruptible=False)
        try:
            gmsh.option.setNumber("General.Terminal", 0)
            gmsh.option.setNumber("General.NumThreads", 1)
            gmsh.option.setNumber("Mesh.Algorithm", 6)
            gmsh.option.setNumber("Mesh.MeshSizeExtendFromBoundary", int(extend))
            _outline(gmsh.model.geo, domain)
            gmsh.model.geo.synchronize()
            if callable(size):
                gmsh.model.mesh.setSizeCallback(partial(_size_at, size))
            else:
                gmsh.option.setNumber("Mesh.MeshSizeMin", size)
                gmsh.option.setNumber("Mesh.MeshSizeMax", size)
            gmsh.model.mesh.generate(1)
            started = clock()
            gmsh.model.mesh.generate(2)
            runs.append(clock() - started)
            tags, places, _ = gmsh.model.mesh.getNodes()
            number = np.zeros(int(tags.max()) + 1, np.int32)
            number[tags.astype(np.int64)] = np.arange(len(tags))
            triangles = number[gmsh.model.mesh.getElementsByType(2)[1].astype(np.int64)].reshape(-1, 3)
        finally:
            gmsh.finalize()
    return dmr.Mesh(places.reshape(-1, 3)[:, :2].copy(), triangles), min(runs)


def _size_at(size: Callable[[Float], Float], _dim: int, _tag: int, x: float, y: float, _z: float, _lc: float) -> float:
    return float(size(np.array([[x, y]]))[0])


def _outline(geometry: Any, domain: Domain) -> None:
    points = [geometry.addPoint(float(x), float(y), 0) for x, y in domain.outline.vertices]
    loops = []
    for ring in domain.rings:
        lines = [geometry.addLine(points[a], points[b]) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
        loops.append(geometry.addCurveLoop(lines))
    geometry.addPlaneSurface(loops)


@dataclass(frozen=True)
class Figures:
    """Figures of a mesh by size.

    Attributes:
        triangles: how many; mean, least: mean and least of their smallest angles, in degrees.
        ratio, shortest, longest: the mean, least and largest edge length over the size at the edge's midpoint.
        within: the share of edges of 0.7 to 1.35 sizes.
    """

    triangles: int
    mean: float
    least: float
    ratio: float
    within: float
    shortest: float
    longest: float

    @classmethod
    def of(cls, mesh: dmr.Mesh, size: Size) -> Figures:
        """Measures a mesh."""
        a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
        sides = np.sort([np.hypot(*(q - p).T) for p, q in ((a, b), (b, c), (c, a))], axis=0)
        cosines = (sides[1] ** 2 + sides[2] ** 2 - sides[0] ** 2) / (2 * sides[1] * sides[2])
        angles = np.degrees(np.arccos(cosines))
        start, end = (mesh.vertices[ends] for ends in mesh.edges.T)
        sizes = size((start + end) / 2) if callable(size) else size
        ratios = np.hypot(*(end - start).T) / sizes
        within = float(((ratios >= 0.7) & (ratios <= 1.35)).mean())
        return cls(
            len(mesh.triangles), float(angles.mean()), float(angles.min()), float(ratios.mean()), within,
            float(ratios.min()), float(ratios.max()),
        )  # fmt: skip
