"""Numbers of things, and values, in sentences."""

from __future__ import annotations

from typing import Any

LONGEST = 60  # characters of a value in a sentence
LARGEST = 10**40  # whole numbers of more digits are described


def counted(number: int, noun: str, form: str = "") -> str:
    """How many there are: "1 node", "3 nodes", "2 entries"; `form` is how the number is written."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:{form}} {noun[:-1]}ies" if noun.endswith("y") else f"{number:{form}} {noun}s"


def numbered(number: int, noun: str) -> str:
    """Which ones there are: "there are no nodes", "the only node is 0", "the 3 nodes are 0 to 2"."""
    if number == 0:
        return f"there are no {noun}s"
    return f"the only {noun} is 0" if number == 1 else f"the {number} {noun}s are 0 to {number - 1}"


def shown(value: Any) -> str:
    """The representation of any value on one line, cut where it is long. Strings have quotes and no raw control codes.

    Python refuses to write out whole numbers of thousands of digits, and a foreign object's `repr` may fail: then the
    value is described.
    """
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return f"a whole number of about {int(value.bit_length() * 0.30103) + 1} digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return article(type(value).__name__)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def article(noun: str) -> str:
    """A noun with "a" or "an" before it."""
    return f"{'an' if noun[:1] in tuple('aeiouAEIOU') else 'a'} {noun}"
