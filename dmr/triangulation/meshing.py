"""Triangulates the domain of a planar straight-line graph: checks, the plane around it, carving, markers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dmr.common.arguments import chosen, switch
from dmr.common.available import require_memory
from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.memory import Device, available_threads
from dmr.mesh.arguments import check_kind
from dmr.mesh.coordinates import LARGEST, SMALLEST, outside_range
from dmr.mesh.names import default_marker
from dmr.mesh.provenance import Links, record_triangulation
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.triangulation.carving import Domain, carve
from dmr.triangulation.conflicts import describe_conflicts
from dmr.triangulation.deferred import DeferredMesh
from dmr.triangulation.native import CROSSING, triangulate_plane
from dmr.triangulation.options import CONFLICT_POLICIES, MESHERS, METHODS
from dmr.triangulation.plane import Plane
from dmr.triangulation.preparing import Prepared
from dmr.triangulation.rounds.triangles import DeviceTriangles

BYTES_PER_VERTEX = 160  # peak memory of a triangulation, measured
FEWEST_TO_STAY = 2**12  # triangles that stay on a GPU for their refinement (40,700: 31 ms instead of 39, H200)
FEWEST_FOR_ROUNDS = 2**13  # vertices; of fewer, one CPU thread is done before a GPU (H200: 5 ms)


@dataclass(eq=False)
class OnDevice:
    """A triangulated domain on the device that made it.

    Attributes:
        tables: its triangles and vertices, until they are taken; sides: (s,) int32 on the host, as in `Links`.
        attributes, area_bounds: by the labels of the triangles, on the host, as in `Domain`.
    """

    tables: DeviceTriangles | None
    sides: Int
    attributes: Float | None
    area_bounds: Float | None

    def take(self) -> DeviceTriangles:
        """Returns the triangles, and forgets them, so that their memory lasts no longer than the caller's use."""
        taken, self.tables = self.tables, None
        assert taken is not None
        return taken


def triangulate_noting(
    pslg: Pslg,
    *,
    on_conflict: str,
    convex_hull: bool,
    mesher: str,
    method: str = "auto",
    device: Device | None = None,
    stays: bool = False,
    is_read: bool = False,
) -> tuple[Mesh, list[str], OnDevice | None]:
    """Triangulates the domain of a graph; arguments, result and errors are those of `dmr.triangulate`.

    Args:
        device: without one, one CPU thread triangulates.
        stays: whether a large mesh may stay on the GPU that made it, for its refinement; is_read: whether the host
            needs its triangles, too.

    Returns:
        The mesh, whose triangles are deferred if they stay on the device and are not read; the warnings, one sentence
        each; and what stays on the device.
    """
    check_kind(pslg, Pslg, name="pslg")
    on_conflict = chosen("on_conflict", on_conflict, CONFLICT_POLICIES)
    mesher, convex_hull = chosen("mesher", mesher, MESHERS), switch("convex_hull", convex_hull)
    method = chosen("method", method, METHODS)
    if len(pslg.vertices) < 3:
        raise InvalidMeshError(f"{counted(len(pslg.vertices), 'vertex spans', 'vertices span')} no triangle")
    _check_points("hole", pslg.holes)
    _check_points("region", pslg.regions[:, :2])
    notes: list[str] = []
    if not len(pslg.segments) and not convex_hull:
        notes.append("there are no segments: the convex hull of the vertices is meshed")
        convex_hull = True
    count = len(pslg.vertices)
    require_memory(BYTES_PER_VERTEX * count, f"a triangulation of {counted(count, 'vertex', 'vertices')}")
    threads = available_threads() if device is None else _threads(device)
    prepared = Prepared(pslg.vertices, threads, downloads=not stays or is_read or 2 * count < FEWEST_TO_STAY)
    plane, by_others = _plane_by(method, pslg, device, convex_hull=convex_hull, meanwhile=prepared.run, threads=threads)
    notes += by_others
    conflicts = describe_conflicts(pslg, plane)
    if conflicts and on_conflict == "error":
        raise conflicts[0][1]
    domain = carve(pslg, plane)
    notes += [resolved for resolved, _ in conflicts] + domain.notes
    if mesher == "triangle":
        from dmr.triangle.peer import triangulate_by_triangle

        return triangulate_by_triangle(pslg, convex_hull=convex_hull), notes, None
    arrays, sides = _arrays(pslg, plane, domain, prepared.vertices, convex_hull=convex_hull)
    tables, sides = plane.tables.within(domain.kept, sides)
    kept, count = None, 0
    if stays and isinstance(tables, DeviceTriangles) and tables.count >= FEWEST_TO_STAY:
        kept, count = OnDevice(tables, sides, domain.attributes, domain.area_bounds), tables.count
    if kept is not None and not is_read:
        given = {"vertices": arrays["vertices"], "segments": pslg.segments.copy(), "holes": pslg.holes.copy()}

        def again() -> Mesh:
            return triangulate_noting(
                replace(pslg, **given), on_conflict="resolve", convex_hull=convex_hull, mesher=mesher, method=method,
                device=device,
            )[0]  # fmt: skip

        bounds = domain.area_bounds
        deferred = DeferredMesh.of(
            count, again, has_regions=domain.attributes is not None,
            distinct_area_bounds=None if bounds is None else bounds[domain.kept], **arrays,
        )  # fmt: skip
        return deferred, notes, kept
    mesh = Mesh.sound(
        triangles=tables.corners_in(prepared.room),
        triangle_attributes=None if domain.attributes is None else domain.attributes[tables.labels, None],
        area_bounds=None if domain.area_bounds is None else domain.area_bounds[tables.labels],
        **arrays,
    )
    return record_triangulation(mesh, Links(tables.finding_neighbours(), sides, plane.along)), notes, kept


def fastest_plane(
    pslg: Pslg, device: Device | None, *, convex_hull: bool = False, meanwhile: Callable[[], None] | None = None
) -> Plane:
    """Triangulates the plane around a graph: on a GPU by rounds, unless vertices are few or segments cross; else on
    all CPU threads.

    Args:
        device: without one, one CPU thread triangulates.
        meanwhile: work for the host while a GPU triangulates; not called if none does.

    The other arguments, and what is raised, are those of `triangulate_plane`.
    """
    plane = None
    if device is not None and device.threads == 0 and len(pslg.vertices) >= FEWEST_FOR_ROUNDS:
        plane = _plane_by_rounds(pslg, device, convex_hull=convex_hull, meanwhile=meanwhile)
    if plane is not None:
        return plane
    return triangulate_plane(pslg, convex_hull=convex_hull, threads=1 if device is None else _threads(device))


def _threads(device: Device) -> int:
    """Returns how many CPU threads work beside or as a device."""
    return device.threads or available_threads()


def _plane_by(
    method: str, pslg: Pslg, device: Device | None, *, convex_hull: bool, meanwhile: Callable[[], None], threads: int
) -> tuple[Plane, list[str]]:
    """Triangulates the plane around a graph by a method; returns it, and what a user should know.

    `meanwhile` is called while a GPU triangulates, `threads` are those of a CPU that takes over.
    """
    if method != "rounds" or device is None:
        used = None if method == "serial" else device
        return fastest_plane(pslg, used, convex_hull=convex_hull, meanwhile=meanwhile), []
    plane = _plane_by_rounds(pslg, device, convex_hull=convex_hull, meanwhile=meanwhile)
    if plane is not None:
        return plane, []
    plane = triangulate_plane(pslg, convex_hull=convex_hull, threads=threads)
    return plane, ["segments overlap or cross, or need many flips: CPU threads insert them, not rounds of kernels"]


def _plane_by_rounds(
    pslg: Pslg, device: Device, *, convex_hull: bool, meanwhile: Callable[[], None] | None
) -> Plane | None:
    from dmr.triangulation.rounds import plane_by_rounds  # reads the kernels' declarations, which others do not need

    return plane_by_rounds(pslg, device, convex_hull=convex_hull, meanwhile=meanwhile)


def _check_points(kind: str, points: Float) -> None:
    """Refuses hole and region points for which the predicates are not exact."""
    wrong = outside_range(points)
    if wrong.size:
        x, y = points[wrong[0]]
        raise InvalidMeshError(
            f"its point ({x:g}, {y:g}) lies outside the range in which geometry is exact "
            f"(0, or {SMALLEST:.1e} to {LARGEST:.1e} in magnitude)",
            kind,
            int(wrong[0]),
        )


def _arrays(
    pslg: Pslg, plane: Plane, domain: Domain, vertices: Float, *, convex_hull: bool
) -> tuple[dict[str, Any], Int]:
    """Returns the fields of the mesh that do not concern triangles, and a half-edge of the plane on each segment.

    Args:
        pslg: the graph; plane, domain: what was made of it; convex_hull: as there.
        vertices: a copy of the graph's.
    """
    if len(plane.new_vertices):
        vertices = np.concatenate([vertices, plane.new_vertices])
    inside = domain.left | domain.right
    pieces = slice(None) if inside.all() else np.flatnonzero(inside)
    ends = plane.edges[pieces]
    assert pslg.segment_markers is not None
    given = pslg.segment_markers[plane.edge_segments[pieces]]
    on_boundary = domain.left[pieces] != domain.right[pieces]
    default = default_marker(pslg.names, pslg.segment_markers, pslg.vertex_markers)
    markers = np.where((given == 0) & on_boundary, default, given).astype(np.int32)
    bounding = ends if on_boundary.all() else ends[np.flatnonzero(on_boundary)]
    boundary = np.concatenate([bounding.ravel(), plane.hull if convex_hull else plane.hull[:0]])
    sides = np.where(domain.left[pieces], plane.left_side[pieces], plane.right_side[pieces])
    return {
        "vertices": vertices,
        "segments": ends,
        "segment_markers": markers,
        "vertex_markers": _vertex_markers(pslg, plane, boundary, ends, given, default),
        "vertex_attributes": _vertex_attributes(pslg, plane, vertices),
        "holes": pslg.holes,
        "regions": pslg.regions,
        "names": pslg.names,
    }, sides


def _vertex_markers(pslg: Pslg, plane: Plane, boundary: Int, ends: Int, markers: Int, default: int) -> Int:
    """Returns the given markers; where 0, that of a vertex in the same place, of a segment, or of the boundary."""
    count = len(pslg.vertices) + len(plane.new_vertices)
    result = np.zeros(count, np.int32)
    result[boundary] = default
    said = np.flatnonzero(markers)[::-1]  # later writes win: the first segment is written last
    result[ends[said]] = markers[said, None]
    if pslg.vertex_markers is not None:
        said = np.flatnonzero(pslg.vertex_markers)[::-1]
        if plane.same_as is not None:
            result[plane.same_as[said]] = pslg.vertex_markers[said]
        result[said] = pslg.vertex_markers[said]
    return result


def _vertex_attributes(pslg: Pslg, plane: Plane, vertices: Float) -> Float | None:
    """Returns the given attributes; where segments cross, interpolated along the first of the two."""
    given = pslg.vertex_attributes
    assert given is not None
    if not given.shape[1] or not len(plane.new_vertices):
        return given
    crossings = plane.conflicts[plane.conflicts[:, 0] == CROSSING]
    result = np.concatenate([given, np.zeros((len(plane.new_vertices), given.shape[1]))])
    for _, segment, _, vertex in crossings[::-1].tolist():
        if vertex < len(given):
            continue
        u, v = pslg.segments[segment]
        way = vertices[v] - vertices[u]
        part = float(((vertices[vertex] - vertices[u]) * way).sum() / (way * way).sum())
        result[vertex] = given[u] + min(max(part, 0.0), 1.0) * (given[v] - given[u])
    return result
