"""Check that triangles do not overlap, by a sweep along the boundary of the mesh (`dmr.exact.sweep`).

Assume that all triangles are positively oriented and that no half-edge occurs twice. The number of triangles that cover
a point (not on an edge) is the sum of their winding numbers around it. Twin half-edges cancel, so this is the winding
number of the boundary half-edges alone. The mesh covers every point at most once if and only if that number is 0 or 1
everywhere. Equivalently, the boundary does not cross itself, and every upward line meets boundary half-edges
alternately directed rightward (into the domain, which lies on the left) and leftward (out of it). This detects overlaps
that no local test at single vertices can: a strip that bends round and overlaps itself, or a component that lies within
another one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dmr.exact.sweep import OverlapError, sweep_boundary
from dmr.mesh.types import Mesh
from dmr.validation.report import Findings
from dmr.validation.triangulation.topology import Topology, describe


def check_overlap(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """Check that triangles cover every point at most once (given positive orientation and unique half-edges)."""
    if not findings.start_after("overlap", "orientation", "edges"):
        return
    boundary = topology.boundary
    try:
        sweep_boundary(mesh.vertices[topology.starts[boundary]], mesh.vertices[topology.ends[boundary]])
    except OverlapError as found:
        h = int(boundary[found.edge])
        ends = describe(mesh.vertices, topology.starts[h], topology.ends[h])
        reason = str(found)
        findings.add("overlap", "triangle", [h // 3], lambda i: f"its boundary edge of vertices {ends} {reason}")


def twice_total_area(vertices: NDArray[np.float64], topology: Topology) -> Fraction:
    """Compute twice the sum of the signed areas of all triangles, exactly.

    This sum equals the sum of cross(u, v) over all half-edges. Twins cancel, so only the boundary contributes.
    Half-edges must be unique.
    """
    u, v = vertices[topology.starts[topology.boundary]], vertices[topology.ends[topology.boundary]]
    if not len(u):
        return Fraction(0)
    fractions, exponents = np.frexp(np.stack([u, v]))
    whole = (fractions * 2.0**53).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents.astype(np.int64) - 53)
    low = min(int(exponents.min()), 0)
    big = np.left_shift(whole.astype(object), (exponents - low).astype(object))
    total = (big[0, :, 0] * big[1, :, 1] - big[0, :, 1] * big[1, :, 0]).sum()
    return Fraction(int(total)) * Fraction(2) ** (2 * low)
