"""Report of `dmr refine --profile`: times of the phases, kernel launches, distribution of the quality checks."""

from __future__ import annotations

from dmr.cli.shared.console import Console
from dmr.common.text import counted
from dmr.refinement.results import Refinement

MOST_LAUNCHED = 8  # kernels listed by name; the others share one row


def report(console: Console, result: Refinement) -> None:
    """Prints three tables about a profiled run."""
    which = f" of the run that was kept, one of {result.tries}" if result.tries > 1 else ""
    console.note(f"profile{which}: each phase waited for the device, which makes a run slower")
    console.table(phases(result.seconds))
    console.note("launches by the host")
    console.table(kernels(result.launches))
    console.note("quality checks of new triangles; a share is what one thread of a GPU checks")
    console.table(checks(result.balance, result.checks))


def phases(seconds: dict[str, float]) -> list[list[str]]:
    """Seconds of each phase and its share of the total; the last row is the total."""
    total = seconds["total"]
    parts = {name: spent for name, spent in seconds.items() if name != "total"}
    rows = [[name, f"{spent:.4f}", f"{spent / total:.1%}"] for name, spent in (*parts.items(), ("total", total))]
    return [["phase", "seconds", "share"], *rows]


def kernels(launches: dict[str, int]) -> list[list[str]]:
    """The most frequently launched kernels, the others in one row, and the total."""
    ordered = sorted(launches.items(), key=lambda entry: (-entry[1], entry[0]))
    named, others = ordered[:MOST_LAUNCHED], ordered[MOST_LAUNCHED:]
    rows = [[name, f"{times:,}"] for name, times in named]
    if others:
        rows.append([counted(len(others), "other"), f"{sum(times for _, times in others):,}"])
    return [["kernel", "launches"], *rows, ["total", f"{sum(launches.values()):,}"]]


def checks(balance: str, counted: dict[str, int]) -> list[list[str]]:
    """Distribution of the quality checks over threads, and their launches from the device."""
    columns = {
        "checked": "triangles",
        "shares": "shares",
        "largest_share": "largest share",
        "children": "launched from the device",
        "refused": "refused",
    }
    return [["balance", *columns.values()], [balance, *(f"{counted[name]:,}" for name in columns)]]
