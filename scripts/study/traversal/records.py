"""Reads runs from the study's JSON record and derives the figures for tables and pictures."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from scripts.study.traversal.cases import BASE, Case

Record = dict[str, Any]


def median_ms(run: Record) -> float:
    """Median of a case's timed runs in milliseconds."""
    return 1000 * float(statistics.median(run["seconds"]))


def find(given: Record, algorithm: str, case: Case) -> Record | None:
    """Run of a case; None if it was not run."""
    wanted = (algorithm, case.scheme, dict(case.options))
    return next((run for run in given["runs"] if (run["algorithm"], run["scheme"], run["options"]) == wanted), None)


def of_scheme(given: Record, algorithm: str, scheme: str, **options: Any) -> list[Record]:
    """Runs of a scheme that have these options."""
    return [
        run
        for run in given["runs"]
        if (run["algorithm"], run["scheme"]) == (algorithm, scheme) and options.items() <= run["options"].items()
    ]


def each_search(study: Record) -> Iterable[tuple[Record, str, Record]]:
    """Yields every graph and algorithm, with the baseline's run."""
    for given in study["inputs"]:
        for algorithm in given["reached"]:
            base = find(given, algorithm, BASE)
            if base is not None:
                yield given, algorithm, base


def improvement(base: Record, run: Record) -> float:
    """Time saved over the baseline, in percent."""
    return 100 * (1 - median_ms(run) / median_ms(base))


def gteps(given: Record, run: Record) -> float:
    """Edges of reached nodes over the time, in 10^9 per second."""
    return float(given["reached"][run["algorithm"]]["edges"] / median_ms(run) / 1e6)


def disagreeing(study: Record) -> list[str]:
    """Names of the cases whose distances differ from those of the first case of their graph and search."""
    return [
        f"{given['input']}: {run['algorithm']}, {run['scheme']} {text_of(run['options'])}".rstrip()
        for given in study["inputs"]
        for run in (*given["runs"], *given.get("gteps", ()))
        if not run["agrees"]
    ]


def text_of(values: Record) -> str:
    """Options or figures on one line."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
