"""The numbers that sentences give to vertices, triangles and segments.

Arrays count from 0, and so does the library. A file may count from 1, or in any order: the command line, whose users
see the file and not the arrays, has its numbers used while it works on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

# From an element ("vertex", "triangle", "segment", "hole", "region") and its 0-based index to its number.
Numbers = Callable[[str, int], int]


def _from_zero(element: str, index: int) -> int:
    return index


_numbers: ContextVar[Numbers] = ContextVar("numbers", default=_from_zero)


@contextmanager
def counting(numbers: Numbers) -> Iterator[None]:
    """Has the sentences that are made meanwhile, in this thread, use these numbers."""
    token = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(token)


def counting_from(base: int) -> AbstractContextManager[None]:
    """Has them use the numbers of files that are written with this first number."""
    return counting(lambda element, index: index + base)


def number(element: str, index: int) -> int:
    """The number of an element in a sentence."""
    return _numbers.get()(element, int(index))


def counted(count: int, one: str, many: str | None = None) -> str:
    """So many of something in a sentence: "1 triangle", "2,000 triangles"; `many` where an s does not make it so."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def named(element: str, index: int) -> str:
    """An element in a sentence: "vertex 4"."""
    return f"{element} {number(element, index)}"
