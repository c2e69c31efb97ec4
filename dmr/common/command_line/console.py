"""Output of a command line: data to stdout, messages to stderr.

File names and contents may hold control characters, which a terminal would interpret. Therefore every line is escaped
(`printable`) before it is styled.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Collection, Sequence
from typing import Any, TextIO, TypeVar

from dmr.common.command_line.streams import open_closed_streams, silence, write_line
from dmr.common.errors import printable

# Control characters that JSON does not escape.
_C1_CONTROLS = re.compile("[\x7f-\x9f]")

_Console = TypeVar("_Console", bound="Console")


class Console:
    """stdout and stderr of one command. A closed pipe is not an error."""

    def __init__(self, name: str, logs: Sequence[str], remarks: str = "") -> None:
        """Args:
        name: the program's name, which begins each message.
        logs: the loggers whose records are shown: warnings always, others with -v.
        remarks: the logger among their descendants whose other records are shown always, too.
        """
        open_closed_streams()
        self.quiet = False
        self.verbose = False
        self._name = name
        self._logs = [logging.getLogger(each) for each in logs]
        self._said: set[str] = set()
        self._handler = _LogHandler(self, remarks)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file name may hold characters outside the encoding
                stream.reconfigure(errors="backslashreplace")

    def __enter__(self: _Console) -> _Console:
        return self

    def __exit__(self, *_: object) -> None:
        """Flushes the streams and releases the libraries' logs."""
        for log in self._logs:
            log.removeHandler(self._handler)
            log.propagate = True
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                silence(stream)

    def configure(self, *, quiet: bool, verbose: bool) -> None:
        """Sets the verbosity and takes over the libraries' logs."""
        self.quiet, self.verbose = quiet, verbose
        for log in self._logs:
            log.addHandler(self._handler)
            log.propagate = False
            log.setLevel(logging.INFO)

    def emit(self, text: str = "", style: str = "") -> None:
        """Prints a line of data, in an ANSI style on a terminal."""
        write_line(sys.stdout, styled(printable(text), style, sys.stdout))

    def emit_rows(self, head: str, rows: Sequence[Sequence[str]]) -> None:
        """Prints rows of names and values below a heading."""
        self.emit(head, "1")
        for line in aligned(rows):
            self.emit(line)

    def emit_json(self, value: dict[str, Any]) -> None:
        """Prints one JSON object on one line; numbers that are not finite become null."""
        text = json.dumps(_plain(value), ensure_ascii=not writes_unicode(sys.stdout), allow_nan=False)
        write_line(sys.stdout, _C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    def error(self, text: str) -> None:
        """Prints the one-line error of a failed command; further lines (a compiler's log) only with -v."""
        first, _, rest = text.strip().partition("\n")
        more = " (-v shows the rest)" if rest and not self.verbose else ""
        self._message("error: ", first + more, "1;31")
        if rest and self.verbose:
            self.lines(rest)

    def lines(self, text: str) -> None:
        """Prints a text of several lines, such as a compiler's log or a traceback."""
        for line in text.splitlines():
            self._write_message(printable(line.expandtabs()))

    def ended(self, how: str) -> None:
        """Prints how the command ended: by Ctrl-C ("interrupted") or SIGTERM ("terminated")."""
        self._message("", how, "")

    def warn(self, text: str) -> None:
        """Prints a warning, each text only once."""
        if not self.quiet and text not in self._said:
            self._said.add(text)
            self._message("warning: ", text, "1;33")

    def note(self, text: str) -> None:
        """Prints a message."""
        if not self.quiet:
            self._message("", text, "")

    def detail(self, text: str) -> None:
        """Prints a message that only -v shows."""
        if self.verbose and not self.quiet:
            self._message("", text, "2")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Prints a small table on stderr; the first row is its header, the first column holds the names."""
        if self.quiet:
            return
        for number, line in enumerate(aligned(rows)):
            self._write_message(styled(printable(line), "1" if number == 0 else "", sys.stderr))

    def _message(self, label: str, text: str, style: str) -> None:
        line = printable(" ".join(text.splitlines()).strip())
        self._write_message(f"{self._name}: {styled(label, style, sys.stderr)}{line}")

    def _write_message(self, line: str) -> None:
        write_line(sys.stderr, line)


class _LogHandler(logging.Handler):
    """Handler of the libraries' logs.

    Each line is printed once, although a file may be read again to locate an error, or a device opened again.
    """

    def __init__(self, console: Console, remarks: str) -> None:
        super().__init__(logging.INFO)
        self._console = console
        self._remarks = remarks
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text in self._said:
            return
        self._said.add(text)
        if record.levelno >= logging.WARNING:
            self._console.warn(text)
        elif self._remarks and record.name.startswith(self._remarks):
            self._console.note(text)
        else:
            self._console.detail(text)


def styled(text: str, code: str, stream: TextIO) -> str:
    """`text` in an ANSI style if the stream is a terminal and NO_COLOR is unset."""
    dumb = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    plain = not (text and code) or dumb or not stream.isatty()
    return text if plain else f"\033[{code}m{text}\033[0m"


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), indent: str = "  ") -> list[str]:
    """Formats the lines of a table: columns in `left` left-aligned, the others right-aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]

    def cell(text: str, column: int) -> str:
        return text.ljust(widths[column]) if column in left else text.rjust(widths[column])

    return [(indent + "  ".join(cell(text, k) for k, text in enumerate(row))).rstrip() for row in rows]


def writes_unicode(stream: TextIO) -> bool:
    """Whether a stream can show block characters."""
    return (stream.encoding or "ascii").lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf8sig")


def _plain(value: Any) -> Any:
    """Converts a value to types of JSON: no numpy types, and null for numbers that are not finite."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
