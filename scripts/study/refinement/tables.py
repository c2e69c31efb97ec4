"""Tables of the study: a CSV with one flat line per row and input, and the page that compares the rows."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.lib.markdown import aligned_table
from scripts.study.refinement.rows import BASE, DEFAULT, LITERAL
from scripts.study.refinement.runs import SLOW

Line = dict[str, Any]

PHASES = ("check", "select", "grow", "mark", "retriangulate", "list", "count")  # in the order of a round
# Decimals of the CSV's columns; times in ms have 3, and all other columns hold integers or text.
DECIMALS = {
    "improvement_percent": 2, "literal_percent": 2, "size": 4, "acceptance": 4, "lost_a_round": 1,
    "launches_a_round": 1, "mean_share": 3,
}  # fmt: skip
ABOUT_TIMES = (
    "Times are those of the refinement alone, without the transfer of the mesh: sums of its phases, medians of {runs} "
    "after a warm-up, the rows in turn; a row whose warm-up takes more than {slow:g} s runs once. (The CSV also has, "
    "as history_ms, the time from the start of the first check to the end of the last round.) Improvements are "
    "relative to the base, whose re-marking backs off, and to the base as printed, which does not. Counts are those of "
    "the median run; launches are the host's in the whole run. Phases, and the number of triangles that a thread "
    "checks (its share), are from one more run that waits for the device after each phase, with host-driven rounds. "
    "*Different meshes* counts digests over all these runs."
)
LOST = (
    "*Conflicts lost* are cavities that did not go ahead because of others, counted at the end of their round. With "
    "one stage (the base, deterministic) these are all cavities that lost the marking. With the two stages of "
    "Algorithm 2 (all other rows) a cavity that loses the first stage and goes ahead in the second is not among them; "
    "one that is dead or damaged at the end, because others rebuilt its triangles, is. So this figure does not compare "
    "the base with the rows of two stages."
)
SUBSEGMENTS = (
    "*Rounds* include those of subsegments. With the markings of the papers, a round in which subsegments wait to be "
    "split splits these and nothing else. The deterministic marking splits them together with triangles, if they are "
    "few and a point has been inserted in a triangle before. So the rounds of the two kinds of rows do not compare "
    "markings alone."
)
VALID = {None: "not checked", True: "yes", False: "INVALID"}


def lines(study: dict[str, Any]) -> list[Line]:
    """One line per row and input, with all derived values: medians, improvements, ratios.

    Counts that differ from run to run are those of the median run. Phases and shares come from the profiled run.
    Improvements are relative to the rows `BASE` and `LITERAL`, sizes to `DEFAULT`. Values that were not measured are
    None.

    Args:
        study: the JSON record.
    """
    return [_line(study, given, row) for given in study["inputs"] for row in given["rows"]]


def phases(study: dict[str, Any]) -> list[str]:
    """Phases of the profiled runs, in the order of a round."""
    profiled = [row["profiled"] for given in study["inputs"] for row in given["rows"] if row["profiled"]]
    found = {phase for run in profiled for phase in run["phases"]}
    return sorted(found, key=lambda phase: (PHASES.index(phase) if phase in PHASES else len(PHASES), phase))


def _of(given: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((row for row in given["rows"] if row["row"] == name), None)


def _median(row: dict[str, Any], figure: str) -> float:
    return float(statistics.median(run[figure] for run in row["runs"]))


def _improvement(given: dict[str, Any], reference: str, seconds: float) -> float | None:
    """Time saved relative to the median of a row, in percent; None if the row is missing."""
    row = _of(given, reference)
    return None if row is None else 100 * (1 - seconds / _median(row, "seconds"))


def _line(study: dict[str, Any], given: dict[str, Any], row: dict[str, Any]) -> Line:
    run, profiled, default = row["runs"][row["median_run"]], row["profiled"], _of(given, DEFAULT)
    seconds = [one["seconds"] for one in row["runs"]]
    median = statistics.median(seconds)
    by_history = [one.get("seconds_by_history") for one in row["runs"]]
    digests = {one["sha256"] for one in (*row["runs"], *([profiled] if profiled else []))}
    rounds = max(run["rounds"], 1)
    checks = profiled["checks"] if profiled else None
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
        "improvement_percent": _improvement(given, BASE, median),
        "literal_percent": _improvement(given, LITERAL, median),
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
        "shares": checks and checks["shares"],
        "mean_share": checks and checks["checked"] / max(checks["shares"], 1),
        "largest_share": checks and checks["largest_share"],
        **{f"{phase}_ms": profiled and 1000 * profiled["phases"].get(phase, 0.0) for phase in phases(study)},
        "different_meshes": len(digests),
        "runs": len(row["runs"]) + (profiled is not None),
        "proved": row.get("proved", len(row["runs"]) + 1 if row["valid"] is not None else 0),
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
        f"Refinement to {study['min_angle']:g} degrees of Delaunay meshes of uniform random points, by off-centers: "
        "with petals, the default, the choice among points would hide differences between the strategies.",
        ABOUT_TIMES.format(runs=_runs(study), slow=SLOW),
        LOST,
        SUBSEGMENTS,
        "```sh\n" + "\n".join(dict.fromkeys(given["command"] for given in study["inputs"])) + "\n```",
        *_verdict(study, found),
    ]
    parts += [f"Left out: `{row}`: {reason}." for row, reason in study["left_out"].items()]
    parts += ["## Execution time", times(study)]
    parts.append(f"![Time of every row by input]({name}-bars.png)")
    parts.append(f"![Cavities retriangulated against time and against rounds]({name}-processed.png)")
    for given in study["inputs"]:
        mine = [line for line in found if line["input"] == given["input"]]
        share = given["bad"] / given["triangles"]
        parts.append(f"## {given['input']}: {given['triangles']:,} triangles, {share:.1%} of them bad")
        parts += [_counts(mine, names), _phases(study, mine, names), *overtakings(given)]
    return "\n\n".join(parts) + "\n"


def _verdict(study: dict[str, Any], found: Sequence[Line]) -> list[str]:
    """Which results the exact checker proved, and those that it refused."""
    if any(line["valid"] == "INVALID" for line in found):
        return [
            "**Some results are INVALID: the exact checker refused them. Their times mean nothing.**",
            *(
                f"- {given['input']}, {row['title']}: {reasons[0]}"
                for given in study["inputs"]
                for row in given["rows"]
                for reasons in row["failures"].values()
            ),
        ]
    proved, runs = sum(line["proved"] for line in found), sum(line["runs"] for line in found)
    if proved == runs:
        return [f"The exact checker proved the result of every run: {runs} in all."]
    unproved = [f"{line['input']}, {line['row']}" for line in found if not line["proved"]]
    without = f" Rows without a proof: {'; '.join(unproved)}." if unproved else ""
    return [f"The exact checker proved the results of {proved} of {runs} runs.{without}"]


def overtakings(given: dict[str, Any]) -> list[str]:
    """A sentence on figure 6.8: until when the base is ahead of each row of two stages."""
    base = _of(given, BASE)
    rows = [row for row in given["rows"] if row["marking"] in ("two-stage", "atomic")]
    if base is None or not rows:
        return []
    said = [
        f"{row['title']}: " + (f"until {1000 * last:,.0f} ms" if (last := overtaken(base, row)) else "never")
        for row in rows
    ]
    return [f"Figure 6.8 here: the base has retriangulated more cavities than these rows ({'; '.join(said)})."]


def overtaken(base: dict[str, Any], row: dict[str, Any]) -> float | None:
    """The last time in seconds at which a row's median run has retriangulated fewer cavities than the base's.

    Between the ends of rounds the counts are interpolated, as in the picture; None if it never has fewer.
    """
    curves = [_processed(one["history"]) for one in (base, row)]
    times = np.unique(np.concatenate([seconds for seconds, _ in curves]))
    lead = np.subtract(*(np.interp(times, seconds, counts) for seconds, counts in curves))
    behind = np.flatnonzero(lead > 0)
    if len(behind) == 0:
        return None
    last = int(behind[-1])
    if last + 1 == len(times):
        return float(times[last])
    a, b = lead[last], lead[last + 1]
    return float(times[last] + (times[last + 1] - times[last]) * a / (a - b))


def _processed(history: dict[str, list[float]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times of the ends of rounds in seconds, from 0, and cavities retriangulated by then."""
    counts = np.concatenate([[0.0], np.cumsum(np.array(history["inserted"], np.float64))])
    return np.array([0.0, *history["seconds"]]), counts


def titles(study: dict[str, Any]) -> dict[str, str]:
    """Titles of the study's rows, by name."""
    return {row["row"]: row["title"] for given in study["inputs"] for row in given["rows"]}


def _runs(study: dict[str, Any]) -> str:
    numbers = sorted({len(row["runs"]) for given in study["inputs"] for row in given["rows"]})
    return " or ".join(map(str, numbers)) + (" run" if numbers == [1] else " runs")


def times(study: dict[str, Any]) -> str:
    """Table of rows by inputs, as in table 6.3: milliseconds, and improvements over the base and the literal base."""
    found, names = lines(study), titles(study)
    by_place = {(line["row"], line["input"]): line for line in found}
    inputs = [given["input"] for given in study["inputs"]]
    literal = any(line["literal_percent"] is not None for line in found)
    over = ["improvement", *(["over the base as printed"] if literal else [])]
    head = ["row", *(cell for name in inputs for cell in (f"{name}, ms", *over))]
    body = []
    for row, title in names.items():
        cells = [title]
        for name in inputs:
            line = by_place.get((row, name))
            improvements = ["improvement_percent", "literal_percent"][: len(over)]
            cells += (
                ["-", *("-" for _ in over)] if line is None else [_ms(line), *(percent(line[k]) for k in improvements)]
            )
        body.append(cells)
    return aligned_table(head, body)


def _counts(found: Sequence[Line], names: dict[str, str]) -> str:
    head = [
        "row", "fastest to slowest, ms", "triangles over the default's", "rounds", "accepted",
        "conflicts lost per round", "launches per round", "children", "mean share", "largest share",
        "different meshes", "valid",
    ]  # fmt: skip
    return aligned_table(
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
                "-" if line["mean_share"] is None else f"{line['mean_share']:.2f}",
                "-" if line["largest_share"] is None else f"{line['largest_share']:,}",
                f"{line['different_meshes']} of {line['runs']}",
                line["valid"],
            ]
            for line in found
        ],
    )


def _phases(study: dict[str, Any], found: Sequence[Line], names: dict[str, str]) -> str:
    """Table of milliseconds by phase, from the profiled run, which waits for the device after each phase."""
    columns, body = phases(study), []
    for line in found:
        if line["shares"] is None:  # not profiled
            continue
        spent = [line[f"{phase}_ms"] for phase in columns]
        body.append([names[line["row"]], *(f"{ms:,.1f}" for ms in spent), f"{sum(spent):,.1f}"])
    return aligned_table(["profiled, ms", *columns, "sum"], body)


def _ms(line: Line) -> str:
    return f"{line['median_ms']:,.1f}" + (" INVALID" if line["valid"] == "INVALID" else "")


def percent(value: float | None) -> str:
    """An improvement with its sign; "-" without a reference."""
    return "-" if value is None else f"{value:,.2f}%"
