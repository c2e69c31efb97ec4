"""Other programs that triangulate points, or points and segments, from numpy arrays; each from a separate package.

    pip install '.[bench]'

Tried on 2026-11-24 and left out: packages without a wheel for Python 3.11 (delaunator, poly2tri, pygalmesh,
scikit-geometry); and condeltri, a binding of the same library as pythoncdt, which cannot be loaded beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import dmr


@dataclass(frozen=True)
class Peer:
    """A program.

    Attributes:
        package: the module to import; call: triangulates a graph by it, and returns the number of triangles, in the
            convex hull unless the program leaves them out.
        segments: whether it takes segments; points: whether it takes points without segments.
        most: vertices; it is too slow for more.
    """

    package: str
    call: Callable[[Any, dmr.Pslg], int]
    segments: bool = False
    points: bool = True
    most: int = sys.maxsize

    @property
    def installed(self) -> bool:
        """Whether its package is installed."""
        return find_spec(self.package) is not None

    def takes(self, pslg: dmr.Pslg) -> bool:
        """Whether it triangulates a graph of this kind and size."""
        return (self.segments if len(pslg.segments) else self.points) and len(pslg.vertices) <= self.most

    def __call__(self, pslg: dmr.Pslg) -> int:
        """Triangulates a graph; returns the number of triangles."""
        return self.call(import_module(self.package), pslg)


def by_cdt(package: Any, pslg: dmr.Pslg) -> int:
    """The CDT library."""
    made = package.Triangulation(
        package.VertexInsertionOrder.AUTO, package.IntersectingConstraintEdges.NOT_ALLOWED, 0.0
    )
    made.insert_vertices(np.ascontiguousarray(pslg.vertices).reshape(-1))
    made.insert_edges(np.ascontiguousarray(pslg.segments, dtype=np.uint32).reshape(-1))
    made.erase_super_triangle()
    return len(made.triangles_array())


def by_cgal(package: Any, pslg: dmr.Pslg) -> int:
    """CGAL's bindings, which take one object per point."""
    del package
    point = import_module("CGAL.CGAL_Kernel").Point_2
    kinds = import_module("CGAL.CGAL_Triangulation_2")
    points = [point(x, y) for x, y in pslg.vertices.tolist()]
    made = kinds.Constrained_Delaunay_triangulation_2() if len(pslg.segments) else kinds.Delaunay_triangulation_2()
    made.insert(points)
    for u, v in pslg.segments.tolist():
        made.insert_constraint(points[u], points[v])
    return int(made.number_of_faces())


def by_gmsh(package: Any, pslg: dmr.Pslg) -> int:
    """Gmsh's algorithm for points in the plane. It takes segments, too: 1,940 of them among 23,876 vertices, 45 s."""
    package.initialize(interruptible=False)
    try:
        package.option.setNumber("General.Terminal", 0)
        return len(package.algorithm.triangulate(pslg.vertices.ravel())) // 3
    finally:
        package.finalize()


def by_startinpy(package: Any, pslg: dmr.Pslg) -> int:
    """A library for terrain."""
    made = package.DT()
    made.snap_tolerance = 1e-12  # 0.001 would merge vertices
    made.insert(np.column_stack([pslg.vertices, np.zeros(len(pslg.vertices))]))
    return len(made.triangles)


def by_geos(package: Any, pslg: dmr.Pslg) -> int:
    """GEOS, through shapely."""
    return len(package.delaunay_triangles(package.multipoints(pslg.vertices)).geoms)


def by_matplotlib(package: Any, pslg: dmr.Pslg) -> int:
    """Qhull, as matplotlib calls it."""
    return len(package.Triangulation(*pslg.vertices.T).triangles)


def by_qhull(package: Any, pslg: dmr.Pslg) -> int:
    """Qhull, as scipy calls it."""
    return len(package.Delaunay(pslg.vertices).simplices)


def by_meshpy(package: Any, pslg: dmr.Pslg) -> int:
    """Triangle, as MeshPy calls it: what segments enclose, without further points."""
    given = package.MeshInfo()
    given.set_points(pslg.vertices.tolist())
    given.set_facets(pslg.segments.tolist())
    made = package.build(given, quality_meshing=False, allow_volume_steiner=False, allow_boundary_steiner=False)
    return len(made.elements)


def by_dylaunator(package: Any, pslg: dmr.Pslg) -> int:
    """Delaunator in Python."""
    return len(package.Delaunator(pslg.vertices.ravel().tolist()).triangles) // 3


def by_adaptive(package: Any, pslg: dmr.Pslg) -> int:
    """Incremental insertion in any dimension."""
    return len(package.Triangulation(pslg.vertices).simplices)


PEERS = {
    "cdt": Peer("pythoncdt", by_cdt, segments=True),
    "cgal": Peer("CGAL", by_cgal, segments=True),
    "gmsh": Peer("gmsh", by_gmsh),
    "meshpy": Peer("meshpy.triangle", by_meshpy, segments=True, points=False),
    "qhull": Peer("scipy.spatial", by_qhull),
    "matplotlib": Peer("matplotlib.tri", by_matplotlib),
    "geos": Peer("shapely", by_geos),
    "startinpy": Peer("startinpy", by_startinpy, most=20_000),
    "dylaunator": Peer("dylaunator", by_dylaunator, most=100_000),
    "adaptive": Peer("adaptive_triangulation", by_adaptive, most=100_000),
}


def installed(names: Iterable[str]) -> list[str]:
    """Returns the peers whose packages are installed; names the others on stderr."""
    found = []
    for name in names:
        try:
            there = PEERS[name].installed
        except ModuleNotFoundError:  # the package that should hold the module
            there = False
        if there:
            found.append(name)
        else:
            print(f"peer {name} is left out: the package {PEERS[name].package} is not installed", file=sys.stderr)
    return found
