"""Formatting of counts in messages."""

from __future__ import annotations


def counted(number: int, noun: str, form: str = "") -> str:
    """Formats a count with its noun: "1 node", "3 nodes", "2 entries"; `form` is the format of the number."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:{form}} {noun[:-1]}ies" if noun.endswith("y") else f"{number:{form}} {noun}s"


def numbered(number: int, noun: str) -> str:
    """Describes a range of indices: "there are no nodes", "the only node is 0", "the 3 nodes are 0 to 2"."""
    if number == 0:
        return f"there are no {noun}s"
    return f"the only {noun} is 0" if number == 1 else f"the {number} {noun}s are 0 to {number - 1}"
