"""Adds the file's name to errors about arrays that were read from a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from static_graph.errors import FileError, GraphError


@contextmanager
def error_context(path: str) -> Iterator[None]:
    """Attributes errors about arrays to the file that they were read from.

    Raises:
        FileError: instead of GraphError.
    """
    try:
        yield
    except GraphError as error:
        raise FileError(str(error), path) from error
