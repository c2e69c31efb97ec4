"""Labels of regions and boundaries in the files of other programs.

A label is the name of a region or marker; without a name, it is one of

    region_3      the triangles whose attribute 0 is 3        (dimension 2)
    boundary_3    the lines with marker 3                     (dimension 1)

No label occurs twice in a file, because programs look for regions and boundaries by label alone: the boundary that has
the name of a region, or a name that looks like those above, has the label boundary_<name>. A comment of the file holds
the names and their numbers, which labels, and tags that were changed, do not tell.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass

from dmr.errors import InvalidMeshError
from dmr.mesh.names import MARKERS, REGIONS, Names, checked_names, free_number, is_name, no_names

log = logging.getLogger("dmr.io")

REGION, BOUNDARY = "region", "boundary"
DIMENSIONS = {REGION: 2, BOUNDARY: 1}
KEYS = {REGION: REGIONS, BOUNDARY: MARKERS}  # of `Names`

_COMMENT = re.compile(rb"dmr names (\{.*\})")
_LONGEST_PLAIN = 60  # Abaqus allows 80 characters, with the prefix

Labels = dict[str, dict[int, str]]


@dataclass(frozen=True)
class Group:
    """A region or boundary of a file.

    Attributes:
        kind: `REGION` or `BOUNDARY`.
        label: its label in the file.
        number: the region attribute or marker that it stands for.
        tag: its number in the file, or None if the file has only labels.
        name: its name, or None.
    """

    kind: str
    label: str
    number: int
    tag: int | None
    name: str | None


def labels_of(names: Names, *, plain: bool = False) -> Labels:
    """The labels of all numbers that have a name.

    Args:
        names: those of a mesh.
        plain: whether labels have only ASCII letters, digits, _ and -, begin with a letter, and differ by more than
            the case of letters, as Abaqus requires.
    """
    labels: Labels = {REGION: {}, BOUNDARY: {}}
    taken: set[str] = set()
    for kind, numbered in labels.items():
        for number, name in names[KEYS[kind]].items():
            label = _plain(name) if plain else name
            while (key := label.lower() if plain else label) in taken or _standard_number(label) is not None:
                label = f"{kind}_{label}"
            taken.add(key)
            numbered[number] = label
    return labels


def label_of(labels: Labels, kind: str, number: int) -> str:
    """The label of a region or boundary, with or without a name."""
    return labels[kind].get(number, f"{kind}_{number}")


def number_of(label: str, kind: str) -> int | None:
    """The number in a label such as `region_3`; None for other labels."""
    standard = _standard_number(label)
    return standard[1] if standard is not None and standard[0] == kind else None


def groups_of(physical: Iterable[tuple[str, int, int]], table: Names | None, *, plain: bool = False) -> list[Group]:
    """The regions and boundaries of a file.

    Args:
        physical: label, tag and dimension of each group that the file lists; other dimensions than 1 and 2 are ignored.
        table: the names in a comment of the file, or None.
        plain: as for `labels_of`, for labels made of the table.

    Returns:
        The listed groups and then those of the table. No two groups of a kind have the same number or name.
    """
    names = no_names() if table is None else table
    labels = labels_of(names, plain=plain)
    known = {(kind, label): number for kind, numbered in labels.items() for number, label in numbered.items()}
    kinds = {dimension: kind for kind, dimension in DIMENSIONS.items()}
    listed = [(kinds[dimension], label, tag) for label, tag, dimension in physical if dimension in kinds]
    regions = {label for kind, label, _ in listed if kind == REGION}
    groups: list[Group] = []
    numbers: dict[str, set[int]] = {REGION: set(), BOUNDARY: set()}
    used: dict[str, set[str]] = {REGION: set(), BOUNDARY: set()}
    for kind, label, tag in listed:
        number = known.pop((kind, label), None)
        if number is not None:
            name: str | None = names[KEYS[kind]][number]
        else:
            number = number_of(label, kind)
            name = _name(label, kind, tag, regions, used[kind]) if number is None else None
        if number is None or number in numbers[kind]:
            number = tag if tag not in numbers[kind] else free_number(numbers[kind])
        groups.append(Group(kind, label, number, tag, name))
        numbers[kind].add(number)
        if name is not None:
            used[kind].add(name)
    rest = [(kind, label, number) for (kind, label), number in known.items() if number not in numbers[kind]]
    return groups + [Group(kind, label, number, None, names[KEYS[kind]][number]) for kind, label, number in rest]


def names_of(groups: Iterable[Group]) -> Names:
    """The names of groups."""
    names = no_names()
    for group in groups:
        if group.name is not None and not (group.kind == BOUNDARY and group.number == 0):
            names[KEYS[group.kind]][group.number] = group.name
    return names


def comment_of(names: Names) -> str:
    """The text of a comment with all names; it contains no two hyphens in a row, which XML forbids in comments."""
    return f"dmr names {json.dumps(names, ensure_ascii=True)}".replace("--", "-\\u002d")


def table_in(head: bytes) -> Names | None:
    """The names in a comment at the head of a file; None if there is none."""
    found = _COMMENT.search(head)
    if found is None:
        return None
    try:
        table = json.loads(found[1])
        return checked_names({kind: {int(key): name for key, name in named.items()} for kind, named in table.items()})
    except (ValueError, AttributeError, InvalidMeshError):
        return None


def _name(label: str, kind: str, tag: int, regions: set[str], used: set[str]) -> str | None:
    """The name that a label of another program's file gives to its group."""
    bare = label.removeprefix(f"{BOUNDARY}_")
    name = bare if kind == BOUNDARY and bare in regions else label
    if not is_name(name):
        log.warning("the %s %d has a label that is not a valid name, %r; it is left out", kind, tag, label)
        return None
    if name in used:
        log.warning("several %s groups have the name %r; it becomes %r for tag %d", kind, name, f"{name}_{tag}", tag)
        name = f"{name}_{tag}"
    return None if name in used else name


def _standard_number(label: str) -> tuple[str, int] | None:
    match = re.fullmatch(rf"({REGION}|{BOUNDARY})_(-?\d{{1,10}})", label)
    return (match[1], int(match[2])) if match and -(2**31) <= int(match[2]) < 2**31 else None


def _plain(name: str) -> str:
    label = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_PLAIN]
    return label if label[0].isalpha() else f"name_{label}"
