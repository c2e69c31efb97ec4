"""Runs the rows of the study on one input: warm-up, timed runs in turn, a profiled run, proofs of all results.

The results are plain data, as stored in the study's JSON. All times are in seconds. The time of a run is the sum of its
refinement phases; "seconds_by_history" is the time that the history states for the end of the last round. A row whose
warm-up takes more than `SLOW` seconds has no other run: the warm-up counts, and no run is profiled.
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
SLOW = 3.0
VALIDATED = ("all", "median", "none")  # which results are proved: of all runs, of each row's median run, or none


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings of all runs: angle bound in degrees, timed runs, device, which results are proved (`VALIDATED`), and by
    how many processes.
    """

    min_angle: float
    repeats: int
    device: str
    threads: int | None
    validate: str = "all"
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
    slow: set[str] = set()
    for turn in range(plan.repeats + 2):
        for row in rows:
            if row.name in slow:
                continue
            profile = turn > plan.repeats
            result = dmr.refine(
                mesh,
                min_angle=plan.min_angle,
                steiner="off-center",  # a choice among points would hide the differences between the strategies
                marking=row.marking,
                balance=row.balance,
                loop="host" if profile else row.loop,
                device=plan.device,
                threads=plan.threads,
                profile=profile,
            )
            what = "profiled" if profile else f"run {turn} of {plan.repeats}" if turn else "warm-up"
            say(f"{name}: {row.name}: {what}: {sum(refinement_phases(result.seconds).values()):.4f} s")
            if turn == 0 and sum(refinement_phases(result.seconds).values()) > SLOW:
                slow.add(row.name)
            elif turn == 0:
                continue
            run = _Run.of(result)
            distinct.setdefault(run.figures["sha256"], result.mesh)
            if profile:
                profiled[row.name] = run
            else:
                runs[row.name].append(run)
    found: dict[str, list[str]] = {}
    if plan.validate != "none":
        middles = {runs[row.name][_middle(runs[row.name])].figures["sha256"] for row in rows}
        proved = {name: one for name, one in distinct.items() if plan.validate == "all" or name in middles}
        say(f"{name}: proving {len(proved)} of {len(distinct)} different results")
        found = study_proofs.prove(
            proved,
            mesh,
            plan.min_angle,
            plan.jobs,
            lambda done: say(f"{name}: {done} of {len(proved)} proved or refused"),
        )
    return {
        "input": name,
        "date": started,
        "vertices": len(mesh.vertices),
        "triangles": len(mesh.triangles),
        "bad": bad,
        "rows": [_row_record(row, runs[row.name], profiled.get(row.name), found) for row in rows],
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


def _middle(runs: Sequence[_Run]) -> int:
    """Index of the median run."""
    return sorted(range(len(runs)), key=lambda k: runs[k].figures["seconds"])[(len(runs) - 1) // 2]


def _row_record(row: Row, runs: Sequence[_Run], profiled: _Run | None, found: dict[str, list[str]]) -> dict[str, Any]:
    """Record of one row on one input. Launches by kernel and history are those of the median run."""
    middle = _middle(runs)
    digests = [run.figures["sha256"] for run in (*runs, *([profiled] if profiled else []))]
    checked = [name for name in digests if name in found]
    wrong = {name: found[name][:KEPT_FAILURES] for name in checked if found[name]}
    return {
        "row": row.name,
        "title": row.title,
        "marking": row.marking,
        "balance": row.balance,
        "loop": row.loop,
        "valid": not wrong if checked else None,
        "proved": len(checked),
        "failures": wrong,
        "runs": [run.figures for run in runs],
        "median_run": middle,
        "launches": runs[middle].launches,
        "history": runs[middle].history,
        "profiled": profiled and {**profiled.figures, "phases": profiled.phases, "checks": profiled.checks},
    }
