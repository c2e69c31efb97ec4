"""Data that the files of hydrodynamic models do not keep."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from dmr.common.text import counted
from dmr.errors import InvalidMeshError
from dmr.io.implied_markers import are_implied
from dmr.io.meshio_files.tags import Tags, as_whole
from dmr.mesh.types import Float, Mesh

log = logging.getLogger("dmr.io")


def elevations(mesh: Mesh) -> Float:
    """(n,): vertex attribute 0, or 0 if there is none.

    Raises:
        InvalidMeshError: an attribute is not finite; names the vertex.
    """
    assert mesh.vertex_attributes is not None
    if not mesh.vertex_attributes.shape[1]:
        return np.zeros(len(mesh.vertices))
    found = mesh.vertex_attributes[:, 0]
    wrong = np.flatnonzero(~np.isfinite(found))
    if wrong.size:
        first = int(wrong[0])
        raise InvalidMeshError(
            f"attribute 0, the depth or elevation, is {found[first]:g}, not a finite number", "vertex", first
        )
    return found


def regions_of(mesh: Mesh) -> Tags | None:
    """(m,): triangle attribute 0; None if there is none, or one that is not a whole number of 32 bits."""
    assert mesh.triangle_attributes is not None
    return as_whole(mesh.triangle_attributes[:, 0]) if mesh.triangle_attributes.shape[1] else None


def warn_of_losses(path: Path, mesh: Mesh, *, segments: int = 0, regions: bool = False) -> None:
    """Logs what a file does not keep.

    Args:
        path: the file.
        mesh: the mesh that is written.
        segments: the number of segments that are not written.
        regions: whether triangle attribute 0 is written.
    """
    assert mesh.vertex_attributes is not None and mesh.triangle_attributes is not None
    first = int(regions and regions_of(mesh) is not None)
    lost = [counted(segments, "segment that is not on the boundary", "segments that are not on the boundary")]
    lost = lost if segments else []
    lost += ["vertex_marker"] if mesh.vertex_markers is not None and (segments or not are_implied(mesh)) else []
    lost += [f"vertex_attribute_{k}" for k in range(1, mesh.vertex_attributes.shape[1])]
    lost += [f"triangle_attribute_{k}" for k in range(first, mesh.triangle_attributes.shape[1])]
    lost += ["area_bound"] if mesh.area_bounds is not None else []
    if lost:
        log.warning("%s: %s files do not keep %s", path, path.suffix, ", ".join(lost))
