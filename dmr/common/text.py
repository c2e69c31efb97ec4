"""Formatting of counts and names of options in messages.

A user of the library reads "min_angle must be ...", one of the command line "--min-angle must be ...".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_flags: ContextVar[Mapping[str, str] | None] = ContextVar("flags", default=None)


@contextmanager
def naming_flags(flags: Mapping[str, str]) -> Iterator[None]:
    """Uses these flags for the arguments that they set, in the messages that this thread makes inside the block."""
    token = _flags.set(flags)
    try:
        yield
    finally:
        _flags.reset(token)


def option(name: str, value: Any = None) -> str:
    """Formats an option for a message.

    Args:
        name: the argument of Python; value: what to give for it, if the message recommends a value.

    Returns:
        `on_conflict`, or with a value `on_conflict='error'`; on the command line `--on-conflict`, or
        `--on-conflict error`. A value True needs no value there. Arguments that the command has no flag for keep their
        name.
    """
    flag = (_flags.get() or {}).get(name)
    if flag is None:
        return name if value is None else f"{name}={value!r}"
    return flag if value is None or value is True else f"{flag} {value}"


def remedy(name: str, value: Any, effect: str) -> str:
    """Formats the advice to give an option: "; on_conflict='error' refuses them".

    Returns:
        The advice, as for `option`; "" on a command line whose command has no flag for the option.
    """
    flags = _flags.get()
    return "" if flags is not None and name not in flags else f"; {option(name, value)}{effect}"


def counted(count: int, one: str, many: str = "") -> str:
    """Formats a count: "1 triangle", "2,000 triangles", "3 entries"; `many` is a plural that is not regular."""
    regular = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count:,} {one if count == 1 else many or regular}"


def nearest(word: str, known: Iterable[object]) -> str:
    """Returns the shortest known word that begins with a word, or else the most similar one, or "" if none is."""
    from difflib import get_close_matches

    words = sorted(map(str, known), key=len)
    longer = [each for each in words if each.startswith(word)]
    return next(iter(longer or get_close_matches(word, words, 1)), "")


def listing(words: Sequence[str]) -> str:
    """Joins words by commas and "and"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def numbered(number: int, noun: str) -> str:
    """Describes a range of indices: "there are no nodes", "the only node is 0", "the 3 nodes are 0 to 2"."""
    if number == 0:
        return f"there are no {noun}s"
    return f"the only {noun} is 0" if number == 1 else f"the {number} {noun}s are 0 to {number - 1}"
