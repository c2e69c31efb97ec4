"""Runs the rows of the study on one input: warm-up, timed runs in turn, a profiled run, proofs of all results.

The results are plain data, as stored in the study's JSON. All times are in seconds. The time of a run is the sum of its
refinement phases; "seconds_by_history" is the time that the history states for the end of the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import dmr
from dmr.mesh.statistics import summarise
from scripts.lib.measuring import digest, refinement_phases, standard_input
from scripts.study.refinement import proofs as study_proofs
from scripts.study.refinement.rows import Row

ROUND_FIELDS = ("attempted", "inserted", "lost", "bad", "triangles", "seconds")
KEPT_FAILURES = 5


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings of all runs: angle bound in degrees, timed runs, device, and number of processes for the proofs."""

    min_angle: float
    repeats: int
    device: str
    threads: int | None
    validate: bool = True
    jobs: int | None = None


def run_input(name: str, rows: Sequence[Row], plan: Plan, say: Callable[[str], None]) -> dict[str, Any]:
    """Runs every row on one input, and proves the results.

    Rows take turns, so that a slower phase of the machine affects all of them alike: all warm up, then all have their
    first timed run, and so on. The profiled run comes last; its time does not count, as it waits after every phase.

    Args:
        name: name of the input, see `standard_input`.
        rows: rows to run, in this order.
        plan: settings of the runs.
        say: called with progress messages.

    Returns:
        The input's part of the study.
    """
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    mesh = standard_input(name)
    bad = summarise(mesh, bound=plan.min_angle).below
    say(f"{name}: {len(mesh.triangles):,} triangles, {bad:,} of them below {plan.min_angle:g} degrees")
    runs: dict[str, list[_Run]] = {row.name: [] for row in rows}
    profiled: dict[str, _Run] = {}
    distinct: dict[str, dmr.Mesh] = {}
    for turn in range(plan.repeats + 2):
        for row in rows:
            profile = turn > plan.repeats
            result = dmr.refine(
                mesh,
                min_angle=plan.min_angle,
                steiner="off-center",  # a choice among points would hide the differences of the strategies
                marking=row.marking,
                balance=row.balance,
                loop="host" if profile else row.loop,
                device=plan.device,
                threads=plan.threads,
                profile=profile,
            )
            what = "profiled" if profile else f"run {turn} of {plan.repeats}" if turn else "warm-up"
            say(f"{name}: {row.name}: {what}: {sum(refinement_phases(result.seconds).values()):.4f} s")
            if turn == 0:
                continue
            run = _Run.of(result)
            distinct.setdefault(run.figures["sha256"], result.mesh)
            if profile:
                profiled[row.name] = run
            else:
                runs[row.name].append(run)
    found: dict[str, list[str]] | None = None
    if plan.validate:
        say(f"{name}: proving {len(distinct)} different results")
        found = study_proofs.prove(
            distinct,
            mesh,
            plan.min_angle,
            plan.jobs,
            lambda done: say(f"{name}: {done} of {len(distinct)} looked at"),
        )
    return {
        "input": name,
        "date": started,
        "vertices": len(mesh.vertices),
        "triangles": len(mesh.triangles),
        "bad": bad,
        "rows": [_row_record(row, runs[row.name], profiled[row.name], found) for row in rows],
    }


@dataclass(frozen=True)
class _Run:
    """Data kept of one run after its mesh is discarded."""

    figures: dict[str, Any]
    launches: dict[str, int]
    history: dict[str, list[int | float]]
    phases: dict[str, float]
    checks: dict[str, int]

    @classmethod
    def of(cls, result: dmr.Refinement) -> _Run:
        phases = refinement_phases(result.seconds)
        figures = {
            "seconds": sum(phases.values()),
            "seconds_by_history": result.history[-1].seconds if result.history else None,
            "triangles": len(result.mesh.triangles),
            "rounds": result.rounds,
            "attempts": result.attempts,
            "inserted": sum(result.steiner.values()),
            "lost": result.outcomes["lost_conflict"],
            "launches": sum(result.launches.values()),
            "children": result.checks["children"],
            "refused": result.checks["refused"],
            "complete": result.complete,
            "unrefined": sum(result.unrefined.values()),
            "sha256": digest(result.mesh),
        }
        columns = {name: [getattr(one, name) for one in result.history] for name in ROUND_FIELDS}
        columns["seconds"] = [round(seconds, 6) for seconds in columns["seconds"]]
        return cls(figures, dict(result.launches), columns, phases, dict(result.checks))


def _row_record(row: Row, runs: Sequence[_Run], profiled: _Run, found: dict[str, list[str]] | None) -> dict[str, Any]:
    """Record of one row on one input. Launches by kernel and history are those of the median run."""
    middle = sorted(range(len(runs)), key=lambda k: runs[k].figures["seconds"])[(len(runs) - 1) // 2]
    digests = [run.figures["sha256"] for run in (*runs, profiled)]
    wrong = {} if found is None else {name: found[name][:KEPT_FAILURES] for name in digests if found[name]}
    return {
        "row": row.name,
        "title": row.title,
        "marking": row.marking,
        "balance": row.balance,
        "loop": row.loop,
        "valid": None if found is None else not wrong,
        "failures": wrong,
        "runs": [run.figures for run in runs],
        "median_run": middle,
        "launches": runs[middle].launches,
        "history": runs[middle].history,
        "profiled": {**profiled.figures, "phases": profiled.phases, "checks": profiled.checks},
    }
