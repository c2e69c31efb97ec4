"""Tables of the study: a CSV with one flat line per row and input, and the page that compares the rows."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from scripts.study.refinement.rows import BASE, DEFAULT

Line = dict[str, Any]

PHASES = ("check", "select", "grow", "mark", "retriangulate", "list", "count")  # in the order of a round
# Decimals of the CSV's columns; times in ms have 3, and all other columns hold integers or text.
DECIMALS = {
    "improvement_percent": 2, "size": 4, "acceptance": 4, "lost_a_round": 1, "launches_a_round": 1, "mean_share": 3,
}  # fmt: skip
LOST = (
    "*Conflicts lost* are cavities that others kept from going in, counted when their round ends. With one stage (the "
    "rows of the base, the deterministic ones) these are all that lost the marking. With the two stages of Algorithm 2 "
    "(all other rows) a cavity that loses the first stage and goes in in the second is not among them; one that is "
    "dead or damaged in the end, because others have rebuilt its triangles, is. So this figure does not compare the "
    "rows of the base with those of two stages."
)
VALID = {None: "not checked", True: "yes", False: "INVALID"}


def lines(study: dict[str, Any]) -> list[Line]:
    """One line per row and input, with all derived values: medians, improvements, ratios.

    Counts that differ from run to run are those of the median run. Phases and shares come from the profiled run.
    Improvements are relative to the row `BASE`, sizes to `DEFAULT`. Values missing in an older record are None.

    Args:
        study: the JSON record.
    """
    return [
        _line(study, given, row, _of(given, BASE), _of(given, DEFAULT))
        for given in study["inputs"]
        for row in given["rows"]
    ]


def phases(study: dict[str, Any]) -> list[str]:
    """Phases of the profiled runs, in the order of a round."""
    found = {phase for given in study["inputs"] for row in given["rows"] for phase in row["profiled"]["phases"]}
    return sorted(found, key=lambda phase: (PHASES.index(phase) if phase in PHASES else len(PHASES), phase))


def _of(given: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((row for row in given["rows"] if row["row"] == name), None)


def _median(row: dict[str, Any], figure: str) -> float:
    return float(statistics.median(run[figure] for run in row["runs"]))


def _line(
    study: dict[str, Any],
    given: dict[str, Any],
    row: dict[str, Any],
    base: dict[str, Any] | None,
    default: dict[str, Any] | None,
) -> Line:
    run, profiled = row["runs"][row["median_run"]], row["profiled"]
    seconds = [one["seconds"] for one in row["runs"]]
    median = statistics.median(seconds)
    by_history = [one.get("seconds_by_history") for one in row["runs"]]
    digests = {one["sha256"] for one in (*row["runs"], profiled)}
    checks, rounds = profiled["checks"], max(run["rounds"], 1)
    return {
        "date": given["date"],
        "commit": study["commit"],
        "device": study["device"],
        "input": given["input"],
        "triangles_in": given["triangles"],
        "bad_in": given["bad"],
        "row": row["row"],
        "marking": row["marking"],
        "balance": row["balance"],
        "loop": row["loop"],
        "repeats": len(row["runs"]),
        "median_ms": 1000 * median,
        "min_ms": 1000 * min(seconds),
        "max_ms": 1000 * max(seconds),
        "history_ms": None if None in by_history else 1000 * statistics.median(by_history),
        "improvement_percent": None if base is None else 100 * (1 - median / _median(base, "seconds")),
        "triangles_out": run["triangles"],
        "size": None if default is None else run["triangles"] / _median(default, "triangles"),
        "rounds": run["rounds"],
        "attempts": run["attempts"],
        "inserted": run["inserted"],
        "acceptance": run["inserted"] / max(run["attempts"], 1),
        "lost": run["lost"],
        "lost_a_round": run["lost"] / rounds,
        "launches": run["launches"],
        "launches_a_round": run["launches"] / rounds,
        "unrefined": run["unrefined"],
        "children": run["children"],
        "refused": run["refused"],
        "shares": checks["shares"],
        "mean_share": checks["checked"] / max(checks["shares"], 1),
        "largest_share": checks["largest_share"],
        **{f"{phase}_ms": 1000 * profiled["phases"].get(phase, 0.0) for phase in phases(study)},
        "different_meshes": len(digests),
        "valid": VALID[row["valid"]],
    }


def to_csv(found: Sequence[Line]) -> str:
    """Comma-separated values with a header; cells without a reference to compare with are empty."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(found[0])
    for line in found:
        table.writerow(_cell(column, value) for column, value in line.items())
    return text.getvalue()


def _cell(column: str, value: Any) -> str:
    if value is None:
        return ""
    decimals = 3 if column.endswith("_ms") else DECIMALS.get(column)
    return str(value) if decimals is None else f"{value:.{decimals}f}"


def to_markdown(study: dict[str, Any], name: str) -> str:
    """Page with the conditions, the tables, and the pictures `name`-bars.png and `name`-processed.png."""
    found = lines(study)
    machine, names = study["machine"], titles(study)
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
    tools = [f"driver {machine['driver']}"] * (machine["driver"] is not None) + [f"{machine['compiler']}"]
    parts = [
        f"# The strategies of the thesis on {study['device']}",
        f"Measured {study['inputs'][0]['date']}, commit {study['commit'] or 'unknown'}, dmr {study['version']}; "
        f"{where}; {', '.join(tools)}; Python {machine['python']}, numpy {machine['numpy']}.",
        f"Refinement to {study['min_angle']:g} degrees of Delaunay meshes of uniform random points. Times are those of "
        "the refinement alone, without the mesh's way in and out: sums of its phases, medians of "
        f"{_runs(study)} after a warm-up, the rows in turn. (The CSV has beside them, as history_ms, how long it took "
        "from the start of the first check to the end of the last round.) Improvements are over the base. "
        "Counts are those of the median run; launches are the host's in the whole run, the way in included. Phases, "
        "and how many triangles a thread checked (its share), come from one more run that waits for the device after "
        "each phase, and whose rounds the host drives. Meshes are told apart by the digests of all these runs.",
        LOST,
        "```sh\n" + "\n".join(dict.fromkeys(given["command"] for given in study["inputs"])) + "\n```",
    ]
    if any(line["valid"] == "INVALID" for line in found):
        parts.append("**Some results are INVALID: the exact checker refused them. Their times mean nothing.**")
        parts += [
            f"- {given['input']}, {row['title']}: {reasons[0]}"
            for given in study["inputs"]
            for row in given["rows"]
            for reasons in row["failures"].values()
        ]
    elif all(line["valid"] == "yes" for line in found):
        parts.append("Every result of every run was proved by the exact checker.")
    else:
        parts.append("Not every result was proved.")
    parts += [f"Left out: `{row}`: {reason}." for row, reason in study["left_out"].items()]
    parts += ["## Execution time", _times(study, found, names)]
    parts.append(f"![Time of every row by input]({name}-bars.png)")
    parts.append(f"![Cavities retriangulated against time and against rounds]({name}-processed.png)")
    for given in study["inputs"]:
        mine = [line for line in found if line["input"] == given["input"]]
        share = given["bad"] / given["triangles"]
        parts.append(f"## {given['input']}: {given['triangles']:,} triangles, {share:.1%} of them bad")
        parts += [_counts(mine, names), _phases(study, mine, names)]
    return "\n\n".join(parts) + "\n"


def titles(study: dict[str, Any]) -> dict[str, str]:
    """Titles of the study's rows, by name."""
    return {row["row"]: row["title"] for given in study["inputs"] for row in given["rows"]}


def _runs(study: dict[str, Any]) -> str:
    numbers = sorted({len(row["runs"]) for given in study["inputs"] for row in given["rows"]})
    return " or ".join(map(str, numbers)) + (" run" if numbers == [1] else " runs")


def _times(study: dict[str, Any], found: Sequence[Line], names: dict[str, str]) -> str:
    """Table of rows by inputs, as in table 6.3."""
    by_place = {(line["row"], line["input"]): line for line in found}
    inputs = [given["input"] for given in study["inputs"]]
    head = ["row", *(cell for name in inputs for cell in (f"{name}, ms", "improvement"))]
    body = []
    for row, title in names.items():
        cells = [title]
        for name in inputs:
            line = by_place.get((row, name))
            cells += ["-", "-"] if line is None else [_ms(line), percent(line["improvement_percent"])]
        body.append(cells)
    return markdown_table(head, body)


def _counts(found: Sequence[Line], names: dict[str, str]) -> str:
    head = [
        "row", "fastest to slowest, ms", "triangles over the default's", "rounds", "accepted", "conflicts lost a round",
        "launches a round", "children", "mean share", "largest share", "different meshes", "valid",
    ]  # fmt: skip
    return markdown_table(
        head,
        [
            [
                names[line["row"]],
                f"{line['min_ms']:,.1f} to {line['max_ms']:,.1f}",
                "-" if line["size"] is None else f"{line['size']:.4f}",
                f"{line['rounds']:,}",
                f"{line['acceptance']:.1%}",
                f"{line['lost_a_round']:,.1f}",
                f"{line['launches_a_round']:.1f}",
                f"{line['children']:,}" + (f" ({line['refused']:,} refused)" if line["refused"] else ""),
                f"{line['mean_share']:.2f}",
                f"{line['largest_share']:,}",
                f"{line['different_meshes']} of {line['repeats'] + 1}",
                line["valid"],
            ]
            for line in found
        ],
    )


def _phases(study: dict[str, Any], found: Sequence[Line], names: dict[str, str]) -> str:
    """Table of milliseconds by phase, from the profiled run, which waits for the device after each phase."""
    columns, body = phases(study), []
    for line in found:
        spent = [line[f"{phase}_ms"] for phase in columns]
        body.append([names[line["row"]], *(f"{ms:,.1f}" for ms in spent), f"{sum(spent):,.1f}"])
    return markdown_table(["profiled, ms", *columns, "sum"], body)


def _ms(line: Line) -> str:
    return f"{line['median_ms']:,.1f}" + (" INVALID" if line["valid"] == "INVALID" else "")


def percent(value: float | None) -> str:
    """An improvement with its sign; "-" without a reference."""
    return "-" if value is None else f"{value:,.2f}%"


def markdown_table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Markdown table whose columns also align as plain text; all but the first are right-aligned."""
    rows = [list(head), *map(list, body)]
    widths = [max(3, *(len(row[k]) for row in rows)) for k in range(len(head))]

    def text(cells: Sequence[str]) -> str:
        filled = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
        return f"| {' | '.join(filled)} |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([text(rows[0]), text(rule), *map(text, rows[1:])])
