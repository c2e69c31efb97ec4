"""The check that a mesh covers no place twice: a sweep along its boundary (`dmr.exact.sweep`).

Let all triangles be positively oriented and no half-edge occur twice. How many triangles cover a point (not on an
edge) is the sum of their winding numbers around it; half-edges that are twins cancel, so it is the winding number of
the boundary half-edges alone. The mesh covers every place at most once if and only if that number is 0 or 1
everywhere: if the boundary does not cross itself, and every line upward meets boundary half-edges alternately
directed rightward (into the domain, which lies on the left) and leftward (out of it). This finds what no look at
single vertices can: a strip that comes round and runs over itself, or a component that lies within another one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dmr.checks.report import Findings
from dmr.checks.topology import Topology, describe
from dmr.exact.sweep import OverlapError, sweep_boundary
from dmr.meshes import Mesh


def check_overlap(mesh: Mesh, topology: Topology, findings: Findings) -> None:
    """The triangles cover every place at most once (given positive orientation and single half-edges)."""
    if not findings.passed("orientation", "edges"):
        findings.skip("overlap", "orientation or edges failed")
        return
    findings.start("overlap")
    boundary = topology.boundary
    try:
        sweep_boundary(mesh.vertices[topology.starts[boundary]], mesh.vertices[topology.ends[boundary]])
    except OverlapError as found:
        h = int(boundary[found.edge])
        ends = describe(mesh.vertices, topology.starts[h], topology.ends[h])
        reason = str(found)
        findings.add("overlap", "triangle", [h // 3], lambda i: f"its boundary edge of vertices {ends} {reason}")


def twice_total_area(vertices: NDArray[np.float64], topology: Topology) -> Fraction:
    """Twice the sum of the signed areas of all triangles, exactly.

    The triangle sum is the sum of cross(u, v) over all half-edges, and twins cancel: only the boundary is left.
    Half-edges must be single.
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
