"""Converts meshes for scikit-fem, which is optional (the extra [skfem])."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.errors import DmrError
from dmr.mesh.arrays import MeshArrays
from dmr.mesh.edges import edge_places
from dmr.mesh.names import MARKERS, REGIONS

if TYPE_CHECKING:
    from skfem import MeshTri

log = logging.getLogger("dmr")


def to_skfem(mesh: MeshArrays) -> MeshTri:
    """Converts a mesh; result and errors are those of `Mesh.to_skfem`."""
    try:
        skfem = import_module("skfem")
    except ImportError as error:
        raise DmrError(
            f"this needs scikit-fem, the extra [skfem] of this package: pip install scikit-fem ({error})"
        ) from error
    if not len(mesh.triangles):
        raise DmrError("there is nothing to convert: the mesh has no triangles, which scikit-fem does not take")
    used = np.zeros(len(mesh.vertices), bool)
    used[mesh.triangles] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    found: Any = skfem.MeshTri(
        np.ascontiguousarray(mesh.vertices[used].T), np.ascontiguousarray(number[mesh.triangles].T)
    )
    facets = edge_places(found.facets.T, number[mesh.segments], int(used.sum()))
    lost = (facets < 0) | ~used[mesh.segments].all(axis=1)
    if lost.any():
        log.warning("%d segments are not edges of triangles and were left out", int(lost.sum()))
    assert mesh.segment_markers is not None and mesh.triangle_attributes is not None
    marked = (mesh.segment_markers != 0) & ~lost
    boundaries = _groups("boundary", mesh.names[MARKERS], mesh.segment_markers[marked], facets[marked])
    regions = mesh.triangle_attributes[:, 0] if mesh.triangle_attributes.shape[1] else np.empty(0)
    subdomains = _groups("region", mesh.names[REGIONS], regions, np.arange(len(regions)))
    made: MeshTri = found.with_boundaries(boundaries).with_subdomains(subdomains)
    return made


def _groups(
    kind: str, names: Mapping[int, str], values: NDArray[Any], members: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Maps the name of each value, or its kind and number, to the members that have it, each once."""
    return {
        names.get(value, f"{kind}_{value:g}"): distinct(members[values == value])
        for value in np.unique(values).tolist()
    }
