"""What `dmr refine --profile` adds: where the time went, which kernels ran, who checked the new triangles."""

from __future__ import annotations

from dmr.cli.console import Console
from dmr.naming import counted
from dmr.results import Refinement

MOST_LAUNCHED = 8  # kernels that are named; the others are summed up


def report(console: Console, result: Refinement) -> None:
    """Three tables about a profiled run."""
    which = f" of the run that was kept, one of {result.tries}" if result.tries > 1 else ""
    console.note(f"profile{which}: each phase waited for the device, which makes a run slower")
    console.table(phases(result.seconds))
    console.note("launches by the host")
    console.table(kernels(result.launches))
    console.note("quality checks of new triangles; a share is what one thread of a GPU checks")
    console.table(checks(result.balance, result.checks))


def phases(seconds: dict[str, float]) -> list[list[str]]:
    """Seconds of each phase, and its share of the total, which is the last row."""
    total = seconds["total"]
    parts = {name: spent for name, spent in seconds.items() if name != "total"}
    rows = [[name, f"{spent:.4f}", f"{spent / total:.1%}"] for name, spent in (*parts.items(), ("total", total))]
    return [["phase", "seconds", "share"], *rows]


def kernels(launches: dict[str, int]) -> list[list[str]]:
    """The kernels that were launched most often, the others in one row, and the sum of all."""
    ordered = sorted(launches.items(), key=lambda entry: (-entry[1], entry[0]))
    named, others = ordered[:MOST_LAUNCHED], ordered[MOST_LAUNCHED:]
    rows = [[name, f"{times:,}"] for name, times in named]
    if others:
        rows.append([counted(len(others), "other"), f"{sum(times for _, times in others):,}"])
    return [["kernel", "launches"], *rows, ["total", f"{sum(launches.values()):,}"]]


def checks(balance: str, counted: dict[str, int]) -> list[list[str]]:
    """How the checks were shared out, and what was launched from the device for them."""
    columns = {
        "checked": "triangles",
        "shares": "shares",
        "largest_share": "largest share",
        "children": "launched from the device",
        "refused": "refused",
    }
    return [["balance", *columns.values()], [balance, *(f"{counted[name]:,}" for name in columns)]]
