"""Numbers of things in sentences."""

from __future__ import annotations


def counted(number: int, noun: str, form: str = "") -> str:
    """How many there are: "1 node", "3 nodes"; `form` is how the number is written."""
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def numbered(number: int, noun: str) -> str:
    """Which ones there are: "there are no nodes", "the only node is 0", "the 3 nodes are 0 to 2"."""
    if number == 0:
        return f"there are no {noun}s"
    return f"the only {noun} is 0" if number == 1 else f"the {number} {noun}s are 0 to {number - 1}"
