"""Errors of arrays, told of the files that they were read from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from static_graph.errors import FileError, GraphError


@contextmanager
def blaming(path: str) -> Iterator[None]:
    """Says of what is wrong with arrays that it is in a file.

    Raises:
        FileError: in the place of GraphError.
    """
    try:
        yield
    except GraphError as error:
        raise FileError(str(error), path) from error
