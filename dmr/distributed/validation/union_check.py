"""The check of the union of the parts: how they fit together, and that they make the domain of the input.

Let each number of a vertex stand for one place ("shared vertices"), and let each directed edge between parts have one
triangle, and another one on its other side or none ("shared edges"). Then the half-edges of all parts cancel, up to
those of the boundary, and the sweep along the boundary ("overlap") proves that the triangles cover every point at most
once, as in `dmr.validation.triangulation.overlap`. An edge between parts is Delaunay, because its part has tested it
against a ghost, which is equal to its owner's triangle bit for bit, and shows the triangle across ("ghosts").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.validation.findings import Summary, numbered, renumbered, summary, unite
from dmr.distributed.validation.seams import Cuts, check_completeness
from dmr.distributed.validation.skeleton import Skeleton
from dmr.exact import Points
from dmr.mesh.names import names_of_texts
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.arrays.pieces import Workers
from dmr.validation.bounds.small_angles import check_angles, straight_candidates
from dmr.validation.domain.labels import region_limits
from dmr.validation.domain.origin import Origin
from dmr.validation.report import Findings, SmallAngle
from dmr.validation.triangulation.chains import Arcs, Chains
from dmr.validation.triangulation.duplicates import check_duplicates
from dmr.validation.triangulation.overlap import check_overlap

Int64 = NDArray[np.int64]


def check_union(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    firsts: Sequence[int],
    source: str,
    names: Mapping[str, Mapping[Any, str]],
    convex_hull: bool,
    min_angle: float | None,
    sound: bool,
    faces: bool,
) -> Summary:
    """Checks what only all parts together show.

    Args:
        inputs: the outputs of `check_part`, in order; then the arrays of the input, if there is one. out, resources: as
            for all tasks. The output has `faces` and `limits`: the area limit of each face of a part.
        firsts: the number of the first triangle of each part, then that of all triangles.
        source: what the input is: "mesh", "outline" or "". names: those of the input.
        convex_hull: as for `dmr.validate`.
        min_angle: the angle bound, degrees, or None.
        sound: whether orientation and edges of all parts are right, without which there is no sweep.
        faces: whether regions of the outline have area limits.
    """
    parts = inputs[: len(firsts) - 1]
    given = _source(inputs[-1], source, names)
    workers = Workers(thread_count(resources.threads))
    seams, findings = Findings(), Findings()  # the first in the numbers of the whole, the others in the skeleton's
    cuts = Cuts(parts)
    cuts.check(seams)
    check_completeness(parts, seams)
    labels = distinct(cuts.faces, *(folder["skeleton-face"] for folder in parts))
    joined = cuts.join_faces(labels)
    skeleton = Skeleton.of(
        parts,
        firsts,
        lambda found: joined[np.searchsorted(labels, found)],
        np.empty((0, 2)) if given is None else given.vertices,
        workers,
    )
    mesh, topology = skeleton.mesh, skeleton.topology
    points = Points(mesh.vertices, workers.map)
    exceptions: tuple[SmallAngle, ...] = ()
    with numbered(skeleton.vertices, skeleton.triangles):
        check_duplicates(mesh, topology, findings)
        if not sound or not seams.passed("shared edges"):
            findings.skip("overlap", "orientation, edges or shared edges failed")
        else:
            check_overlap(mesh, topology, findings)
        origin = Origin.compare(mesh, given, convex_hull, topology, points, findings)
        chains = origin.chains
        if min_angle is not None and chains is None:
            arcs = Arcs.of(topology, mesh.segments)
            chains = Chains.trace(arcs, straight_candidates(mesh, arcs))
        if min_angle is not None and chains is not None:
            below = np.flatnonzero(np.isin(skeleton.triangles, np.concatenate([folder["small"] for folder in parts])))
            exceptions = check_angles(mesh, topology, chains, below, min_angle, findings)
    limits = np.full(len(labels), np.inf)
    if faces and origin.outline is not None and origin.paths is not None:
        by_triangle = region_limits(topology, origin.outline, origin.paths)
        limits[topology.faces] = by_triangle
    out["faces"], out["limits"] = labels, limits[joined]
    unite(seams, [summary(renumbered(findings, skeleton.vertices, skeleton.triangles))])
    return {
        **summary(seams),
        "exceptions": [asdict(_numbered(small, skeleton)) for small in exceptions],
        "statistics": {"segments": len(mesh.segments), "boundary_edges": len(topology.boundary)},
    }


def _source(folder: Folder, source: str, names: Mapping[str, Mapping[Any, str]]) -> Mesh | Pslg | None:
    """Returns the input, whose arrays a folder holds."""
    if not source:
        return None
    arrays: dict[str, Any] = {name: np.array(folder[name]) for name in folder}
    arrays["names"] = names_of_texts(names)
    return Mesh.sound(**arrays) if source == "mesh" else Pslg(**arrays)


def _numbered(small: SmallAngle, skeleton: Skeleton) -> SmallAngle:
    return replace(small, triangle=int(skeleton.triangles[small.triangle]), corner=int(skeleton.vertices[small.corner]))
