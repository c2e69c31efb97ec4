"""The progress bar of a refinement, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console as RichConsole
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

from dmr.refinement.options import Progress


@contextmanager
def bar(title: str) -> Iterator[tuple[Progress, RichConsole]]:
    """Shows a bar on stderr until the work is done; gives the callback for each round and rich's console."""
    live = RichConsole(stderr=True)
    columns = (
        TextColumn("dmr: {task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    with RichProgress(*columns, console=live, transient=True) as progress:
        task = progress.add_task(title, total=1.0, state="")
        done, most = 0.0, 1

        def report(round: int, bad: int, triangles: int) -> bool:
            # Time grows with the number of bad triangles removed; the many last rounds are short.
            nonlocal done, most
            most = max(most, bad)
            done = max(done, 1 - bad / most)
            state = f"round {round}: {bad:,} bad of {triangles:,}"
            progress.update(task, completed=done, state=state)
            return True

        yield report, live
