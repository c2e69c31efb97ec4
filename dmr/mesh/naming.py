"""The numbers of vertices, triangles and segments in messages.

Arrays count from 0, and so does the library. A file may count from 1, or in any order: the command line, whose users
see the file and not the arrays, uses the file's numbers while it processes the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

# Maps an element ("vertex", "triangle", "segment", "hole", "region") and its 0-based index to its number.
Numbers = Callable[[str, int], int]


def _from_zero(element: str, index: int) -> int:
    return index


_numbers: ContextVar[Numbers] = ContextVar("numbers", default=_from_zero)


@contextmanager
def counting(numbers: Numbers) -> Iterator[None]:
    """Uses these numbers in the messages that this thread makes inside the block."""
    token = _numbers.set(numbers)
    try:
        yield
    finally:
        _numbers.reset(token)


def counting_from(base: int) -> AbstractContextManager[None]:
    """Uses the numbers of files whose first number is `base`."""
    return counting(lambda element, index: index + base)


def number(element: str, index: int) -> int:
    """Returns the number of an element for a message."""
    return _numbers.get()(element, int(index))


def named(element: str, index: int) -> str:
    """Formats an element: "vertex 4"."""
    return f"{element} {number(element, index)}"
