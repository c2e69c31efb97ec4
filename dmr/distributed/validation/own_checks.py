"""The checks of one part: `dmr.validate` on its own triangles, with its ghosts as their surroundings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.distributed.output.part import Part
from dmr.distributed.validation.findings import OwnFindings
from dmr.exact import Points
from dmr.mesh.types import Mesh
from dmr.sizing.source import SizeSource
from dmr.validation.arrays.pieces import Workers
from dmr.validation.bounds.sizes import check_max_area, check_max_edge, check_own_areas
from dmr.validation.bounds.small_angles import describe_angle, straight_candidates
from dmr.validation.bounds.unrefined import Unrefined
from dmr.validation.domain.input_mesh import check_steps, check_vertices
from dmr.validation.report import REASONS
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.duplicates import check_duplicates
from dmr.validation.triangulation.geometry import check_delaunay, check_orientation
from dmr.validation.triangulation.shapes import TriangleShapes, triangles_below
from dmr.validation.triangulation.topology import (
    Mask,
    Topology,
    check_edges,
    check_segments,
    check_stars,
    place,
    used_vertices,
)

Int64 = NDArray[np.int64]


class OwnChecks:
    """The checks of the triangles that a part owns, with its ghosts as their surroundings.

    Args:
        part: the part; inputs: the number of vertices of the input, 0 if it is not known.
        min_angle: the bound, if there is one; workers: the threads.
    """

    def __init__(self, part: Part, inputs: int, min_angle: float | None, workers: Workers) -> None:
        self.part, self.mesh, self.own = part, part.mesh, part.own
        self._workers, self._min_angle = workers, min_angle
        self.findings = OwnFindings(part.own)
        self.points = Points(self.mesh.vertices, workers.map)
        self.shapes = TriangleShapes.of(self.mesh, self.points, min_angle, workers)
        count = len(self.mesh.vertices)
        self.used = used_vertices(self.mesh.triangles[: self.own], count, workers)
        self.topology = Topology.of(self.mesh.triangles, count, workers, self.used)
        # All triangles at the part's own vertices are there. At others there may be more: an edge between two of these
        # without a triangle across is not a boundary, and is tested elsewhere. It becomes its own twin.
        twins = self.topology.twins
        outer = np.flatnonzero(twins < 0)
        outer = outer[~(self.used[self.topology.starts[outer]] | self.used[self.topology.ends[outer]])]
        twins[outer] = outer
        self.arcs = Arcs.of(self.topology, self.mesh.segments)
        self._of_input = part.numbers < inputs

    def triangulation(self) -> None:
        """Check what `dmr.validate` checks of any mesh, except overlap, which only the union shows."""
        mesh, topology, findings = self.mesh, self.topology, self.findings
        check_orientation(mesh, self.shapes, findings)
        check_edges(mesh, topology, findings)
        check_stars(mesh, topology, self.shapes, findings)
        check_duplicates(mesh, topology, findings)
        check_segments(mesh, topology, findings)
        check_delaunay(mesh, topology, self.points, self.shapes, findings)

    def input_vertices(self, given: NDArray[np.float64]) -> None:
        """Check that vertices with the numbers of input vertices are these, bit for bit."""
        rows = np.flatnonzero(self._of_input)
        original = Mesh.sound(vertices=given[self.part.numbers[rows]], triangles=np.empty((0, 3), np.int32))
        check_vertices(self.mesh, original, self._workers, self.findings, rows)

    def inner_markers(self, count: int) -> None:
        """Check that vertices without a marker of the input, and on no segment, have marker 0.

        Args:
            count: the number of input vertices; these, and those on segments, are checked in the union.
        """
        markers = self.mesh.vertex_markers
        if markers is None:
            return
        self.findings.start("vertex markers")
        inner = self.used & ~self.on_segments & (self.part.numbers >= count)
        wrong = np.flatnonzero(inner & (markers != 0))
        self.findings.add(
            "vertex markers",
            "vertex",
            wrong,
            lambda i: (
                f"{place(self.mesh.vertices, wrong[i])} has the marker {markers[wrong[i]]}, and must have 0, as no "
                "segment goes through it"
            ),
        )

    def regions(self) -> None:
        """Check that regions change only across segments."""
        values = self.mesh.triangle_attributes
        if values is None or not values.shape[1]:
            self.findings.skip("regions", "the mesh has no triangle attributes")
            return
        self.findings.start("regions")
        bits = np.ascontiguousarray(values[:, 0] + 0.0).view(np.uint64)
        check_steps(self.topology, self.arcs, bits, self.findings)

    def bounds(self, bounds: Mapping[str, float], max_edge: SizeSource | None, *, refined: bool) -> None:
        """Check the bounds.

        Args:
            bounds: "max_area", where given; max_edge: the bound on edges.
            refined: whether own area bounds must hold.
        """
        excused = self.left.excused
        if self._min_angle is not None:
            # Those near segments may lie beside a small corner of the input, which the union shows.
            self.findings.start("angle")
            min_angle, lost = self._min_angle, self.below[~self.near_segments]
            self.findings.add("angle", "triangle", lost, lambda i: describe_angle(self.mesh, int(lost[i]), min_angle))
        if "max_area" in bounds:
            check_max_area(self.mesh, self.points, bounds["max_area"], self.findings, excused)
        if max_edge is not None:
            bound = max_edge if max_edge.number is None else max_edge.number
            check_max_edge(self.mesh, self.points, bound, self.findings, excused)
        if refined:
            check_own_areas(self.mesh, None, self.points, self.findings, excused)
        elif self.mesh.area_bounds is not None:
            self.findings.skip("area bounds", "no bound was given, so the mesh is not assumed to be refined")

    @cached_property
    def on_segments(self) -> Mask:
        """(n,) mask of the vertices on segments or on the boundary."""
        mask = np.zeros(len(self.mesh.vertices), bool)
        mask[self.mesh.segments.ravel()] = True
        mask[self.topology.boundary_vertices] = True
        return mask

    @cached_property
    def left(self) -> Unrefined:
        """The triangles that the part lists as unrefined, where it and its ghosts confirm the reason.

        Segments may go on beyond the ghosts. Then their largest coordinates may be larger than those that are seen, and
        less is confirmed as lack of precision. A segment that was to be kept is confirmed where both of its ends are
        vertices of the input, or of triangles that the part owns, around which all segments are seen.
        """
        listed = {reason: self.part.unrefined_triangles.get(reason) for reason in REASONS}
        given = {reason: triangles for reason, triangles in listed.items() if triangles is not None}
        if not given:
            return Unrefined.none(len(self.mesh.triangles))
        chains = Chains.trace(self.arcs, straight_candidates(self.mesh, self.arcs) & ~self._of_input)
        return Unrefined.of(self.mesh, self.topology, chains, given, self.used | self._of_input)

    @cached_property
    def below(self) -> Int64:
        """The triangles of the part below the angle bound that `left` does not excuse, ascending."""
        if self._min_angle is None:
            return np.zeros(0, np.int64)
        unsure = self.shapes.unsure[self.shapes.unsure < self.own]
        below = triangles_below(self.mesh, self.points, unsure, self._min_angle, self._workers)
        return below[~self.left.excused[below]]

    @cached_property
    def near_segments(self) -> Mask:
        """Which of the triangles below the bound have a vertex on a segment, or a neighbour that may have one."""
        known = self.on_segments | ~self.used  # around vertices of ghosts alone, segments may be missing
        near = np.logical_or.reduce(known[self.mesh.triangles], axis=1)
        around = self.topology.neighbours_of(self.below)
        result: Mask = near[self.below] | (near[around] & (around >= 0)).any(axis=1)
        return result
