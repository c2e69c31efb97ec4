"""The study of traversals as a page of tables that sets the papers' figures beside its own, and as CSV."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from traversal_cases import ABLATION, BASE, CHUNKS, OUTLIERS, Case, ablated

from static_graph.schemes import collapse, virtual_warps

Record = dict[str, Any]

# Tables 6.1 and 6.2 of the thesis (Kepler): (graph, algorithm) -> the baseline's ms; of the split and of child launches
# the degree, ms, improvement in percent.
THESIS = {
    ("R-MAT", "bfs"): (104.96, (54, 53.76, 48.78), (169, 66.98, 36.19)),
    ("R-MAT", "sssp"): (243.81, (54, 152.88, 37.30), (169, 169.44, 30.50)),
    ("web-Stanford", "bfs"): (30.29, (8, 13.36, 55.88), (128, 25.71, 15.11)),
    ("web-Stanford", "sssp"): (34.71, (8, 17.09, 50.75), (128, 29.24, 15.76)),
}
CSV_COLUMNS = (
    "input", "algorithm", "scheme", "options", "median_ms", "best_ms", "improvement_percent", "gteps", "rounds",
    "relaxed", "launches", "figures", "agrees",
)  # fmt: skip


def median_ms(run: Record) -> float:
    """The median of a case's timed runs."""
    return 1000 * float(statistics.median(run["seconds"]))


def find(given: Record, algorithm: str, case: Case) -> Record | None:
    """The run of a case, if it was run."""
    wanted = (algorithm, case.scheme, dict(case.options))
    return next((run for run in given["runs"] if (run["algorithm"], run["scheme"], run["options"]) == wanted), None)


def of_scheme(given: Record, algorithm: str, scheme: str, **options: Any) -> list[Record]:
    """The runs of a scheme that have these options."""
    return [
        run
        for run in given["runs"]
        if (run["algorithm"], run["scheme"]) == (algorithm, scheme) and options.items() <= run["options"].items()
    ]


def improvement(base: Record, run: Record) -> float:
    """How much less time than the baseline, in percent."""
    return 100 * (1 - median_ms(run) / median_ms(base))


def gteps(given: Record, run: Record) -> float:
    """Edges of reached nodes over the time, in 10^9 a second."""
    return float(given["reached"][run["algorithm"]]["edges"] / median_ms(run) / 1e6)


def to_csv(study: Record) -> str:
    """A line a graph, algorithm and case."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for given in study["inputs"]:
        for run in given["runs"]:
            base = find(given, run["algorithm"], BASE)
            assert base is not None
            times = (f"{median_ms(run):.4f}", f"{1000 * min(run['seconds']):.4f}", f"{improvement(base, run):.2f}")
            counts = (f"{gteps(given, run):.4f}", run["rounds"], run["relaxed"], run["launches"])
            texts = (_text(run["figures"]), "yes" if run["agrees"] else "NO")
            named = (given["input"], run["algorithm"], run["scheme"], _text(run["options"]))
            writer.writerow((*named, *times, *counts, *texts))
    return target.getvalue()


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """The page: what was run, every table that something was run for, and the pictures (file names)."""
    parts = [_head(study)]
    for title, words, table in (
        ("Node splitting (table 6.1)", SPLIT_WORDS, _splitting),
        ("Child launches (table 6.2)", CHILD_WORDS, _children),
        ("Atomic relaxation (figure 6.6)", ATOMIC_WORDS, _atomic),
        ("Virtual warps", WIDTH_WORDS, _widths),
        ("Chunks from a work queue, and outliers", CHUNK_WORDS, _chunks),
        ("Expanded and collapsed loops", COLLAPSE_WORDS, _strategies),
        ("What each option adds to the local collapse", ABLATION_WORDS, _ablation),
        ("The best of each scheme", GAIN_WORDS, _gains),
        ("Searches from many sources", SEARCH_WORDS, _searches),
        ("Blocks of a round (figure 6.5)", TIMELINE_WORDS, _timeline),
    ):
        found = table(study)
        if found:
            parts.append(f"## {title}\n\n{words}\n\n{found}")
    parts += [f"![{name}]({name})" for name in pictures]
    return "\n\n".join(parts) + "\n"


SPLIT_WORDS = (
    "The baseline and the split without atomics, as in the thesis: a thread a node, every node in every round. *Best* "
    "is the fastest MDA of the sweep, *histogram* the one that section 4.2.1 chooses. In brackets, for the graphs that "
    "the thesis has, its figures for Kepler."
)
CHILD_WORDS = "Of the thresholds of the sweep the fastest. A round has 2,048 children at most; others are *in place*."
ATOMIC_WORDS = "What the atomic minimum gains over plain stores (the thesis has 2 to 6%)."
WIDTH_WORDS = (
    "Median ms by the lanes of a virtual warp, and how many times faster than one lane a node the fastest one is "
    "(Hong et al. report up to 9 times)."
)
CHUNK_WORDS = "Median ms with dynamic distribution by the chunk, and with nodes of more edges deferred (chunks of 64)."
COLLAPSE_WORDS = "GTEPS: edges of reached nodes over the time, in 10^9 a second (Slota et al.)."
ABLATION_WORDS = "GTEPS: the local collapse (M), then coalesced (C), a shared queue (S) and team primitives (L) added."
GAIN_WORDS = "The fastest case of each scheme, and how much less time than the fixed-point baseline it takes."
SEARCH_WORDS = (
    "GTEPS, the mean of up to 16 sources that reach at least half of what the graph's own source reaches (and the "
    "lowest and the highest)."
)
TIMELINE_WORDS = "The round of the search that took longest: how long its blocks lasted."


def _head(study: Record) -> str:
    machine = study["machine"]
    where = f"{study['device']}; {machine['processor']}, {machine['cores']} cores; commit {study['commit']}"
    rows = [
        (
            given["input"], f"{given['nodes']:,}", f"{given['edges']:,}", given["largest_degree"],
            given["automatic_mda"], given["source"], f"{_reached(given):,}",
        )
        for given in study["inputs"]
    ]  # fmt: skip
    wrong = [
        f"{given['input']}: {run['algorithm']}, {run['scheme']} {_text(run['options'])}"
        for given in study["inputs"]
        for run in given["runs"]
        if not run["agrees"]
    ]
    verdict = "All schemes gave the same distances." if not wrong else "DISTANCES DIFFER: " + "; ".join(wrong)
    header = ("graph", "nodes", "edges", "largest degree", "histogram's MDA", "source", "edges reached")
    return f"# Traversals: {study['name']}\n\n{where}. {verdict}\n\n{_table(header, rows)}"


def _reached(given: Record) -> int:
    return max((found["edges"] for found in given["reached"].values()), default=0)


def _each(study: Record) -> Iterable[tuple[Record, str, Record]]:
    """Every graph and algorithm, with the baseline's run."""
    for given in study["inputs"]:
        for algorithm in given["reached"]:
            base = find(given, algorithm, BASE)
            if base is not None:
                yield given, algorithm, base


def _published(given: Record, algorithm: str) -> tuple[float, Any, Any] | None:
    graph = {"rmat-thesis": "R-MAT", "web-Stanford": "web-Stanford"}.get(given["input"])
    return None if graph is None else THESIS[graph, algorithm]


def _splitting(study: Record) -> str:
    rows = []
    for given, algorithm, base in _each(study):
        runs = of_scheme(given, algorithm, "split", atomic=False)
        if not runs:
            continue
        best, published = min(runs, key=median_ms), _published(given, algorithm)
        chosen = next(run for run in runs if run["options"]["mda"] == given["automatic_mda"])
        theirs = ("", "", "") if published is None else (f" [{published[0]}]", *(f" [{x}]" for x in published[1][1:]))
        mda = "" if published is None else f" [{published[1][0]}]"
        rows.append(
            (
                given["input"], algorithm, f"{median_ms(base):.2f}{theirs[0]}", f"{best['options']['mda']}{mda}",
                f"{best['figures']['extra_nodes']:,}", f"{median_ms(best):.2f}{theirs[1]}",
                f"{improvement(base, best):.1f}%{theirs[2]}", chosen["options"]["mda"],
                f"{improvement(base, chosen):.1f}%",
            )
        )  # fmt: skip
    header = (
        "graph", "search", "baseline ms", "best MDA", "extra nodes", "split ms", "improvement", "histogram's MDA",
        "improvement",
    )  # fmt: skip
    return _table(header, rows)


def _children(study: Record) -> str:
    rows = []
    for given, algorithm, base in _each(study):
        runs = of_scheme(given, algorithm, "child-launch")
        if not runs:
            continue
        best, published = min(runs, key=median_ms), _published(given, algorithm)
        theirs = ("", "", "") if published is None else tuple(f" [{x}]" for x in published[2])
        rows.append(
            (
                given["input"], algorithm, f"{best['options']['threshold']}{theirs[0]}",
                f"{best['figures']['children']:,}", f"{best['figures']['in_place']:,}",
                f"{median_ms(best):.2f}{theirs[1]}", f"{improvement(base, best):.1f}%{theirs[2]}",
            )
        )  # fmt: skip
    return _table(("graph", "search", "threshold", "children", "in place", "ms", "improvement"), rows)


def _atomic(study: Record) -> str:
    rows = []
    for given, algorithm, base in _each(study):
        plain = of_scheme(given, algorithm, "split", atomic=False)
        with_atomics = find(given, algorithm, Case("none"))
        if not plain or with_atomics is None:
            continue
        best = min(plain, key=median_ms)
        same = find(given, algorithm, Case("split", {**best["options"], "atomic": True}))
        assert same is not None
        rows.append(
            (
                given["input"], algorithm, f"{improvement(base, with_atomics):.1f}%",
                f"{base['rounds']} / {with_atomics['rounds']}", best["options"]["mda"],
                f"{improvement(best, same):.1f}%", f"{best['rounds']} / {same['rounds']}",
            )
        )  # fmt: skip
    header = ("graph", "search", "over the baseline", "rounds", "MDA", "over the split", "rounds")
    return _table(header, rows)


def _widths(study: Record) -> str:
    def row(given: Record, algorithm: str) -> list[Record | None]:
        return [find(given, algorithm, Case("warp", {"warp_size": width})) for width in virtual_warps.WIDTHS]

    def gain(runs: Sequence[Record]) -> str:
        best = min(runs, key=median_ms)
        return f"{median_ms(runs[0]) / median_ms(best):.2f} at {best['options']['warp_size']}"

    return _sweep(study, row, [str(width) for width in virtual_warps.WIDTHS], _ms, ("gain", gain))


def _chunks(study: Record) -> str:
    wanted = {
        f"{width} lanes, chunk {chunk}": Case("warp", {"warp_size": width, "chunk": chunk})
        for width in (8, 32)
        for chunk in CHUNKS
    } | {
        f"{width} lanes, over {many}": Case("warp", {"warp_size": width, "chunk": 64, "defer": many})
        for width in (8, 32)
        for many in OUTLIERS
    }
    return _sweep(study, lambda given, algorithm: [find(given, algorithm, c) for c in wanted.values()], [*wanted], _ms)


def _strategies(study: Record) -> str:
    wanted = [Case("collapse", {"strategy": strategy}) for strategy in collapse.STRATEGIES]
    return _sweep(study, lambda given, name: [find(given, name, c) for c in wanted], [*collapse.STRATEGIES], gteps)


def _ablation(study: Record) -> str:
    wanted = [ablated(count) for count in range(len(ABLATION) + 1)]
    return _sweep(study, lambda given, name: [find(given, name, c) for c in wanted], ["M", "MC", "MCS", "MCSL"], gteps)


def _gains(study: Record) -> str:
    rows = []
    for given, algorithm, base in _each(study):
        for scheme in dict.fromkeys(run["scheme"] for run in given["runs"]):
            best = min(of_scheme(given, algorithm, scheme), key=median_ms)
            over = f"{improvement(base, best):.1f}%"
            time, speed = f"{median_ms(best):.3f}", f"{gteps(given, best):.3f}"
            rows.append((given["input"], algorithm, scheme, _text(best["options"]), time, over, speed))
    return _table(("graph", "search", "scheme", "options", "ms", "less than the baseline", "GTEPS"), rows)


def _searches(study: Record) -> str:
    rows = [
        (
            given["input"], run["algorithm"], run["scheme"], _text(run["options"]), len(run["gteps"]),
            f"{statistics.fmean(run['gteps']):.3f}", f"{min(run['gteps']):.3f} to {max(run['gteps']):.3f}",
        )
        for given in study["inputs"]
        for run in given.get("gteps", [])
        if run["gteps"]
    ]  # fmt: skip
    return _table(("graph", "search", "scheme", "options", "sources", "GTEPS", "range"), rows)


def _timeline(study: Record) -> str:
    rows = [
        (
            given["input"], name, found["round"], f"{found['nanoseconds'] / 1e3:.1f}", f"{found['blocks']:,}",
            f"{found['block_nanoseconds']['mean'] / 1e3:.2f}", f"{found['block_nanoseconds']['largest'] / 1e3:.1f}",
        )
        for given in study["inputs"]
        for name, found in given.get("timeline", {}).items()
    ]  # fmt: skip
    return _table(("graph", "scheme", "round", "us", "blocks", "mean block, us", "largest block, us"), rows)


def _ms(_given: Record, run: Record) -> float:
    return median_ms(run)


def _sweep(
    study: Record,
    row: Callable[[Record, str], list[Record | None]],
    columns: Sequence[str],
    figure: Callable[[Record, Record], float],
    last: tuple[str, Callable[[Sequence[Record]], str]] | None = None,
) -> str:
    """A table with a figure of each run of a sweep; graphs of which some run is missing are left out."""
    rows = []
    for given, algorithm, _ in _each(study):
        runs = [run for run in row(given, algorithm) if run is not None]
        if len(runs) == len(columns):
            figures = [f"{figure(given, run):.3f}" for run in runs]
            rows.append((given["input"], algorithm, *figures, *([last[1](runs)] if last else [])))
    return _table(("graph", "search", *columns, *([last[0]] if last else [])), rows)


def _text(values: Record) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown, or nothing where it would have no rows."""
    if not rows:
        return ""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
