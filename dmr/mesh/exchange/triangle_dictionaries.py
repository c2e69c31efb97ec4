"""Dictionaries of the `triangle` package: the fields of `Mesh` and `Pslg` under its names, in its shapes.

That package takes lists and arrays of any kind of number; markers, attributes and area bounds may be flat or columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened
from dmr.common.number_arrays import given_array
from dmr.errors import InvalidMeshError, WrongTypeError

_WHOLE = ("segments", "triangles", "vertex_markers", "segment_markers")
_FLAT = ("vertex_markers", "segment_markers", "triangle_max_area")
_COLUMNS = ("vertex_attributes", "triangle_attributes")
_KNOWN = ("vertices", "holes", "regions", *_WHOLE, *_COLUMNS, "triangle_max_area")
_DERIVED = ("neighbors", "edges", "edge_markers")  # results of Triangle, which follow from the others

Fields = dict[str, NDArray[Any] | None]


def mesh_fields(data: Any) -> Fields:
    """Converts a dictionary to the arguments of `Mesh`; errors are those of `Mesh.from_triangle`."""
    entries = _entries(data)
    if "vertices" not in entries or "triangles" not in entries:
        raise InvalidMeshError("the dictionary holds no vertices, or no triangles")
    triangles = entries["triangles"]
    return {
        **_common(entries),
        "triangles": triangles[:, :3] if triangles.ndim == 2 else triangles,
        "triangle_attributes": entries.get("triangle_attributes"),
        "area_bounds": entries.get("triangle_max_area"),
    }


def pslg_fields(data: Any) -> Fields:
    """Converts a dictionary to the arguments of `Pslg`; errors are those of `Pslg.from_triangle`."""
    entries = _entries(data)
    if "vertices" not in entries:
        raise InvalidMeshError("the dictionary holds no vertices")
    return _common(entries)


def _common(entries: Mapping[str, NDArray[Any]]) -> Fields:
    """Returns the fields that `Mesh` and `Pslg` share."""
    return {
        "vertices": entries["vertices"],
        "segments": entries.get("segments", np.empty((0, 2), np.int32)),
        "segment_markers": entries.get("segment_markers") if "segments" in entries else None,
        "vertex_markers": entries.get("vertex_markers"),
        "vertex_attributes": entries.get("vertex_attributes"),
        "holes": entries.get("holes", np.empty((0, 2))),
        "regions": entries.get("regions", np.empty((0, 4))),
    }


def _entries(data: Any) -> dict[str, NDArray[Any]]:
    """Converts the entries of a dictionary to arrays of the shapes and kinds that `Mesh` and `Pslg` take."""
    if not isinstance(data, Mapping):
        raise WrongTypeError(f"data must be a dictionary of the triangle package, not {shortened(data)}")
    unknown = [name for name in data if name not in _KNOWN + _DERIVED]
    if unknown:
        raise InvalidMeshError(
            f"the dictionary has the entry {shortened(unknown[0])}, which the triangle package does not know; "
            f"it knows {', '.join(_KNOWN)}"
        )
    return {name: _entry(name, data[name]) for name in _KNOWN if name in data}


def _entry(name: str, values: Any) -> NDArray[Any]:
    try:
        array = given_array(values)
    except ValueError as error:
        raise InvalidMeshError(f"{name} must be a table of numbers ({error})") from None
    if name in _WHOLE and array.dtype.kind == "f" and (np.rint(array) == array).all():
        array = array.astype(np.int64)
    if name in _FLAT:
        return array.reshape(-1)
    return array[:, None] if name in _COLUMNS and array.ndim == 1 else array


def mesh_dictionary(mesh: Any) -> dict[str, NDArray[Any]]:
    """Converts a `Mesh` to a dictionary, with copies in Triangle's order and dtypes."""
    data = {"vertices": mesh.vertices.copy(), "triangles": mesh.triangles.copy(), **_labels(mesh)}
    if mesh.triangle_attributes is not None and mesh.triangle_attributes.shape[1]:
        data["triangle_attributes"] = mesh.triangle_attributes.copy()
    if mesh.area_bounds is not None:
        data["triangle_max_area"] = mesh.area_bounds.reshape(-1, 1).copy()
    return data


def pslg_dictionary(pslg: Any) -> dict[str, NDArray[Any]]:
    """Converts a `Pslg` to a dictionary, with copies in Triangle's order and dtypes."""
    data = {"vertices": pslg.vertices.copy(), **_labels(pslg)}
    for name in ("holes", "regions"):
        if len(getattr(pslg, name)):
            data[name] = getattr(pslg, name).copy()
    return data


def _labels(item: Any) -> dict[str, NDArray[Any]]:
    """Returns segments, markers and vertex attributes, where there are any: Triangle refuses empty tables."""
    data: dict[str, NDArray[Any]] = {}
    if len(item.segments):
        data["segments"] = item.segments.copy()
        data["segment_markers"] = item.segment_markers.reshape(-1, 1).copy()
    if item.vertex_markers is not None:
        data["vertex_markers"] = item.vertex_markers.reshape(-1, 1).copy()
    if item.vertex_attributes.shape[1]:
        data["vertex_attributes"] = item.vertex_attributes.copy()
    return data
