"""The console of `dmr`, which also draws a progress bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dmr.common.command_line import console
from dmr.common.errors import printable

if TYPE_CHECKING:
    from dmr.cli.shared.progress import Report


class Console(console.Console):
    """stdout and stderr of one command; the readers' remarks are shown always."""

    def __init__(self) -> None:
        super().__init__("dmr", logs=("dmr",), remarks="dmr.io")
        self._live: Any = None  # rich's console while a progress bar is drawn

    @contextmanager
    def progress(self, title: str, *, optimizes: bool = False) -> Iterator[Report | None]:
        """Shows a progress bar for a refinement; gives None if stderr is not a terminal or with --quiet.

        Args:
            title: what is done.
            optimizes: whether an optimisation follows the refinement.
        """
        if self.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield None
            return
        from dmr.cli.shared.progress import bar

        with bar(printable(title), optimizes=optimizes) as (report, live):
            self._live = live
            try:
                yield report
            finally:
                self._live = None

    def _write_message(self, line: str) -> None:
        if self._live is not None:
            self._live.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            super()._write_message(line)
