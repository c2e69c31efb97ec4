"""Regions and boundary markers as other programs know them: positive tags with names, and named sets of elements.

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
    """Values as whole numbers of 32 bits, None where one is not."""
    limit = 2**31 - 1
    if not (np.isfinite(values).all() and (np.abs(values) <= limit).all() and (values == np.rint(values)).all()):
        return None
    return values.astype(np.int32)


def physical_tags(values: Tags, kind: str) -> tuple[Tags, dict[str, NDArray[np.int64]]]:
    """Gmsh's physical tags, and their names as meshio has them: name to (tag, dimension).

    Gmsh knows only positive tags: a 0 means that an element belongs to nothing, and is left out by many readers. Other
    values get the smallest numbers that are free, and are read back by their names. Lines without a marker stay at 0.
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
    """The values that `physical_tags` made the tags of."""
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
    """Gmsh's geometrical tags: one for each physical tag, as Gmsh has whole entities in a physical group."""
    return (_distinct(tags)[1] + 1).astype(np.int32)


def to_sets(regions: Tags | None, markers: Tags) -> dict[str, list[NDArray[np.int64]]]:
    """Named sets of elements, as meshio has them: the indices in the block of triangles, and in that of the lines.

    Args:
        regions: of the triangles, None where there are none.
        markers: of the lines; those with marker 0 are in no set. Without lines there is one block only.
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
    """The values of elements that are in sets such as those of `to_sets`; 0 for the others, None without such sets.

    Args:
        sets: as meshio has them; other names are left alone.
        kind: of the elements.
        blocks: the number and the length of each block that holds elements of this kind.
        where: what the message about elements in two sets begins with.
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
                log.warning("%s: set %s shares elements with another one of the kind, and wins", where, name)
            values[members], said[members] = value, True
        parts.append(values)
    return np.concatenate(parts) if parts and found else None


def _value_of(name: str, kind: str) -> int | None:
    """The number in a name such as `region_3`, None in others."""
    match = re.fullmatch(rf"{kind}_(-?\d{{1,10}})", name)
    return int(match[1]) if match and -(2**31) <= int(match[1]) < 2**31 else None


def _distinct(values: Tags) -> tuple[Tags, NDArray[np.int64]]:
    """The values without repetitions, rising, and where each one of the array stands there."""
    present, place = np.unique(values, return_inverse=True)
    return present, place.reshape(-1)


def _groups(values: Tags) -> list[tuple[int, NDArray[np.int64]]]:
    """Each value, rising, with the indices that have it."""
    present, counts = np.unique(values, return_counts=True)
    members = np.split(np.argsort(values, kind="stable"), np.cumsum(counts)[:-1])
    return list(zip(present.tolist(), members, strict=False))  # of no values, split makes one empty part
