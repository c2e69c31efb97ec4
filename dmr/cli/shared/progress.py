"""The progress bar of a refinement, drawn by rich."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from rich.console import Console as RichConsole
from rich.console import RenderableType
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress


class Forecast:
    """Estimates which fraction of a refinement is done.

    Most of the fraction are points: those inserted over those expected. While most triangles are bad, the bounds on
    sizes tell how many are expected; later, each bad triangle needs from one to four points (measured). The rest are
    rounds that insert few points: the first ones, in which a coarse mesh grows exponentially, and the last ones, in
    which the bad triangles decrease exponentially.
    """

    GROWTH, DECREASE = 0.15, 0.2  # shares of the first and the last rounds
    PLACING = 0.92  # share of the placement of points by size, and of their smoothing, if there is one
    OPTIMIZING, OPTIMIZING_PLACED = 0.9, 0.5  # shares of an optimisation afterwards: usually, and of points by size

    def __init__(self, *, optimizes: bool = False) -> None:
        self._first = self._expected = 0.0
        self._most_bad = 1
        self._done = self._before = 0.0
        self._optimizes = optimizes
        self._refined = self._optimized = -1.0  # the fractions when the optimisation began, and now

    def begin(self, triangles: int, expected: float) -> None:
        """Sets the triangles at the start, and those that the bounds on sizes need."""
        self._first, self._expected = float(triangles), expected

    def place(self, done: float) -> float:
        """The fraction while points are placed, of which a part is done."""
        self._before = self.PLACING
        self._done = max(self._done, self.PLACING * done)
        return self._shown()

    def optimize(self, done: float) -> float:
        """The fraction during the optimisation, of which a part is done."""
        if self._refined < 0.0:
            self._refined = self._shown()
        self._optimized = max(self._optimized, self._refined + (1.0 - self._refined) * done)
        return self._optimized

    def _shown(self) -> float:
        share = self.OPTIMIZING_PLACED if self._before else self.OPTIMIZING
        return self._done * (1.0 - share) if self._optimizes else self._done

    def fraction(self, bad: int, triangles: int) -> float:
        """The fraction after a round, which never decreases; bad triangles left, and all triangles."""
        self._most_bad = max(self._most_bad, bad)
        share = bad / max(triangles, 1)
        by_shape = bad * (1.2 + 2.7 * share)
        weight = min(1.0, 2.0 * share)  # of the bounds on sizes
        left = weight * max(self._expected - triangles, by_shape) + (1.0 - weight) * by_shape
        inserted = max(triangles - self._first, 0.0)
        points = inserted / (inserted + left) if inserted + left > 0 else 0.0
        last = 1.0 - math.log1p(bad) / math.log1p(self._most_bad)
        grows = self._expected > 4.0 * self._first > 0.0
        first = math.log(max(triangles / self._first, 1.0)) / math.log(self._expected / self._first) if grows else 0.0
        share_of_first = self.GROWTH if grows else 0.0
        done = share_of_first * min(first, 1.0) + self.DECREASE * last
        done += (1.0 - share_of_first - self.DECREASE) * points
        self._done = max(self._done, self._before + (1.0 - self._before) * min(done, 1.0))
        return self._shown()


class ForecastOfTiles:
    """Estimates which fraction of a refinement in tiles is done.

    Tasks run in groups. The first group that places points, and the first that refines, process all tiles; the groups
    after them process what waits at cuts, in ever fewer tiles.
    """

    # Fractions at the end of the first group of a name; those that the groups for cuts approach, and in which steps.
    FIRST: ClassVar = {"begin": 0.06, "place": 0.55, "refine": 0.85, "find_border": 0.97, "make_part": 1.0}
    CUTS: ClassVar = {"place": 0.7, "refine": 0.95}
    STEP = 0.15

    def __init__(self) -> None:
        self._first = dict(self.FIRST)
        self._group, self._over = "", False
        self._begin = self._end = 0.0

    def fraction(self, group: str, ended: int, tasks: int) -> float:
        """The fraction of the work when some tasks of a group have ended; the first call for a group has none."""
        if group != self._group or (self._over and ended == 0):
            self._begin = self._end
            limit = self.CUTS["place" if "refine" in self._first and group != "refine" else "refine"]
            usual = self._begin + self.STEP * max(limit - self._begin, 0.0)
            self._end = max(self._first.pop(group, usual), self._begin)
        self._group, self._over = group, ended == tasks
        done = ended / tasks
        return self._begin * (1.0 - done) + self._end * done


class Pace:
    """Moves a bar between reports, at the average speed so far: a long step, such as a triangulation, has none.

    The bar runs ahead of the last report by less than a part of what is left, and never goes back.
    """

    AHEAD = 0.3

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begin = clock, clock()
        self._reported_at = self._begin
        self._reported = self._shown = 0.0

    def report(self, fraction: float) -> float:
        """Takes the fraction of the work that is done; returns the fraction to show."""
        if fraction > self._reported:
            self._reported, self._reported_at = fraction, self._clock()
        self._shown = max(self._shown, fraction)
        return self._shown

    def now(self) -> float:
        """Returns the fraction to show now."""
        seconds, most = self._reported_at - self._begin, self.AHEAD * (1.0 - self._reported)
        if seconds > 0.0 and most > 0.0:
            ahead = self._reported * (self._clock() - self._reported_at) / seconds
            self._shown = max(self._shown, self._reported + most * -math.expm1(-ahead / most))
        return self._shown


class _MovingProgress(RichProgress):
    """Asks for the fraction to show whenever it draws."""

    report: Report | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        """Draws the tasks."""
        if self.report is not None:
            self.report.move()
        yield from super().get_renderables()


class Report:
    """The callback of `dmr.refine` that moves the bar."""

    STATES: ClassVar = {  # by the names of tasks; others process what waits at cuts
        "begin": "coarse mesh", "place": "placing points", "refine": "refining", "find_border": "borders",
        "make_part": "writing parts",
    }  # fmt: skip

    def __init__(self, progress: RichProgress, title: str, *, optimizes: bool = False) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=1.0, state="")
        self._forecast, self._of_tiles = Forecast(optimizes=optimizes), ForecastOfTiles()
        self._pace = Pace()

    def move(self) -> None:
        """Is called whenever the bar is drawn."""
        self._progress.update(self._task, completed=self._pace.now())

    def _show(self, fraction: float, state: str) -> None:
        self._progress.update(self._task, completed=self._pace.report(fraction), state=state)

    def placing(self, done: float) -> None:
        """Is called while points are placed by size."""
        self._show(self._forecast.place(done), "placing points")

    def optimizing(self, done: float) -> None:
        """Is called while points are moved to improve angles."""
        self._show(self._forecast.optimize(done), "optimising")

    def task_ended(self, name: str, ended: int, tasks: int) -> None:
        """Is called while tasks of a refinement in tiles run."""
        self._show(self._of_tiles.fraction(name, ended, tasks), f"{self.STATES.get(name, 'cuts')}: {ended} of {tasks}")

    def begin(self, triangles: int, expected: float) -> None:
        """Is called before the first round."""
        self._forecast.begin(triangles, expected)

    def __call__(self, round: int, bad: int, triangles: int) -> bool:
        """Is called after each round."""
        self._show(self._forecast.fraction(bad, triangles), f"round {round}: {bad:,} bad of {triangles:,}")
        return True


@contextmanager
def bar(title: str, *, optimizes: bool = False) -> Iterator[tuple[Report, RichConsole]]:
    """Shows a bar on stderr until the work is done; gives the callback for each round and rich's console.

    Args:
        title: what is done.
        optimizes: whether an optimisation follows the refinement.
    """
    live = RichConsole(stderr=True)
    columns = (
        TextColumn("dmr: {task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with _MovingProgress(*columns, console=live, transient=True) as progress:
        progress.report = report = Report(progress, title, optimizes=optimizes)
        yield report, live
