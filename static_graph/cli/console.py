"""Output of the command line: data to stdout, messages to stderr."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TextIO

from dmr.memory import printable

NAME = "static_graph"
LOGS = (NAME, "dmr")  # including messages of the memory layer


class Console:
    """stdout and stderr of one command. A closed pipe is not an error."""

    def __init__(self) -> None:
        self.quiet = False
        self.verbose = False
        self._handler = _LogHandler(self)
        _open_missing()
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file name may hold characters that the encoding lacks
                stream.reconfigure(errors="backslashreplace")

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        for name in LOGS:
            log = logging.getLogger(name)
            log.removeHandler(self._handler)
            log.propagate = True
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                _silence(stream)

    def configure(self, *, quiet: bool, verbose: bool) -> None:
        """Sets the verbosity, and takes over the libraries' logs."""
        self.quiet, self.verbose = quiet, verbose
        for name in LOGS:
            log = logging.getLogger(name)
            log.addHandler(self._handler)
            log.propagate = False
            log.setLevel(logging.INFO)

    def emit(self, text: str = "") -> None:
        """Writes a line of data; control characters, which names may hold, are escaped."""
        _write(sys.stdout, printable(text))

    def emit_head(self, text: str) -> None:
        """Writes a heading to the data, in bold on a terminal."""
        _write(sys.stdout, _styled(printable(text), "1", sys.stdout))

    def emit_rows(self, head: str, rows: Sequence[Sequence[str]]) -> None:
        """Writes rows of names and values below a heading."""
        self.emit_head(head)
        for line in aligned(rows):
            self.emit(line)

    def emit_json(self, value: dict[str, Any]) -> None:
        """Writes one JSON object on a line; numbers that are not finite become null."""
        self.emit(json.dumps(_plain(value), allow_nan=False))

    def error(self, text: str) -> None:
        """Reports the error of a failed command in one sentence; -v shows further lines, such as a compiler's log."""
        first, _, rest = text.strip().partition("\n")
        self._message("error: ", first + (" (-v shows the rest)" if rest and not self.verbose else ""), "1;31")
        if rest and self.verbose:
            for line in rest.splitlines():
                _write(sys.stderr, printable(line.expandtabs()))

    def ended(self, how: str) -> None:
        """Reports that a signal ended the command."""
        self._message("", how, "")

    def warn(self, text: str) -> None:
        """Writes a warning, unless quiet."""
        if not self.quiet:
            self._message("warning: ", text, "1;33")

    def note(self, text: str) -> None:
        """Writes a progress message, unless quiet."""
        if not self.quiet:
            self._message("", text, "")

    def detail(self, text: str) -> None:
        """Writes a message that only -v shows."""
        if self.verbose and not self.quiet:
            self._message("", text, "2")

    def _message(self, label: str, text: str, style: str) -> None:
        _write(sys.stderr, f"{NAME}: {_styled(label, style, sys.stderr)}{printable(' '.join(text.split()))}")


class _LogHandler(logging.Handler):
    """The libraries' logs: warnings always, the rest with -v."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        say = self._console.warn if record.levelno >= logging.WARNING else self._console.detail
        say(record.getMessage())


def place(told: Mapping[str, Any]) -> str:
    """Formats the device, and the threads of a CPU, from the dictionary that --json prints."""
    device, threads = told["device"], told["threads"]
    return f"{device}, {threads} thread{'s' if threads != 1 else ''}" if threads else str(device)


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), indent: str = "  ") -> list[str]:
    """Formats a table as lines: columns in `left` are left-aligned, the others right-aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        indent
        + "  ".join(
            cell.ljust(w) if k in left else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _styled(text: str, code: str, stream: TextIO) -> str:
    """Adds an ANSI style to `text` on a terminal, unless NO_COLOR is set."""
    plain = not (text and code) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\033[{code}m{text}\033[0m"


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line.rstrip(), file=stream)
    except BrokenPipeError:
        _silence(stream)


def _open_missing() -> None:
    """Replaces missing standard streams by the null device; a daemon may be started with them closed.

    Their file descriptors are occupied, too: otherwise a file that is opened for writing could get one of them, and
    receive what other code prints there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _silence(stream: TextIO) -> None:
    """Redirects a stream to the null device, so that Python's flush at exit does not meet the closed pipe."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def _plain(value: Any) -> Any:
    """Converts `value` to JSON types: no numpy types, and null for numbers that are not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
