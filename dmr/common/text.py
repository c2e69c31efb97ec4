"""Formatting of counts in messages."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Formats a count: "1 triangle", "2,000 triangles", "3 entries"; `many` is a plural that is not regular."""
    regular = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,} {one if count == 1 else many or regular}"


def numbered(number: int, noun: str) -> str:
    """Describes a range of indices: "there are no nodes", "the only node is 0", "the 3 nodes are 0 to 2"."""
    if number == 0:
        return f"there are no {noun}s"
    return f"the only {noun} is 0" if number == 1 else f"the {number} {noun}s are 0 to {number - 1}"
