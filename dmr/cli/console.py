"""Output of the command line: data to stdout, messages to stderr.

File names and contents may hold control characters, which a terminal would interpret. Therefore every line is escaped
(`printable`) before it is styled.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from dmr.errors import printable
from dmr.refinement.options import Progress

# Control characters that JSON does not escape.
_C1_CONTROLS = re.compile("[\x7f-\x9f]")


class Console:
    """stdout and stderr of one command. A closed pipe is not an error."""

    def __init__(self) -> None:
        _open_closed_streams()
        self.quiet = False
        self.verbose = False
        self._live: Any = None  # rich's console while a progress bar is drawn
        self._said: set[str] = set()
        self._handler = _LogHandler(self)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file name may hold characters outside the encoding
                stream.reconfigure(errors="backslashreplace")

    def configure(self, *, quiet: bool, verbose: bool) -> None:
        """Sets the verbosity and takes over the library's log."""
        self.quiet, self.verbose = quiet, verbose
        log = logging.getLogger("dmr")
        log.addHandler(self._handler)
        log.propagate = False
        log.setLevel(logging.INFO)

    def close(self) -> None:
        """Flushes the streams and releases the library's log."""
        log = logging.getLogger("dmr")
        log.removeHandler(self._handler)
        log.propagate = True
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                _silence(stream)

    def emit(self, text: str = "", style: str = "") -> None:
        """Prints a line of data, in an ANSI style on a terminal."""
        _write(sys.stdout, styled(printable(text), style, sys.stdout))

    def emit_json(self, value: dict[str, Any]) -> None:
        """Prints one JSON object on one line; numbers that are not finite become null."""
        text = json.dumps(_finite(value), ensure_ascii=not writes_unicode(sys.stdout), allow_nan=False)
        _write(sys.stdout, _C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    def error(self, text: str) -> None:
        """Prints the one-line error of a failed command; further lines (a compiler's log) only with -v."""
        first, _, rest = text.strip().partition("\n")
        more = " (-v shows the rest)" if rest and not self.verbose else ""
        self._message("error: ", first + more, "1;31")
        if rest and self.verbose:
            self.lines(rest)

    def lines(self, text: str) -> None:
        """Prints a text of several lines unchanged, such as a compiler's log or a traceback."""
        for line in text.splitlines():
            self._write_message(printable(line))

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

    @contextmanager
    def progress(self, title: str) -> Iterator[Progress | None]:
        """Shows a progress bar for a refinement; gives None if stderr is not a terminal or with --quiet."""
        if self.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield None
            return
        from dmr.cli.progress import bar

        with bar(printable(title)) as (report, live):
            self._live = live
            try:
                yield report
            finally:
                self._live = None

    def _message(self, label: str, text: str, style: str) -> None:
        line = printable(" ".join(text.splitlines()).strip())
        self._write_message(f"dmr: {styled(label, style, sys.stderr)}{line}" if label else f"dmr: {line}")

    def _write_message(self, line: str) -> None:
        if self._live is not None:
            self._live.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            _write(sys.stderr, line)


class _LogHandler(logging.Handler):
    """Handler of the library's log: prints warnings and the readers' remarks always, all other records with -v.

    Each line is printed once, although a file may be read again to locate an error, or a device opened again.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console = console
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text in self._said:
            return
        self._said.add(text)
        if record.levelno >= logging.WARNING:
            self._console.warn(text)
        elif record.name.startswith("dmr.io"):
            self._console.note(text)
        else:
            self._console.detail(text)


def styled(text: str, code: str, stream: TextIO) -> str:
    """`text` in an ANSI style if the stream is a terminal and NO_COLOR is unset."""
    plain = not code or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
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


def _open_closed_streams() -> None:
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


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line, file=stream)
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Redirects a stream to the null device, so that Python's flush at exit finds no closed pipe."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if hasattr(value, "item"):  # a numpy scalar
        return _finite(value.item())
    return value
