"""Regions and boundary markers in the form other programs use: positive tags and sets of elements, with labels."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.io.meshio_files.names import BOUNDARY, DIMENSIONS, REGION, Group, Labels, label_of, number_of

log = logging.getLogger("dmr.io")

Tags = NDArray[np.int32]
Physical = dict[str, NDArray[np.int64]]  # label to (tag, dimension), in meshio's form


def as_whole(values: NDArray[Any]) -> Tags | None:
    """The values as 32-bit integers; None if any value is not one."""
    limit = 2**31 - 1
    if not (np.isfinite(values).all() and (np.abs(values) <= limit).all() and (values == np.rint(values)).all()):
        return None
    return values.astype(np.int32)


def physical_tags(regions: Tags, markers: Tags, labels: Labels) -> tuple[Tags, Tags, Physical]:
    """Gmsh's physical tags of triangles and lines, and the groups that they form.

    Gmsh supports only positive tags: tag 0 means that an element belongs to no group, and many readers skip it.
    scikit-fem finds the label of a tag without regard to the dimension. Therefore numbers that are not positive, and
    markers that are also regions, get the smallest free tags. Lines without a marker keep tag 0.
    """
    taken = set(regions[regions > 0].tolist())
    used = taken | set(markers.tolist())
    free = (number for number in itertools.count(1) if number not in used)
    groups: Physical = {}
    results = []
    for kind, values in ((REGION, regions), (BOUNDARY, markers)):
        present, place = _distinct(values)
        tags = present.copy()
        for k, value in enumerate(present.tolist()):
            if value == 0 and kind == BOUNDARY:
                continue
            if value <= 0 or (kind == BOUNDARY and value in taken):
                tags[k] = next(free)
            groups[label_of(labels, kind, value)] = np.array([tags[k], DIMENSIONS[kind]])
        results.append(tags[place])
    return results[0], results[1], groups


def from_physical_tags(tags: Tags, groups: Iterable[Group], kind: str) -> Tags:
    """Recovers the values from the tags; the inverse of `physical_tags`."""
    numbers = {group.tag: group.number for group in groups if group.kind == kind}
    present, place = _distinct(tags)
    values = [numbers.get(tag, tag) if tag else 0 for tag in present.tolist()]
    return np.array(values, np.int32)[place]


def entities(tags: Tags) -> Tags:
    """Gmsh's geometrical tags: one per physical tag, because a physical group in Gmsh consists of whole entities."""
    return (_distinct(tags)[1] + 1).astype(np.int32)


def to_sets(regions: Tags | None, markers: Tags, labels: Labels) -> dict[str, list[NDArray[np.int64]]]:
    """Element sets in meshio's form: for each label, indices into the triangle block and into the line block.

    Args:
        regions: of the triangles, or None.
        markers: of the lines; lines with marker 0 are in no set. Without lines there is only one block.
        labels: those of the regions and markers that have a name.
    """
    none = np.empty(0, np.int64)
    sets: dict[str, list[NDArray[np.int64]]] = {}
    for value, members in [] if regions is None else groups_by_value(regions):
        sets[label_of(labels, REGION, value)] = [members, none] if len(markers) else [members]
    for value, members in groups_by_value(markers):
        if value != 0:
            sets[label_of(labels, BOUNDARY, value)] = [none, members]
    return sets


def from_sets(
    sets: Mapping[str, Any], groups: Iterable[Group], kind: str, blocks: Iterable[tuple[int, int]], where: object
) -> Tags | None:
    """The values of the elements in sets labelled as by `to_sets`; 0 for others, None if there are no such sets.

    Args:
        sets: in meshio's form; sets with unknown labels are ignored.
        groups: those whose labels are known.
        kind: of the elements.
        blocks: the index and the length of each block that contains elements of this kind.
        where: the prefix of the warning about elements in two sets.
    """
    known = {group.label: group.number for group in groups if group.kind == kind}
    numbers = {label: known.get(label, number_of(label, kind)) for label in sets}
    found = {label: number for label, number in numbers.items() if number is not None}
    parts = []
    for block, length in blocks:
        values, said = np.zeros(length, np.int32), np.zeros(length, bool)
        for label, value in found.items():
            if block >= len(sets[label]) or sets[label][block] is None:
                continue
            members = np.asarray(sets[label][block], np.int64)
            if said[members].any():
                log.warning("%s: set %s shares elements with another one of its kind, and overrides it", where, label)
            values[members], said[members] = value, True
        parts.append(values)
    return np.concatenate(parts) if parts and found else None


def groups_by_value(values: Tags) -> list[tuple[int, NDArray[np.int64]]]:
    """The distinct values in ascending order, each with the indices of the elements that have it."""
    present, counts = np.unique(values, return_counts=True)
    members = np.split(np.argsort(values, kind="stable"), np.cumsum(counts)[:-1])
    return list(zip(present.tolist(), members, strict=False))  # split returns one empty part for an empty array


def _distinct(values: Tags) -> tuple[Tags, NDArray[np.int64]]:
    """The distinct values in ascending order, and the index of each array element among them."""
    present, place = np.unique(values, return_inverse=True)
    return present, place.reshape(-1)
