"""The progress bar moves evenly: replayed runs, whose rounds were recorded with their times."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress

import dmr
from dmr.cli.shared.progress import Forecast, ForecastOfTiles, Pace, Report, bar

# By the bounds that they refine to: triangles at the start, expected and at the end, and for rounds of each run the bad
# triangles, all triangles, and the share of the time (one thread).
RUNS = json.loads(Path(__file__).with_name("recorded_runs.json").read_text())


@pytest.mark.parametrize("name", RUNS)
def test_the_bar_follows_the_time_and_never_goes_back(name: str) -> None:
    run = RUNS[name]
    forecast = Forecast()
    forecast.begin(run["triangles"], run["expected"])
    shown = [forecast.fraction(bad, triangles) for bad, triangles, _ in run["rounds"]]
    times = [time for _, _, time in run["rounds"]]
    assert shown == sorted(shown) and shown[0] < 0.1 and 0.95 < shown[-1] <= 1
    assert np.abs(np.array(shown) - times).max() < 0.3


def test_a_replay_in_which_bad_triangles_return_does_not_go_back() -> None:
    forecast = Forecast()
    shown = [forecast.fraction(bad, triangles) for bad, triangles in [(9, 10), (0, 30), (5, 30), (0, 0), (0, 40)]]
    assert shown == sorted(shown) and shown[-1] == 1


@pytest.mark.parametrize(
    "options", [{"max_area": 1e-3}, {"max_edge": 0.06}, {"max_edge": lambda points: 0.04 + 0.1 * points[:, 0]}]
)
def test_the_triangles_that_bounds_need_are_estimated(options: dict[str, object]) -> None:
    plate = dmr.domains.polygon([(0, 0), (2, 0), (2, 1), (0, 1)], [dmr.domains.circle_points(0.2, 24, (1, 0.5))])
    found = []

    class Recorder:
        def begin(self, triangles: int, expected: float) -> None:
            found.append((triangles, expected))

        def __call__(self, round: int, bad: int, triangles: int) -> None:
            assert len(found) == 1

    result = dmr.refine(plate, **options, progress=Recorder(), device="cpu", threads=1)
    ((triangles, expected),) = found
    assert triangles == len(dmr.triangulate(plate).triangles)
    assert 0.6 < expected / len(result.mesh.triangles) < 1.6
    found.clear()
    dmr.refine(plate, progress=Recorder(), device="cpu", threads=1)
    assert found == [(triangles, 0.0)]


@pytest.mark.parametrize(
    ("size", "most", "steps"), [(0.01, 0.32, 6), (lambda points: 0.01 + 0.01 * points[:, 0], 0.3, 12)]
)
def test_the_bar_moves_while_points_are_placed(size: object, most: float, steps: int) -> None:
    """A lattice of one size is placed at once; a front advances in many rounds. The triangulation is one step."""
    forecast, shown = Forecast(), [0.0]

    class Recorder:
        def placing(self, done: float) -> None:
            shown.append(forecast.place(done))

        def begin(self, triangles: int, expected: float) -> None:
            assert shown[-1] == Forecast.PLACING
            forecast.begin(triangles, expected)

        def __call__(self, round: int, bad: int, triangles: int) -> None:
            shown.append(forecast.fraction(bad, triangles))

    plate = dmr.domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    reported = dmr.refine(plate, size=size, progress=Recorder(), device="cpu", threads=1)
    assert shown == sorted(shown) and shown[-1] >= Forecast.PLACING and np.diff(shown).max() < most
    assert (np.diff(shown) > 0).sum() >= steps
    assert np.array_equal(reported.mesh.triangles, dmr.refine(plate, size=size, device="cpu", threads=1).mesh.triangles)


# Of a run with one size for 2.8 million triangles: shares of the time, and fractions that were reported then.
LONG_STEP = [(0.13, 0.1), (0.6, 0.36), (0.63, 0.51), (0.72, 0.6), (0.86, 0.82), (0.93, 0.92), (1.0, 1.0)]


def test_the_bar_moves_while_a_long_step_reports_nothing() -> None:
    now = [0.0]
    pace, shown, reports = Pace(lambda: now[0]), [], iter(LONG_STEP)
    following = next(reports)
    for step in range(1, 201):
        now[0] = step / 200
        while following is not None and following[0] <= now[0]:
            assert pace.report(following[1]) >= following[1]
            following = next(reports, None)
        shown.append(pace.now())
    moved = np.diff(shown)
    assert (moved >= 0).all() and shown[-1] == 1
    assert np.abs(np.array(shown) - np.arange(1, 201) / 200).max() < 0.32  # of the reports alone: 0.5
    standing = np.diff(np.flatnonzero(np.concatenate([[True], moved > 1e-4])))
    assert standing.max() <= 27  # in 200, before the first report


def test_a_bar_without_reports_stands_and_does_not_run_over() -> None:
    now = [0.0]
    pace = Pace(lambda: now[0])
    now[0] = 5.0
    assert pace.now() == 0
    assert pace.report(0.5) == 0.5
    now[0] = 1e6
    assert pace.now() == 0.5 + Pace.AHEAD * 0.5
    assert pace.report(0.4) == pace.report(0.6) == 0.5 + Pace.AHEAD * 0.5
    assert pace.report(1.0) == pace.now() == 1


def test_a_drawn_bar_moves_between_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "now", lambda self: 0.375)
    with bar("refining") as (report, _):
        report.placing(0.1)
        assert report._progress.tasks[0].completed < 0.1
        report._progress.refresh()
        assert report._progress.tasks[0].completed == 0.375


def test_the_bar_shows_rounds() -> None:
    with Progress(console=Console(file=io.StringIO())) as progress:
        report = Report(progress, "refining")
        report.placing(0.5)
        assert progress.tasks[0].fields["state"] == "placing points"
        report.begin(10, 0.0)
        assert report(1, 100, 200) is True and report(2, 0, 400) is True
        (task,) = progress.tasks
    assert task.completed == 1 and task.fields["state"] == "round 2: 0 bad of 400"


@pytest.mark.parametrize(("options", "most"), [({"max_area": 2e-4}, 0.2), ({"size": 0.02}, 0.55), ({}, 0.4)])
def test_the_bar_moves_while_points_are_optimised(options: dict[str, object], most: float) -> None:
    """Most of the time of a run with `optimize` is the optimisation, and so is most of the bar."""
    forecast, before, shown = Forecast(optimizes=True), [0.0], []

    class Recorder:
        def placing(self, done: float) -> None:
            before.append(forecast.place(done))

        def optimizing(self, done: float) -> None:
            shown.append(forecast.optimize(done))

        def begin(self, triangles: int, expected: float) -> None:
            forecast.begin(triangles, expected)

        def __call__(self, round: int, bad: int, triangles: int) -> None:
            before.append(forecast.fraction(bad, triangles))

    plate = dmr.domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)], [dmr.domains.circle_points(0.2, 24, (0.5, 0.5))])
    reported = dmr.refine(plate, **options, optimize=True, progress=Recorder(), device="cpu", threads=1)
    plain = dmr.refine(plate, **options, optimize=True, device="cpu", threads=1)
    assert np.array_equal(reported.mesh.vertices, plain.mesh.vertices)
    share = Forecast.OPTIMIZING_PLACED if "size" in options else Forecast.OPTIMIZING
    assert before == sorted(before) and before[-1] <= 1 - share + 1e-9 and len(shown) > 16
    assert shown == sorted(shown) and shown[0] >= before[-1] and shown[-1] == 1
    assert np.diff([before[-1], *shown]).max() < most


def test_optimize_reports_its_progress() -> None:
    mesh, shown = dmr.triangulate(np.random.default_rng(4).random((500, 2))), []
    dmr.optimize(mesh, progress=shown.append, device="cpu", threads=1)
    assert len(shown) > 16 and all(0 <= each <= 1 for each in shown) and shown[-1] == 1
    forecast = Forecast()
    assert [forecast.optimize(each) for each in (0.1, 0.05, 0.4, 1.0)] == [0.1, 0.1, 0.4, 1.0]


@pytest.mark.parametrize("options", [{"max_area": 5e-4}, {"size": 0.05}])
def test_the_bar_follows_the_tasks_of_tiles(tmp_path: Path, options: dict[str, object]) -> None:
    from dmr.distributed.engines import chosen_engine
    from dmr.distributed.jobs.task import Resources
    from dmr.distributed.pipeline import refine_by

    forecast, shown = ForecastOfTiles(), [0.0]
    plate = dmr.domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)], [dmr.domains.circle_points(0.2, 24, (0.5, 0.5))])
    parts = refine_by(
        chosen_engine(Resources("cpu", 1)), plate, tmp_path / "out", tile_triangles=400, on_conflict="resolve",
        convex_hull=False, overwrite=False, watch=lambda *called: shown.append(forecast.fraction(*called)), **options,
    )  # fmt: skip
    assert parts.counts["parts"] > 2
    assert shown == sorted(shown) and shown[-1] == 1 and len(set(shown)) > 8


def test_the_bar_names_the_tasks_of_tiles() -> None:
    with Progress(console=Console(file=io.StringIO())) as progress:
        report = Report(progress, "refining in tiles")
        report.task_ended("refine", 3, 9)
        assert progress.tasks[0].fields["state"] == "refining: 3 of 9"
        report.task_ended("join", 0, 1)
        assert progress.tasks[0].fields["state"] == "cuts: 0 of 1"
