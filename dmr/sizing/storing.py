"""Stores sources of sizes as arrays by name, and makes them again: the bytes depend on the sizes alone.

A source called NAME of the kind KIND has the array `NAME-KIND`, its numbers, and `NAME-...` for each array that it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.types import Mesh
from dmr.sizing.functions import EqualSizes
from dmr.sizing.quadtree import Quadtree
from dmr.sizing.segment_sizes import SegmentSizes, SmallestSizes
from dmr.sizing.size_field import SizeField, _OnGrid, _OnMesh, _OnTriangles, _OnVertices
from dmr.sizing.source import SizeSource
from dmr.sizing.support import Support


class Arrays(Protocol):
    """Arrays by name that can be read."""

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        """Returns an array."""

    def __contains__(self, name: object, /) -> bool:
        """Whether there is an array of that name."""


# The kinds of sources and of supports of fields that have numbers and arrays under the names of their attributes.
PLAIN: dict[str, type[Any]] = {"equal": EqualSizes, "segments": SegmentSizes, "quadtree": Quadtree, "grid": _OnGrid}
MESHES: dict[str, type[Any]] = {"by_vertex": _OnVertices, "by_triangle": _OnTriangles}
SMALLEST = "smallest"
VALUES = "values"


def sizes_as_arrays(source: SizeSource, name: str) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a source that kernels evaluate, under names that begin with `name`."""
    if isinstance(source, SmallestSizes):
        arrays = {f"{name}-{SMALLEST}": np.array([float(len(source.parts))])}
        for number, part in enumerate(source.parts):
            arrays |= sizes_as_arrays(part, f"{name}-{number}")
        return arrays
    if isinstance(source, SizeField):
        return {**_arrays(source.support, name), f"{name}-{VALUES}": source.values}
    return _arrays(source, name)


def sizes_from_arrays(arrays: Arrays, name: str) -> SizeSource | None:
    """Returns the source whose arrays are stored under names that begin with `name`; None if there is none."""
    if f"{name}-{SMALLEST}" in arrays:
        parts = [sizes_from_arrays(arrays, f"{name}-{k}") for k in range(int(arrays[f"{name}-{SMALLEST}"][0]))]
        return SmallestSizes(tuple(part for part in parts if part is not None))
    found: SizeSource | Support | None = None
    for kind, made in PLAIN.items():
        if f"{name}-{kind}" in arrays:
            found = made(**_attributes(made, arrays, name, kind))
    for kind, made in MESHES.items():
        if f"{name}-{kind}" in arrays:
            found = made(Mesh.sound(**{each: arrays[f"{name}-{each}"] for each in ("vertices", "triangles")}))
    return SizeField.on_support(found, arrays[f"{name}-{VALUES}"]) if isinstance(found, Support) else found


def _arrays(item: SizeSource | Support, name: str) -> dict[str, NDArray[Any]]:
    kind, made = next(each for each in {**PLAIN, **MESHES}.items() if type(item) is each[1])
    if isinstance(item, _OnMesh):
        tables: dict[str, NDArray[Any]] = {"vertices": item.mesh.vertices, "triangles": item.mesh.triangles}
        return {f"{name}-{kind}": np.empty(0), **{f"{name}-{each}": array for each, array in tables.items()}}
    values: dict[str, Any] = {each.name: getattr(item, each.name) for each in fields(made)}
    numbers = [value for value in values.values() if not isinstance(value, np.ndarray)]
    arrays = {f"{name}-{each}": value for each, value in values.items() if isinstance(value, np.ndarray)}
    return {f"{name}-{kind}": np.array(numbers, np.float64), **arrays}


def _attributes(made: type[Any], arrays: Arrays, name: str, kind: str) -> Mapping[str, Any]:
    numbers = iter(arrays[f"{name}-{kind}"].tolist())
    found = {}
    for each in fields(made):
        stored = f"{name}-{each.name}"
        found[each.name] = arrays[stored] if stored in arrays else next(numbers)
        if each.type == "int":
            found[each.name] = int(found[each.name])
    return found
