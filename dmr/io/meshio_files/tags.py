"""Regions and boundary markers in the form other programs use: named positive tags, and named sets of elements.

region_3      the triangles whose attribute 0 is 3        (dimension 2)
boundary_3    the lines with marker 3                     (dimension 1)
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger("dmr.io")

REGION, BOUNDARY = "region", "boundary"
_DIMENSIONS = {REGION: 2, BOUNDARY: 1}

Tags = NDArray[np.int32]


def as_whole(values: NDArray[Any]) -> Tags | None:
    """The values as 32-bit integers; None if any value is not one."""
    limit = 2**31 - 1
    if not (np.isfinite(values).all() and (np.abs(values) <= limit).all() and (values == np.rint(values)).all()):
        return None
    return values.astype(np.int32)


def physical_tags(values: Tags, kind: str) -> tuple[Tags, dict[str, NDArray[np.int64]]]:
    """Gmsh's physical tags, and their names in meshio's form: name to (tag, dimension).

    Gmsh supports only positive tags: tag 0 means that an element belongs to no group, and many readers skip it. Values
    that are not positive get the smallest free tags, and are restored from their names when read. Lines without a
    marker keep tag 0.
    """
    present, place = _distinct(values)
    taken = set(present.tolist())
    free = (number for number in itertools.count(1) if number not in taken)
    tags, names = present.copy(), {}
    for k, value in enumerate(present.tolist()):
        if value == 0 and kind == BOUNDARY:
            continue
        tags[k] = value if value > 0 else next(free)
        names[f"{kind}_{value}"] = np.array([tags[k], _DIMENSIONS[kind]])
    return tags[place], names


def from_physical_tags(tags: Tags, names: Mapping[str, Any], kind: str) -> Tags:
    """Recovers the values from the tags; the inverse of `physical_tags`."""
    present, place = _distinct(tags)
    values = present.copy()
    for name, tag_and_dimension in names.items():
        value = _value_of(name, kind)
        if value is None or value > 0 or np.size(tag_and_dimension) != 2:
            continue
        tag, dimension = (int(number) for number in tag_and_dimension)
        k = int(np.searchsorted(present, tag))
        if dimension == _DIMENSIONS[kind] and k < len(present) and present[k] == tag:
            values[k] = value
    return values[place]


def entities(tags: Tags) -> Tags:
    """Gmsh's geometrical tags: one per physical tag, because a physical group in Gmsh consists of whole entities."""
    return (_distinct(tags)[1] + 1).astype(np.int32)


def to_sets(regions: Tags | None, markers: Tags) -> dict[str, list[NDArray[np.int64]]]:
    """Named element sets in meshio's form: for each set, indices into the triangle block and into the line block.

    Args:
        regions: of the triangles, or None.
        markers: of the lines; lines with marker 0 are in no set. Without lines there is only one block.
    """
    none = np.empty(0, np.int64)
    sets: dict[str, list[NDArray[np.int64]]] = {}
    for value, members in [] if regions is None else _groups(regions):
        sets[f"{REGION}_{value}"] = [members, none] if len(markers) else [members]
    for value, members in _groups(markers):
        if value != 0:
            sets[f"{BOUNDARY}_{value}"] = [none, members]
    return sets


def from_sets(sets: Mapping[str, Any], kind: str, blocks: Iterable[tuple[int, int]], where: object) -> Tags | None:
    """The values of the elements in sets named as by `to_sets`; 0 for other elements, None if there are no such sets.

    Args:
        sets: in meshio's form; sets with other names are ignored.
        kind: of the elements.
        blocks: the index and the length of each block that contains elements of this kind.
        where: the prefix of the warning about elements in two sets.
    """
    found = {name: value for name in sets if (value := _value_of(name, kind)) is not None}
    parts = []
    for block, length in blocks:
        values, said = np.zeros(length, np.int32), np.zeros(length, bool)
        for name, value in found.items():
            if block >= len(sets[name]) or sets[name][block] is None:
                continue
            members = np.asarray(sets[name][block], np.int64)
            if said[members].any():
                log.warning("%s: set %s shares elements with another one of its kind, and overrides it", where, name)
            values[members], said[members] = value, True
        parts.append(values)
    return np.concatenate(parts) if parts and found else None


def _value_of(name: str, kind: str) -> int | None:
    """The number in a name such as `region_3`; None for other names."""
    match = re.fullmatch(rf"{kind}_(-?\d{{1,10}})", name)
    return int(match[1]) if match and -(2**31) <= int(match[1]) < 2**31 else None


def _distinct(values: Tags) -> tuple[Tags, NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each array element among them."""
    present, place = np.unique(values, return_inverse=True)
    return present, place.reshape(-1)


def _groups(values: Tags) -> list[tuple[int, NDArray[np.int64]]]:
    """The distinct values in ascending order, each with the indices of the elements that have it."""
    present, counts = np.unique(values, return_counts=True)
    members = np.split(np.argsort(values, kind="stable"), np.cumsum(counts)[:-1])
    return list(zip(present.tolist(), members, strict=False))  # split returns one empty part for an empty array
