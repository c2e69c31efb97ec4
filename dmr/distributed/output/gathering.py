"""Gathers the parts of a mesh, one after another, into the arrays of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.output.part import Part
from dmr.distributed.tiles.piece import PER_TRIANGLE
from dmr.distributed.tiles.pieces import PER_VERTEX
from dmr.errors import InvalidMeshError
from dmr.mesh.edges import edge_keys


def gathered_arrays(parts: Iterable[Part], counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a mesh by name: vertices and triangles by number, segments in the order of the parts.

    Args:
        parts: all parts, in order; counts: the numbers of "vertices" and "triangles" of the whole.

    Raises:
        InvalidMeshError: the parts do not have these, each once, or not the same arrays.
    """
    arrays: dict[str, NDArray[Any]] = {}
    found = {element: np.zeros(counts[element], bool) for element in ("vertices", "triangles")}
    segments, markers = [np.empty((0, 2), np.int32)], [np.empty(0, np.int32)]
    for part in parts:
        mesh, own = part.mesh, slice(part.own)
        mine = np.flatnonzero(part.vertex_owners == part.index)
        rows = {"vertices": part.numbers[mine], "triangles": np.arange(part.first, part.first + part.own)}
        for element, numbers in rows.items():
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < counts[element]):
                raise InvalidMeshError(f"part {part.index} has {element} beyond {counts[element]}")
            found[element][numbers] = True
        corners = part.numbers.astype(np.int32)
        local = {"triangles": corners[mesh.triangles[own]]}
        local |= {name: array[mine] for name in PER_VERTEX if (array := getattr(mesh, name)) is not None}
        local |= {name: array[own] for name in PER_TRIANGLE if (array := getattr(mesh, name)) is not None}
        if arrays and local.keys() != arrays.keys():
            name = min(local.keys() ^ arrays.keys())
            raise InvalidMeshError(f"of part 0 and part {part.index}, only one has {name}")
        for name, values in local.items():
            element = "vertices" if name in PER_VERTEX else "triangles"
            if name not in arrays:
                arrays[name] = np.empty((counts[element], *values.shape[1:]), values.dtype)
            whole = arrays[name]
            if whole.shape[1:] != values.shape[1:]:
                raise InvalidMeshError(f"part {part.index} has other columns of {name} than part 0")
            whole[slice(part.first, part.first + part.own) if element == "triangles" else rows[element]] = values
        segments.append(corners[mesh.segments])
        assert mesh.segment_markers is not None
        markers.append(mesh.segment_markers)
    for element, there in found.items():
        if not there.all():
            raise InvalidMeshError(f"no part has number {int(np.argmin(there))} of the {len(there)} {element}")
    both = np.concatenate(segments)
    once = np.sort(np.unique(edge_keys(*both.T), return_index=True)[1])  # those between parts are in several
    return {**arrays, "segments": both[once], "segment_markers": np.concatenate(markers)[once]}
