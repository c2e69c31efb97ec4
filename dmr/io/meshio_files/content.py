"""Checks and converts mesh objects of meshio, whose content may come from any program or from a damaged file."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import kind_of, shortened
from dmr.common.number_arrays import given_array, real_array
from dmr.errors import InvalidMeshError

PHYSICAL = "gmsh:physical"
TAGS = (PHYSICAL, "medit:ref", "avsucd:material", "su2:tag")
_POINT_ARRAYS = re.compile("vertex_marker|vertex_attribute_[0-9]+|" + "|".join(TAGS))
_CELL_ARRAYS = re.compile("segment_marker|area_bound|triangle_attribute_[0-9]+|" + "|".join(TAGS))

Block = tuple[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Content:
    """The relevant parts of a mesh object, as arrays of the right type and length.

    Attributes:
        points: (n, 2) or (n, 3).
        blocks: for each block, the cell type and the (k, c) point indices.
        point_data: (n, ...) by name; only names that are read.
        cell_data: one array per block, by name; only names that are read.
        physical: label, tag and dimension of groups, as in Gmsh's files.
        cell_sets: by label, the cell indices in each block, or None.
    """

    points: NDArray[np.float64]
    blocks: list[Block]
    point_data: dict[str, NDArray[np.float64]]
    cell_data: dict[str, list[NDArray[np.float64]]]
    physical: list[tuple[str, int, int]]
    cell_sets: dict[str, list[NDArray[np.int64] | None]]


def content_of(found: Any, labels: Collection[str] = ()) -> Content:
    """Extracts and checks the content of a mesh object.

    Args:
        found: the mesh object.
        labels: of sets that are read, besides those in its `field_data` and those like `region_3`.

    Raises:
        InvalidMeshError: a part is missing, or has the wrong type or length; the message names the part.
    """
    if not all(hasattr(found, name) for name in ("points", "cells", "point_data", "cell_data")):
        raise InvalidMeshError(f"a meshio mesh has points and cells; this is {kind_of(found)}")
    points = _real(found.points, "points")
    count = len(points) if points.ndim else 0
    blocks = [_block(block, k, count) for k, block in enumerate(_list(found.cells, "cells"))]
    lengths = [len(data) for _, data in blocks]
    physical = list(_physical_groups(_optional(found, "field_data")))
    sets = "|".join(map(re.escape, (*labels, *(label for label, _, _ in physical))))
    return Content(
        points=points,
        blocks=blocks,
        point_data={
            name: _of_length(_real(values, name), count, name)
            for name, values in _named(found.point_data, "point_data", _POINT_ARRAYS)
        },
        cell_data={
            name: [_of_length(_real(part, name), n, name) for part, n in _by_block(values, lengths, name)]
            for name, values in _named(found.cell_data, "cell_data", _CELL_ARRAYS)
        },
        physical=physical,
        cell_sets={
            name: [None if part is None else _places(part, n, name) for part, n in _by_block(values, lengths, name)]
            for name, values in _named(
                _optional(found, "cell_sets"), "cell_sets", re.compile(f"(region|boundary)_-?[0-9]+|{sets}")
            )
        },
    )


def _optional(found: Any, name: str) -> Any:
    values = getattr(found, name, None)
    return {} if values is None else values


def _physical_groups(values: Any) -> Iterable[tuple[str, int, int]]:
    """The entries of `field_data` that are a tag and a dimension; other programs store anything there."""
    for label, pair in _named(values, "field_data", re.compile(".+")):
        with contextlib.suppress(ValueError):
            numbers = real_array(pair)
            if numbers.shape == (2,) and (np.abs(numbers) < 2**31).all() and (numbers == np.rint(numbers)).all():
                yield label, int(numbers[0]), int(numbers[1])


def _real(values: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        return real_array(values)
    except ValueError as error:
        raise InvalidMeshError(f"{name} must be real numbers ({error})") from None


def _block(block: Any, number: int, points: int) -> Block:
    kind = getattr(block, "type", None)
    if not isinstance(kind, str):
        raise InvalidMeshError(f"block {number} of cells has no type")
    try:
        data = given_array(block.data)
    except (ValueError, AttributeError) as error:
        raise InvalidMeshError(f"block {number} of cells has no table of points ({error})") from None
    if data.size == 0 or not kind.startswith(("triangle", "line")):
        return kind, np.empty((len(data) if data.ndim else 0, 0), np.int64)
    if data.dtype.kind not in "iu" or data.ndim != 2:
        raise InvalidMeshError(f"block {number} of cells must be a table of whole numbers, not {shortened(data)}")
    if int(data.min()) < 0 or int(data.max()) >= points:
        at = int(np.flatnonzero(((data < 0) | (data >= points)).any(axis=1))[0])
        wrong = int(data[at][(data[at] < 0) | (data[at] >= points)][0])
        raise InvalidMeshError(f"cell {at} of block {number} names vertex {wrong}, but there are {points} points")
    return kind, data.astype(np.int64)


def _list(values: Any, name: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise InvalidMeshError(f"{name} must be a list, not {shortened(values)}") from None


def _named(values: Any, name: str, wanted: re.Pattern[str]) -> Iterable[tuple[str, Any]]:
    if not isinstance(values, Mapping):
        raise InvalidMeshError(f"{name} must be a dictionary, not {shortened(values)}")
    return [(key, value) for key, value in values.items() if isinstance(key, str) and wanted.fullmatch(key)]


def _by_block(values: Any, lengths: list[int], name: str) -> Iterable[tuple[Any, int]]:
    """Pairs the entries of a list with the lengths of their blocks; sets may omit trailing entries."""
    parts = _list(values, name)
    if len(parts) > len(lengths):
        raise InvalidMeshError(f"{name} has {len(parts)} entries, and there are {len(lengths)} blocks of cells")
    return zip(parts, lengths, strict=False)


def _of_length(values: NDArray[np.float64], count: int, name: str) -> NDArray[np.float64]:
    if values.ndim == 0 or len(values) != count:
        raise InvalidMeshError(f"{name} must have {count} entries, and has shape {values.shape}")
    return values


def _places(members: Any, length: int, name: str) -> NDArray[np.int64]:
    places = _real(members, name).reshape(-1)
    if places.size and not ((places >= 0) & (places < length)).all():
        raise InvalidMeshError(f"{name} names a cell that is not among the {length} of its block")
    return places.astype(np.int64)
