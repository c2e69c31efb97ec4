"""Triangulation by Shewchuk's Triangle in a separate process, for comparisons.

Triangle (the `triangle` package, free for non-commercial use) is an independent program to compare with. Its C code
crashes the process on some domains, never ends on others, and returns nothing at all for a few. Therefore it runs in a
separate Python process, on checked input, with a time limit, and its result is checked: its crashes, hangs and silent
losses reach the caller only as a `DmrError`.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.text import counted, option
from dmr.errors import DmrError, InvalidMeshError
from dmr.exact import Points
from dmr.mesh.edges import edge_places, unique_edges
from dmr.mesh.names import default_marker
from dmr.mesh.naming import named
from dmr.mesh.types import Int, Mesh, Pslg
from dmr.triangle.output import with_markers

log = logging.getLogger("dmr")

TIMEOUT = 60.0  # seconds

_MISSING = 86  # the child's exit code if it cannot import the package
_PROGRAM = f"""
import sys
if not sys.stdin.read(1):
    sys.exit()  # an exception ended the caller's call before it could wait for this process
import numpy
try:
    import triangle
except ImportError as error:
    sys.stderr.write(str(error))
    sys.exit({_MISSING})
given, switches, made = sys.argv[1:]
with numpy.load(given) as arrays:
    result = triangle.triangulate(dict(arrays), switches)
numpy.savez(made, **result)
"""


def triangulate_by_triangle(pslg: Pslg, *, convex_hull: bool = False, timeout: float = TIMEOUT) -> Mesh:
    """Computes the constrained Delaunay triangulation of a planar straight-line graph by Triangle.

    Triangle runs in a separate process.

    Args:
        pslg: distinct vertices, not all on one line; segments of positive length; finite holes.
        convex_hull: whether to keep the whole convex hull; otherwise what no segments enclose is carved away. Holes are
            carved in both cases.
        timeout: seconds until the process is killed.

    Returns:
        The mesh, as `dmr.triangulate` returns it: the vertices of the graph first, then points where segments cross.

    Raises:
        InvalidMeshError: Triangle cannot take the graph; names the vertex, segment, hole or region.
        DmrError: the `triangle` package is missing; or Triangle crashed, took too long, gave up, returned no
            triangles, or returned an invalid triangulation of the graph. The message says which.
    """
    _check_input(pslg)
    log.warning(
        "%s runs Shewchuk's Triangle, whose licence allows non-commercial use only", option("mesher", "triangle")
    )
    made = _run(_given(pslg), "p" + "c" * convex_hull + "A" * bool(len(pslg.regions)), timeout)
    mesh = _mesh(pslg, made)
    _check_result(pslg, mesh, all_used=convex_hull and not len(pslg.holes))
    return mesh


def _check_input(pslg: Pslg) -> None:
    """Raises InvalidMeshError for input that is known to crash Triangle, or to give a meaningless result."""
    vertices, segments = pslg.vertices, pslg.segments
    if len(vertices) < 3:
        raise InvalidMeshError(
            f"{counted(len(vertices), 'vertex makes', 'vertices make')} no triangle: at least 3 are needed"
        )
    order = np.lexsort((vertices[:, 1], vertices[:, 0]))
    again = np.flatnonzero((vertices[order[1:]] == vertices[order[:-1]]).all(axis=1))
    if again.size:
        first, second = (int(order[again[0] + k]) for k in (0, 1))
        x, y = vertices[second]
        raise InvalidMeshError(f"has the coordinates ({x}, {y}) of {named('vertex', first)}", "vertex", second)
    lengthless = np.flatnonzero(segments[:, 0] == segments[:, 1])
    if lengthless.size:
        k = int(lengthless[0])
        raise InvalidMeshError(f"joins {named('vertex', segments[k, 0])} to itself", "segment", k)
    rest = np.arange(len(vertices))
    ends = np.broadcast_to(order[[0, -1]], (len(vertices), 2))  # the extremes of the line, if all lie on one
    if not Points(vertices).orientation(ends[:, 0], ends[:, 1], rest).any():
        raise InvalidMeshError(f"all {len(vertices)} vertices lie on one line: there is nothing to triangulate")
    for name, places in (("hole", pslg.holes), ("region", pslg.regions)):
        wrong = np.flatnonzero(~np.isfinite(places).all(axis=1))
        if wrong.size:
            k = int(wrong[0])
            raise InvalidMeshError(f"{name} {k} is ({', '.join(map(str, places[k]))}): its values must be finite")


def _given(pslg: Pslg) -> dict[str, NDArray[Any]]:
    """Returns the arrays that the package takes.

    Markers and attributes identify the sources of the result: a segment's marker is its number plus 2, since the
    package gives 1 to edges of the hull; a region's attribute is its number plus 1, since 0 means no region.

    Marked segments come first: if several share an edge, the package marks it for the first in its input, and dmr for
    the first that has a marker.
    """
    order = _marked_first(pslg)
    given: dict[str, NDArray[Any] | None] = {
        "vertices": pslg.vertices,
        "vertex_attributes": pslg.vertex_attributes,
        "segments": pslg.segments[order],
        "segment_markers": (order + 2).astype(np.int32),
        "holes": pslg.holes,
    }
    if len(pslg.regions):
        numbered = pslg.regions.copy()
        numbered[:, 2] = np.arange(1, len(numbered) + 1)
        given["regions"] = numbered
    return {name: array for name, array in given.items() if array is not None and array.size}


def _marked_first(pslg: Pslg) -> NDArray[np.int64]:
    """Returns the numbers of the segments: first those that have a marker, then the others; each group ascending."""
    assert pslg.segment_markers is not None
    return np.argsort(pslg.segment_markers == 0, kind="stable")


def _run(given: dict[str, NDArray[Any]], switches: str, timeout: float) -> dict[str, NDArray[Any]]:
    """Runs the package in another process and returns its result."""
    with tempfile.TemporaryDirectory(prefix="dmr-") as folder:
        source, target = Path(folder, "given.npz"), Path(folder, "made.npz")
        np.savez(source, allow_pickle=False, **given)
        command = [sys.executable, "-c", _PROGRAM, str(source), switches, str(target)]
        try:
            code, output = _ended(command, folder, timeout)
        except subprocess.TimeoutExpired:
            raise DmrError(f"Triangle did not end within {timeout:g} seconds, and was stopped; {_ADVICE}") from None
        if code:
            raise DmrError(_reason(code, output.decode(errors="replace")))
        if not target.exists():
            raise DmrError(f"Triangle's process ended normally, but left no result; {_ADVICE}")
        with np.load(target, allow_pickle=False) as arrays:
            return dict(arrays)


def _ended(command: list[str], folder: str, timeout: float) -> tuple[int, bytes]:
    """Runs a process and returns its exit code and output. The process is killed on an exception, such as Ctrl-C.

    It begins when it has read a line. An exception while it starts leaves no process to kill it; then it ends by
    itself, since its input has ended.
    """
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            output, _ = process.communicate(b"\n", timeout=timeout)
        finally:
            process.kill()  # does nothing if it has ended
            process.wait()
    return process.returncode, output


_ADVICE = "the mesher 'dmr' has no such limits"


def _reason(code: int, output: str) -> str:
    """Describes the failure of a process in one sentence."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = f" ({lines[-1]})" if lines else ""
    if code == _MISSING:
        return (
            f"{option('mesher', 'triangle')} needs the triangle package, the extra [triangle] of this package: "
            f"pip install triangle{said}"
        )
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"Triangle crashed on this domain ({name}), in a separate process; {_ADVICE}"
    return f"Triangle gave up with exit code {code}{said}; {_ADVICE}"


def _mesh(pslg: Pslg, made: dict[str, NDArray[Any]]) -> Mesh:
    """Converts the package's arrays to a mesh, with the segments' markers and the regions' attributes and areas."""
    n = len(pslg.vertices)
    triangles = made.get("triangles", np.empty((0, 3), np.int32))
    if not len(triangles):
        raise DmrError(
            "Triangle returned no triangles and no error: the segments enclose nothing (ask for the convex hull), "
            "or a hole's point lies in what they enclose"
        )
    vertices = made["vertices"]
    if len(vertices) < n or not np.array_equal(vertices[:n], pslg.vertices):
        raise DmrError(f"Triangle returned {len(vertices)} vertices that do not begin with the {n} given ones")
    attributes, bounds = None, None
    if len(pslg.regions):
        region = made["triangle_attributes"][:, 0].astype(np.int64)
        attributes = np.append(0.0, pslg.regions[:, 2])[region][:, None]
        if (pslg.regions[:, 3] > 0).any():
            bounds = np.append(0.0, np.maximum(pslg.regions[:, 3], 0))[region]
    segment = made["segment_markers"].reshape(-1) - 2
    # In the order of the segments, as in dmr: a vertex gets the marker of the first one through it (`with_markers`).
    pieces = np.argsort(segment, kind="stable")[np.count_nonzero(segment < 0) :]
    added = np.zeros(len(vertices) - n, np.int32)
    assert pslg.segment_markers is not None
    mesh = Mesh(
        np.concatenate([pslg.vertices, vertices[n:]]),
        triangles,
        segments=made["segments"][pieces],
        segment_markers=pslg.segment_markers[segment[pieces]],
        vertex_markers=None if pslg.vertex_markers is None else np.concatenate([pslg.vertex_markers, added]),
        vertex_attributes=made.get("vertex_attributes"),
        triangle_attributes=attributes,
        area_bounds=bounds,
        holes=pslg.holes,
        regions=pslg.regions,
        names=pslg.names,
    )
    return with_markers(mesh, default_marker(pslg.names, pslg.segment_markers, pslg.vertex_markers))


def _check_result(pslg: Pslg, mesh: Mesh, *, all_used: bool) -> None:
    """Raises DmrError if the mesh is not a triangulation of the graph."""
    points = Points(mesh.vertices)
    a, b, c = mesh.triangles.T
    wrong = np.flatnonzero(points.orientation(a, b, c) <= 0)
    if wrong.size:
        raise DmrError(f"Triangle returned triangle {wrong[0]} flat or clockwise; {_ADVICE}")
    if all_used:
        unused = np.flatnonzero(np.bincount(mesh.triangles.ravel(), minlength=len(mesh.vertices)) == 0)
        if unused.size:
            x, y = mesh.vertices[unused[0]]
            raise DmrError(f"Triangle left out {named('vertex', unused[0])} at ({x}, {y}); {_ADVICE}")
    edges, _ = unique_edges(mesh)
    for k in np.flatnonzero(edge_places(edges, pslg.segments, len(mesh.vertices)) < 0):
        # The segment may be a chain of edges, or lie outside. It must not pass through triangles, whose edges it would
        # cross; where it crosses other segments, the chain bends by the rounding of their common point.
        u, v = pslg.segments[k]
        if _crosses(points, u, v, edges) and not _crosses(points, u, v, pslg.segments):
            ends = " to ".join(named("vertex", int(end)) for end in (u, v))
            raise DmrError(f"Triangle left out {named('segment', int(k))}, from {ends}; {_ADVICE}")


def _crosses(points: Points, u: int, v: int, edges: Int) -> bool:
    """Whether the segment from u to v crosses one of the edges at an interior point of both."""
    near = np.ones(len(edges), bool)
    for axis in (points.x, points.y):
        ends = axis[edges]
        near &= (ends.max(axis=1) >= min(axis[u], axis[v])) & (ends.min(axis=1) <= max(axis[u], axis[v]))
    a, b = edges[near].T
    us, vs = np.full(len(a), u), np.full(len(a), v)
    apart = points.orientation(us, vs, a) * points.orientation(us, vs, b) < 0
    a, b, us, vs = a[apart], b[apart], us[apart], vs[apart]
    return bool((points.orientation(a, b, us) * points.orientation(a, b, vs) < 0).any())
