"""The standard streams of a process that may have been started without them, or whose reader has gone."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Opens the null device for a stdin, stdout or stderr that is closed (>&-, a daemon).

    This also reserves their descriptors: a file opened for writing must not get one of them, because the output that
    other code prints there would go into the file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # open() takes the lowest free descriptor
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def write_line(stream: TextIO, line: str) -> None:
    """Writes a line; does nothing if no process reads the stream."""
    try:
        print(line, file=stream)
    except BrokenPipeError:
        silence(stream)


def silence(stream: TextIO) -> None:
    """Redirects a stream to the null device, so that Python's flush at exit finds no closed pipe."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
