"""Input of the commands: files, and stdin for the name "-"."""

from __future__ import annotations

import sys
from typing import Any

from numpy.typing import NDArray

from dmr.common.command_line.parser import Arguments
from static_graph.errors import FileError
from static_graph.graph.csr import CsrGraph
from static_graph.io import read, read_array
from static_graph.io.inputs import Source


def read_graph(arguments: Arguments) -> CsrGraph:
    """Reads the graph of a command; `arguments` has the options of `add_graph`."""
    return read(
        _source(arguments.graph), format=arguments.format, weight=arguments.weight, threads=arguments.threads
    )  # fmt: skip


def read_numbers(name: str, arguments: Arguments) -> NDArray[Any]:
    """Reads an array of a command by the name of its file; `arguments` has the option of `add_format`."""
    return read_array(_source(name), format=arguments.format)


def _source(name: str) -> Source:
    """Returns the file with a name, or stdin.

    Raises:
        FileError: stdin is closed.
    """
    if name != "-":
        return name
    if sys.stdin is None:  # the command was started without one, as by `<&-`
        raise FileError("is closed", "<stdin>")
    return sys.stdin.buffer
