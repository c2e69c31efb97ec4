"""Names of regions and markers: `{"regions": {1: "steel"}, "markers": {10: "inlet"}}`.

A region is a value of triangle attribute 0; a marker is one of segments and vertices.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened
from dmr.errors import InvalidMeshError

Names = dict[str, dict[int, str]]

REGIONS, MARKERS = "regions", "markers"
_FORBIDDEN = '"\\'  # the ends of names in Gmsh's files
# Names in files of regions and markers without a name.
_STANDARD = re.compile("(region|boundary)_-?[0-9]+")


def no_names() -> Names:
    """Names of nothing."""
    return {REGIONS: {}, MARKERS: {}}


def checked_names(names: Any) -> Names:
    """Copies names into a dictionary that has both kinds, with the numbers in ascending order.

    Raises:
        InvalidMeshError: a kind is unknown, a number is not a whole number of 32 bits, a marker is 0, a name is not
            printable text, contains a quotation mark or a backslash, or belongs to two numbers of a kind.
    """
    if not isinstance(names, Mapping) or not set(names) <= {REGIONS, MARKERS}:
        raise InvalidMeshError(
            f'names must be a dictionary such as {{"{REGIONS}": {{1: "steel"}}, "{MARKERS}": {{10: "inlet"}}}}, '
            f"not {shortened(names)}"
        )
    return {kind: _checked_kind(kind, names.get(kind, {})) for kind in (REGIONS, MARKERS)}


def names_of_texts(names: Mapping[str, Mapping[Any, str]]) -> Names:
    """Checks names whose numbers may be texts, as in JSON."""
    return checked_names({kind: {int(number): name for number, name in each.items()} for kind, each in names.items()})


def merged_names(parts: Iterable[Names]) -> Names:
    """Unites the names of several graphs.

    Raises:
        InvalidMeshError: two of them give one number different names, or one name to different numbers.
    """
    merged = no_names()
    for part in parts:
        for kind, names in part.items():
            for number, name in names.items():
                if merged[kind].setdefault(number, name) != name:
                    raise InvalidMeshError(
                        f"the parts give {kind[:-1]} {number} two names: {merged[kind][number]!r} and {name!r}"
                    )
    return checked_names(merged)


def is_name(text: Any) -> bool:
    """Whether a text can be a name: printable, not blank, without quotation marks and backslashes."""
    return (
        isinstance(text, str)
        and text.isprintable()
        and bool(text.strip())
        and not set(_FORBIDDEN) & set(text)
        and not _STANDARD.fullmatch(text)
    )


def free_number(taken: Iterable[int], first: int = 1) -> int:
    """The smallest number from `first` on that is not taken."""
    found, number = set(taken), first
    while number in found:
        number += 1
    return number


def default_marker(names: Names, *used: NDArray[np.int32] | None) -> int:
    """The marker of boundary segments and vertices that have none: 1, or if 1 has a name, the first unused number.

    Args:
        names: of a graph or mesh.
        used: its markers.
    """
    return free_number(known_markers(names, *used)) if 1 in names[MARKERS] else 1


def known_markers(names: Names, *used: NDArray[np.int32] | None) -> set[int]:
    """The markers that have a name or occur in one of the arrays."""
    return {*names[MARKERS], *(int(marker) for some in used if some is not None for marker in np.unique(some))}


def _checked_kind(kind: str, names: Any) -> dict[int, str]:
    if not isinstance(names, Mapping):
        raise InvalidMeshError(
            f"the names of {kind} must be a dictionary from numbers to names, not {shortened(names)}"
        )
    checked: dict[int, str] = {}
    numbers: dict[str, int] = {}
    for key, name in names.items():
        number = _number(kind, key)
        if not is_name(name):
            raise InvalidMeshError(
                f"the name of {kind[:-1]} {number} must be printable text without quotation marks and backslashes, "
                f"other than region_<n> and boundary_<n>, not {shortened(name)}"
            )
        if numbers.setdefault(name, number) != number:
            raise InvalidMeshError(f"{kind} {numbers[name]} and {number} have the same name, {name!r}: use one number")
        checked[number] = str(name)
    return dict(sorted(checked.items()))


def _number(kind: str, key: Any) -> int:
    try:
        number = operator.index(key)
    except TypeError:
        number = 2**31
    if isinstance(key, bool) or not -(2**31) <= number < 2**31:
        raise InvalidMeshError(f"the names of {kind} have 32-bit whole numbers as keys, not {shortened(key)}")
    if number == 0 and kind == MARKERS:
        raise InvalidMeshError("marker 0 means no marker, and cannot have a name")
    return number
