"""Checks of a refined mesh against the mesh that was refined: vertices, segments, area, regions.

A segment of the input (a boundary edge, or one of `input.segments`) from a to b must be a chain of constrained edges
of the result. The interior vertices of the chain are rounded points, so they may lie slightly off the segment. The
exact requirements are:

* with u one ulp (`numpy.spacing`) of the largest absolute coordinate of a and b, the line through a and b meets the
  square of half-width u around each interior vertex: some point a + t (b - a) is within u of it in both coordinates;
* along the chain, from a to b, the projections onto the line strictly increase, so that they also stay between a and b.

The area. Let e be the offset of an interior vertex from its projection a + t (b - a), and d = b - a. Then
|cross(d, e)| <= u (|dx| + |dy|), all offsets are parallel, and twice the area between chain and segment is the sum over
interior vertices j of (t[j-1] - t[j+1]) cross(d, e[j]). Since t increases from 0 to 1, the magnitudes of these factors
sum to less than 2. So the area changes by at most u (|dx| + |dy|) per split boundary segment, and not at all elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.exact import Points
from dmr.mesh.naming import named
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.arrays.pieces import Workers
from dmr.validation.report import Findings
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.overlap import twice_total_area
from dmr.validation.triangulation.shapes import TriangleShapes
from dmr.validation.triangulation.topology import Mask, Topology, describe, place

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Original:
    """The mesh that was refined, with its clockwise triangles reversed (they bound the same domain).

    Attributes:
        mesh: the mesh; topology: the topology of its reoriented triangles; arcs: its constrained edges.
        segments: (2 k,) the index of each arc's segment, -1 for a boundary edge that is not listed as a segment.
    """

    mesh: Mesh
    topology: Topology
    arcs: Arcs
    segments: NDArray[np.int64]

    @classmethod
    def of(cls, mesh: Mesh, workers: Workers) -> Original:
        """Prepare a mesh."""
        triangles = mesh.triangles
        shapes = TriangleShapes.of(mesh, Points(mesh.vertices), None, workers)
        clockwise = shapes.wrong[shapes.wrong_signs < 0]
        if len(clockwise):
            triangles = triangles.copy()
            triangles[clockwise] = triangles[clockwise, ::-1]
        topology = Topology.of(triangles, len(mesh.vertices), workers, shapes.used)
        arcs = Arcs.of(topology, mesh.segments)
        listed = np.full(len(topology.starts), -1, np.int64)
        for found in topology.find(mesh.segments):
            listed[found[found >= 0]] = np.flatnonzero(found >= 0)
        segments = np.where(arcs.half_edges >= 0, listed[arcs.half_edges], -1)
        segments = np.maximum(segments, segments[np.arange(len(segments)) ^ 1])
        return cls(mesh, topology, arcs, segments)


def check_original(original: Original, findings: Findings) -> bool:
    """Check that a comparison with the input is possible: its half-edges are unique, and its segments are edges."""
    findings.start("input")
    mesh, topology = original.mesh, original.topology
    repeated = topology.repeated[:, 1] // 3
    findings.add("input", "input triangle", repeated, lambda i: "shares a side of an edge with another triangle")
    missing = np.flatnonzero(topology.find_either(mesh.segments) < 0)
    findings.add(
        "input",
        "input segment",
        missing,
        lambda i: f"from {describe(mesh.vertices, *mesh.segments[missing[i]])}: is not an edge of the input",
    )
    return findings.passed("input")


def check_vertices(
    mesh: Mesh, original: Mesh | Pslg, workers: Workers, findings: Findings, rows: NDArray[np.intp] | None = None
) -> bool:
    """Check that the vertices of the input come first, bit for bit; returns False if the mesh has fewer vertices.

    Args:
        rows: those of the mesh's vertices that are the input's, if these do not come first.
    """
    findings.start("input vertices")
    before, after = len(original.vertices), len(mesh.vertices)
    if after < before:
        findings.add("input vertices", "mesh", [None], lambda i: f"has {after} vertices, the input {before}")
        return False
    known = mesh.vertices if rows is None else mesh.vertices[rows]
    result, given = (vertices.view(np.uint64) for vertices in (known, original.vertices))

    def differ(start: int, stop: int) -> Mask:
        bits = result[start:stop] != given[start:stop]
        either: Mask = bits[:, 0] | bits[:, 1]
        return either

    moved = workers.where(differ, before)
    findings.add(
        "input vertices",
        "vertex",
        moved if rows is None else rows[moved],
        lambda i: f"is {place(known, moved[i])}, in the input {place(original.vertices, moved[i], 'input vertex')}",
    )
    return True


def check_used(mesh: Mesh, topology: Topology, original: Original, findings: Findings) -> None:
    """Check that every vertex used by triangles of the input is used by the result (refinement removes no vertex)."""
    lost = np.flatnonzero(original.topology.used & ~topology.used[: len(original.mesh.vertices)])
    findings.add(
        "input vertices",
        "vertex",
        lost,
        lambda i: f"{place(mesh.vertices, lost[i])} is a corner of triangles of the input, but of none of the result",
    )


def check_chains(
    mesh: Mesh, points: Points, chains: Chains, original: Original, findings: Findings
) -> NDArray[np.int64]:
    """Check that every input segment is a straight chain of the result, and that no other edge is constrained.

    Returns:
        (2 k,) the chain of each arc of the input, -1 if there is none.
    """
    findings.start("input segments")
    findings.start("stray segments")
    matched = chains.between(original.arcs.tails, original.arcs.heads)
    wanted = np.arange(0, len(matched), 2)  # each edge of the input in one direction
    missing = wanted[matched[wanted] < 0]
    _add(original, missing, lambda i: "has no chain of constrained edges in the result", findings)
    found = wanted[matched[wanted] >= 0]
    _check_sides(chains, original, found, matched, findings)
    _check_straight(mesh, points, chains, original, found, matched, findings)
    _check_stray(mesh, chains, matched, findings)
    return matched


def _add(original: Original, arcs: NDArray[np.int64], message: Callable[[int], str], findings: Findings) -> None:
    """Report failures of input segments, given by arc; `message` returns the end of the i-th sentence."""
    for listed in (True, False):
        chosen = np.flatnonzero((original.segments[arcs] >= 0) == listed)
        half_edges = original.arcs.half_edges[arcs[chosen]]
        elements = original.segments[arcs[chosen]] if listed else half_edges // 3

        def sentence(i: int, chosen: NDArray[np.int64] = chosen) -> str:
            arc = arcs[chosen[i]]
            ends = describe(
                original.mesh.vertices, original.arcs.tails[arc], original.arcs.heads[arc], element="input vertex"
            )
            return f"the segment from {ends} {message(int(chosen[i]))}"

        findings.add("input segments", "input segment" if listed else "input triangle", elements, sentence)


def _check_sides(
    chains: Chains, original: Original, found: NDArray[np.int64], matched: NDArray[np.int64], findings: Findings
) -> None:
    """Check that boundary edges stay on the boundary, with the mesh on the same side, and inner segments inside."""
    arcs, owner = chains.arcs_of(matched[found])
    before, after = original.arcs.half_edges, chains.arcs.half_edges
    here = found[owner]
    wrong = ((before[here] < 0) != (after[arcs] < 0)) | ((before[here ^ 1] < 0) != (after[arcs ^ 1] < 0))
    chosen = distinct(owner[wrong])
    _add(original, found[chosen], lambda i: "has triangles on other sides than in the input", findings)


def _check_straight(
    mesh: Mesh,
    points: Points,
    chains: Chains,
    original: Original,
    found: NDArray[np.int64],
    matched: NDArray[np.int64],
    findings: Findings,
) -> None:
    which = matched[found]
    split = np.flatnonzero(np.diff(chains.offsets)[which] > 1)
    found, which = found[split], which[split]
    arcs, owner = chains.arcs_of(which)
    tails, heads = chains.arcs.tails[arcs], chains.arcs.heads[arcs]
    a, b = chains.tails[which][owner], chains.heads[which][owner]
    within = heads != b
    off = np.zeros(len(arcs), bool)
    off[within] = points.off_line(a[within], b[within], heads[within], _reach(mesh, a[within], b[within]))
    back = points.dot(tails, heads, a, b) <= 0
    for wrong, text in ((off, "lies off it by more than an ulp"), (back, "is out of order along it")):
        arcs_wrong = np.flatnonzero(wrong)

        def message(i: int, at: NDArray[np.int64] = arcs_wrong, text: str = text) -> str:
            return f"has the chain vertex {place(mesh.vertices, heads[at[i]])}, which {text}"

        _add(original, found[owner[arcs_wrong]], message, findings)


def _reach(mesh: Mesh, a: NDArray[np.int64], b: NDArray[np.int64]) -> Float:
    """One ulp of the largest absolute coordinate of the segments' ends."""
    largest = np.maximum(np.abs(mesh.vertices[a]).max(axis=1), np.abs(mesh.vertices[b]).max(axis=1))
    reach: Float = np.spacing(largest)
    return reach


def _check_stray(mesh: Mesh, chains: Chains, matched: NDArray[np.int64], findings: Findings) -> None:
    expected = np.zeros(len(chains.tails), bool)
    expected[matched[matched >= 0]] = True
    first = chains.order[chains.offsets[:-1]]
    # Report a chain and its reverse only once.
    reverse = chains.chain_of_arc[chains.order[chains.offsets[1:] - 1] ^ 1]
    # (Where two chains join the same two vertices, one direction of each may have been matched.)
    stray = np.flatnonzero(~(expected & expected[reverse]) & (np.arange(len(expected)) <= reverse))
    half_edges = np.maximum(chains.arcs.half_edges[first[stray]], chains.arcs.half_edges[first[stray] ^ 1])

    def message(i: int) -> str:
        ends = describe(mesh.vertices, chains.tails[stray[i]], chains.heads[stray[i]])
        return f"has a constrained edge on a chain from {ends}, which is not a segment of the input"

    findings.add("stray segments", "triangle", half_edges // 3, message)
    closed = chains.cycles[chains.cycles % 2 == 0]
    findings.add(
        "stray segments",
        "triangle",
        chains.arcs.half_edges[closed] // 3,
        lambda i: (
            f"has the constrained edge from {describe(mesh.vertices, chains.arcs.tails[closed[i]])}, "
            "on a closed line that the input does not have"
        ),
    )


def check_total_area(
    mesh: Mesh,
    topology: Topology,
    chains: Chains,
    original: Original,
    matched: NDArray[np.int64],
    findings: Findings,
) -> None:
    """Check that the area of the mesh is that of the input, up to rounding on split boundary segments."""
    if not findings.passed("edges", "input"):
        findings.skip("total area", "half-edges of the mesh or of the input are repeated")
        return
    findings.start("total area")
    boundary = np.flatnonzero((matched >= 0) & original.arcs.on_boundary)
    which = matched[boundary[boundary % 2 == 0]]
    which = which[np.diff(chains.offsets)[which] > 1]
    bound = _explained_area(mesh, chains.tails[which], chains.heads[which])
    before = twice_total_area(original.mesh.vertices, original.topology) / 2
    after = twice_total_area(mesh.vertices, topology) / 2
    change = abs(after - before)
    if change <= bound:
        return
    findings.add(
        "total area",
        "mesh",
        [None],
        lambda i: f"differs from that of the input by {_number(change)}; rounding explains at most {_number(bound)}",
    )


def _explained_area(mesh: Mesh, a: NDArray[np.int64], b: NDArray[np.int64]) -> Fraction:
    """Bound the change of the area that splitting the boundary segments from a to b may cause."""
    # Scaled, so that products neither overflow nor underflow, except for amounts that the last term covers.
    exponent = int(np.frexp(np.abs(mesh.vertices).max(initial=0.0))[1])
    steps = np.ldexp(mesh.vertices[b], -exponent) - np.ldexp(mesh.vertices[a], -exponent)
    total = float((np.ldexp(_reach(mesh, a, b), -exponent) * np.abs(steps).sum(axis=1)).sum())
    # The factor covers the rounding of the sums.
    return Fraction(total * (1 + 2.0**-20) + (2.0**-1000 if len(a) else 0.0)) * Fraction(4) ** exponent


def check_regions(
    mesh: Mesh, topology: Topology, chains: Chains, original: Original, matched: NDArray[np.int64], findings: Findings
) -> None:
    """Check that column 0 of the attributes changes only across constrained edges and is kept on both sides of each."""
    if not (mesh.triangle_attributes is not None and mesh.triangle_attributes.shape[1]) or not (
        original.mesh.triangle_attributes is not None and original.mesh.triangle_attributes.shape[1]
    ):
        findings.skip("regions", "the mesh or the input has no triangle attributes")
        return
    before = np.ascontiguousarray(original.mesh.triangle_attributes[:, 0]).view(np.uint64)
    if _steps(original.topology, original.arcs, before).size:
        findings.skip("regions", "the attributes of the input differ across edges that are not segments")
        return
    findings.start("regions")
    after = np.ascontiguousarray(mesh.triangle_attributes[:, 0]).view(np.uint64)
    check_steps(topology, chains.arcs, after, findings)
    inside = np.flatnonzero((matched >= 0) & (original.arcs.half_edges >= 0))
    arcs, owner = chains.arcs_of(matched[inside])
    triangles = chains.arcs.half_edges[arcs] // 3
    known = triangles >= 0
    wanted = before[original.arcs.half_edges[inside] // 3][owner]
    wrong = triangles[known & (after[triangles] != wanted)]
    findings.add("regions", "triangle", wrong, lambda i: "has another region than the input has there")


def check_steps(topology: Topology, arcs: Arcs, values: NDArray[np.uint64], findings: Findings) -> None:
    """Check that regions, given per triangle, change only across constrained edges."""
    steps = _steps(topology, arcs, values)
    findings.add(
        "regions",
        "triangle",
        steps // 3,
        lambda i: (
            f"has another region than {named('triangle', topology.twins[steps[i]] // 3)}, "
            "across an edge that is not a segment"
        ),
    )


def _steps(topology: Topology, arcs: Arcs, values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Find the unconstrained edges with different values on their two sides; one half-edge per edge."""
    twins = topology.twins
    constrained = np.zeros(len(twins), bool)
    constrained[arcs.half_edges[arcs.half_edges >= 0]] = True

    def find(start: int, stop: int) -> Mask:
        steps = (twins[start:stop] > np.arange(start, stop)) & ~constrained[start:stop]
        edges = start + np.flatnonzero(steps)
        steps[edges - start] = values[edges // 3] != values[twins[edges] // 3]
        return steps

    return topology.workers.where(find, len(twins))


def _number(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "more than 1e308"


def chain_candidates(count: int, original: Mesh) -> Mask:
    """(count,) mask of the vertices that refinement added, which may be interior to an input segment."""
    candidates = np.ones(count, bool)
    candidates[: len(original.vertices)] = False
    return candidates
