"""The public `triangulate`: a domain in any form as a triangulation without refinement."""

from __future__ import annotations

import logging

from dmr.common.arguments import checks_keywords
from dmr.memory import Device, open_device
from dmr.mesh.types import Mesh, Pslg
from dmr.meshing.conversion import DomainLike, as_domain
from dmr.triangulation import triangulate_noting

log = logging.getLogger("dmr")

TOO_FEW_FOR_A_GPU = 2**16  # points


def device_for(pslg: Pslg, device: str, threads: int | None) -> Device:
    """Opens the device to triangulate a graph on; arguments and errors are those of `triangulate`."""
    few = len(pslg.vertices) < TOO_FEW_FOR_A_GPU
    return open_device("cpu" if device == "auto" and few else device, threads)


@checks_keywords
def triangulate(
    domain: DomainLike,
    *,
    on_conflict: str = "resolve",
    convex_hull: bool = False,
    mesher: str = "dmr",
    method: str = "auto",
    device: str = "auto",
    threads: int | None = None,
) -> Mesh:
    """Triangulates points, or the domain that segments bound: constrained Delaunay, without refinement.

    The first vertices are the given ones, in their order, bit for bit, including those that no triangle uses: vertices
    outside of the domain and duplicates of an earlier one. Vertices where segments cross come after them.

    Args:
        domain: (n, 2) points, whose convex hull is the domain; a pair `(points, segments)`, with segments (s, 2) by
            the indices of their ends; a `Pslg`, which also has holes, regions and markers; a dictionary of the
            `triangle` package, as `Pslg.from_triangle` takes it; or a geometry of shapely, a table of geopandas, any
            object with a `__geo_interface__`, a list of such, or a GeoJSON object, as for `domains.from_shapely`.
        on_conflict: what happens to duplicate vertices, vertices on segments, and segments that overlap or cross:
            "resolve" (merge, split; the log gives their number and names the first) or "error".
        convex_hull: mesh the whole convex hull, whether segments enclose it or not; holes stay holes.
        mesher: "dmr", or "triangle": Shewchuk's Triangle in a separate process, if the `triangle` package is
            installed, for comparisons. Its licence forbids commercial use.
        method: "rounds" (rounds of kernels, on a GPU or on CPU threads), "serial" (points and segments one by one, on
            one CPU thread), or "auto": rounds on a GPU unless points are few; on a CPU one by one, many points and
            segments on all threads. If segments overlap or cross, or need many rounds of
            flips, CPU threads insert them. The mesh is the same.
        device: "auto" (a GPU if one works and there are many points, otherwise the CPU), "cpu", "cuda" or "cuda:N".
        threads: CPU threads, 1 to 1,024 (or the number of cores, if that is larger); by default every core.

    Returns:
        The mesh. `segments` are the pieces of the graph's segments that belong to the domain, sorted by segment and
        along each of them; their markers are those of the segments, or 1 on the boundary if these have none.
        `vertex_markers`: those of the graph; where they are 0, that of the first marked segment through the vertex,
        otherwise 1 on the boundary. With regions, `triangle_attributes` has their attributes and `area_bounds` their
        areas.

    Raises:
        InvalidMeshError: the graph bounds no domain (an outline with a gap, all vertices on one line, a hole or region
            point outside of it, two regions in one part of it), or has conflicts that `on_conflict` refuses; names
            the offending element.
        DeviceUnavailableError: the requested device is not available.
        OptionError: an option that cannot be used; a WrongTypeError if `domain` is none of the above.
        NativeLibraryError: the native library is missing.
    """
    pslg, convex_hull = as_domain(domain, "domain", convex_hull=convex_hull)
    opened = device_for(pslg, device, threads)
    mesh, notes, _ = triangulate_noting(
        pslg, on_conflict=on_conflict, convex_hull=convex_hull, mesher=mesher, method=method, device=opened
    )
    for note in notes:
        log.warning(note)
    return mesh
