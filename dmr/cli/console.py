"""Output of the command line: data to stdout, messages to stderr.

Names and contents of files may hold control characters, which a terminal would obey: every line is escaped
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
from dmr.options import Progress

# Control characters that JSON does not escape.
_C1_CONTROLS = re.compile("[\x7f-\x9f]")


class Console:
    """stdout and stderr of one command. A reader that goes away (a closed pipe) is no error."""

    def __init__(self) -> None:
        _open_closed_streams()
        self.quiet = False
        self.verbose = False
        self._live: Any = None  # rich's console while a progress bar is drawn
        self._said: set[str] = set()
        self._handler = _LogHandler(self)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file name may hold what the encoding lacks
                stream.reconfigure(errors="backslashreplace")

    def configure(self, *, quiet: bool, verbose: bool) -> None:
        """Sets how much is said, and takes over the library's log."""
        self.quiet, self.verbose = quiet, verbose
        log = logging.getLogger("dmr")
        log.addHandler(self._handler)
        log.propagate = False
        log.setLevel(logging.INFO)

    def close(self) -> None:
        """Writes out what is left, and gives the log back."""
        log = logging.getLogger("dmr")
        log.removeHandler(self._handler)
        log.propagate = True
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                _silence(stream)

    def emit(self, text: str = "", style: str = "") -> None:
        """A line of data, in an ANSI style on a terminal."""
        _write(sys.stdout, styled(printable(text), style, sys.stdout))

    def emit_json(self, value: dict[str, Any]) -> None:
        """One JSON object on a line; numbers that are not finite become null."""
        text = json.dumps(_finite(value), ensure_ascii=not writes_unicode(sys.stdout), allow_nan=False)
        _write(sys.stdout, _C1_CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    def error(self, text: str) -> None:
        """The one sentence that a failed command leaves; what follows it (a compiler's log) is for -v."""
        first, _, rest = text.strip().partition("\n")
        more = " (-v shows the rest)" if rest and not self.verbose else ""
        self._message("error: ", first + more, "1;31")
        if rest and self.verbose:
            self.lines(rest)

    def lines(self, text: str) -> None:
        """A text of several lines, as it is: a compiler's log, a traceback."""
        for line in text.splitlines():
            self._write_message(printable(line))

    def ended(self, how: str) -> None:
        """What is said after Ctrl-C ("interrupted") or SIGTERM ("terminated")."""
        self._message("", how, "")

    def warn(self, text: str) -> None:
        """What a user should know; each warning is said once."""
        if not self.quiet and text not in self._said:
            self._said.add(text)
            self._message("warning: ", text, "1;33")

    def note(self, text: str) -> None:
        """What went on."""
        if not self.quiet:
            self._message("", text, "")

    def detail(self, text: str) -> None:
        """What only -v shows."""
        if self.verbose and not self.quiet:
            self._message("", text, "2")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A small table on stderr; the first row is its head, the first column its names."""
        if self.quiet:
            return
        for number, line in enumerate(aligned(rows)):
            self._write_message(styled(printable(line), "1" if number == 0 else "", sys.stderr))

    @contextmanager
    def progress(self, title: str) -> Iterator[Progress | None]:
        """A progress bar for a refinement; None where stderr is no terminal, or nothing is to be said."""
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
    """The library's log: warnings, and what the readers add to a file's content, always; the rest with -v.

    Each line is said once: a file may be read again to find what an error is about, a device be opened again.
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
    """`text` in an ANSI style, on a terminal that wants it (NO_COLOR: none does)."""
    plain = not code or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty()
    return text if plain else f"\033[{code}m{text}\033[0m"


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), indent: str = "  ") -> list[str]:
    """Lines of a table: the columns in `left` to the left, the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]

    def cell(text: str, column: int) -> str:
        return text.ljust(widths[column]) if column in left else text.rjust(widths[column])

    return [(indent + "  ".join(cell(text, k) for k, text in enumerate(row))).rstrip() for row in rows]


def writes_unicode(stream: TextIO) -> bool:
    """Whether a stream can show block characters."""
    return (stream.encoding or "ascii").lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf8sig")


def _open_closed_streams() -> None:
    """Gives a process that was started without stdin, stdout or stderr (>&-, a daemon) ones that go nowhere.

    Their numbers are taken, too: a file that is opened to be written must not get them, and what others print there.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # it gets the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _write(stream: TextIO, line: str) -> None:
    try:
        print(line, file=stream)
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Sends the rest of a stream nowhere, so that Python's own flush at exit finds no closed pipe."""
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
