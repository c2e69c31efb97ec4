"""Tables of the study for comparison with Hong et al. (maximum warp) and Slota et al. (graphs on manycores)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from scripts.lib.markdown import table
from scripts.study.traversal.cases import ABLATION, CHUNKS, OUTLIERS, SWEPT_WIDTHS, Case, ablated
from scripts.study.traversal.papers import MOST_BY_WARPS, OVER_CPU
from scripts.study.traversal.records import (
    Record,
    each_search,
    find,
    gteps,
    improvement,
    median_ms,
    of_scheme,
    text_of,
)
from static_graph.engine import loop
from static_graph.traversal.schemes import virtual_warps

WIDTHS = [Case("warp", {"warp_size": width}) for width in virtual_warps.WIDTHS]
STRATEGIES = [Case("collapse", {"strategy": strategy}) for strategy in loop.STRATEGIES]
ABLATED = [ablated(count) for count in range(len(ABLATION) + 1)]
ABLATED_NAMES = ("M", "MC", "MCS", "MCSL")


def over_cpu(study: Record) -> str:
    """Speed-ups over one CPU thread on random and R-MAT graphs: one thread per node, best virtual warp, default."""
    rows = []
    for given in study["inputs"]:
        one_lane, fastest = find(given, "bfs", WIDTHS[0]), find(given, "bfs", Case("auto"))
        if one_lane is None or fastest is None or "cpu_seconds" not in given:
            continue
        cpu, best = 1000 * given["cpu_seconds"], min(of_scheme(given, "bfs", "warp"), key=median_ms)
        theirs = f" [{OVER_CPU[given['input']]}]" if given["input"] in OVER_CPU else ""
        rows.append(
            (
                given["input"], f"{cpu:.1f}", f"{cpu / median_ms(one_lane):.1f}{theirs}", text_of(best["options"]),
                f"{cpu / median_ms(best):.1f}", f"{cpu / median_ms(fastest):.1f}",
            )
        )  # fmt: skip
    return table(("graph", "scipy, ms", "one thread per node", "fastest virtual warps", "", "default"), rows)


def widths(study: Record) -> str:
    """Median ms by the lanes of a virtual warp."""

    def gain(runs: Sequence[Record]) -> str:
        best = min(runs, key=median_ms)
        return f"{median_ms(runs[0]) / median_ms(best):.2f} at {best['options']['warp_size']}"

    return _sweep(study, WIDTHS, [str(width) for width in virtual_warps.WIDTHS], _ms, ("gain", gain))


def warps_say(study: Record) -> str:
    """States the speed-up of the fastest case over one thread per node."""
    found = []
    for given, algorithm, _ in each_search(study):
        one_lane, runs = find(given, algorithm, WIDTHS[0]), of_scheme(given, algorithm, "warp")
        if one_lane is not None:
            best = min(runs, key=median_ms)
            found.append((median_ms(one_lane) / median_ms(best), f"{given['input']}, {algorithm}"))
    most, where = max(found)
    return (
        f"With chunks and deferred outliers the fastest virtual warps are {min(found)[0]:.1f} to {most:.1f} times as "
        f"fast as one lane per node here (most on {where}); up to {MOST_BY_WARPS:.0f} times in the paper."
    )


def chunks(study: Record) -> str:
    """Median ms by the size of a chunk."""
    wanted = [Case("warp", {"warp_size": width, "chunk": chunk}) for width in SWEPT_WIDTHS for chunk in CHUNKS]
    names = [f"{width} lanes, {chunk}" for width in SWEPT_WIDTHS for chunk in CHUNKS]
    return _sweep(study, wanted, names, _ms)


def outliers(study: Record) -> str:
    """Median ms by the degree above which a node is deferred to whole blocks, in chunks of 64."""
    rows, names = [], []
    for width in SWEPT_WIDTHS:
        rows.append(Case("warp", {"warp_size": width, "chunk": 64}))
        rows += [Case("warp", {"warp_size": width, "chunk": 64, "defer": many}) for many in OUTLIERS]
        names += [f"{width} lanes, none", *(f"over {many}" for many in OUTLIERS)]
    return _sweep(study, rows, names, _ms)


def strategies(study: Record) -> str:
    """GTEPS by loop strategy."""

    def gain(runs: Sequence[Record]) -> str:
        best = min(runs, key=median_ms)
        return f"{median_ms(runs[0]) / median_ms(best):.2f} by {best['options']['strategy']}"

    return _sweep(study, STRATEGIES, [*loop.STRATEGIES], gteps, ("over the baseline", gain))


def ablation(study: Record) -> str:
    """GTEPS of the local collapse as its options are added."""

    def gain(runs: Sequence[Record]) -> str:
        return f"{median_ms(runs[0]) / median_ms(runs[-1]):.2f}"

    return _sweep(study, ABLATED, ABLATED_NAMES, gteps, ("MCSL over M", gain))


def gains(study: Record) -> str:
    """The fastest case of each scheme over the fixed-point baseline."""
    rows = []
    for given, algorithm, base in each_search(study):
        mine = [run for run in given["runs"] if run["algorithm"] == algorithm]
        for balance in dict.fromkeys(map(_balance, mine)):
            best = min((run for run in mine if _balance(run) == balance), key=median_ms)
            over = f"{improvement(base, best):.1f}%"
            time, speed = f"{median_ms(best):.3f}", f"{gteps(given, best):.3f}"
            options = {name: value for name, value in best["options"].items() if name != "strategy"}
            rows.append((given["input"], algorithm, balance, text_of(options), time, over, speed))
    return table(("graph", "search", "scheme", "options", "ms", "less than the baseline", "GTEPS"), rows)


def by_scheme(study: Record) -> str:
    """Time saved over the fixed-point baseline by the fastest case of each scheme, one row per search."""
    found = [
        (given, algorithm, base, [run for run in given["runs"] if run["algorithm"] == algorithm])
        for given, algorithm, base in each_search(study)
    ]
    schemes = list(dict.fromkeys(_balance(run) for *_, runs in found for run in runs if _balance(run) != "none"))
    rows = []
    for given, algorithm, base, runs in found:
        best = {_balance(run): run for run in sorted(runs, key=median_ms, reverse=True)}
        saved = (f"{improvement(base, best[name]):.1f}%" if name in best else "" for name in schemes)
        rows.append((f"{given['input']}, {algorithm}", *saved))
    return table(("", *schemes), rows, right=True)


def searches_by_graph(study: Record) -> str:
    """Mean GTEPS from many sources, BFS and SSSP, one row per graph and one column per scheme."""
    rows: list[tuple[str, ...]] = []
    schemes: list[str] = []
    for given in study["inputs"]:
        means: dict[str, list[str]] = {}
        for run in given.get("gteps", []):
            means.setdefault(_searched(run), []).append(f"{statistics.fmean(run['gteps']):.3g}")
        schemes = schemes or list(means)
        size = f"{given['nodes']:,} nodes, {given['edges']:,} edges"
        rows += [(f"{given['input']}, {size}", *(", ".join(means[name]) for name in schemes))] if means else []
    return table(("GTEPS: bfs, sssp", *schemes), rows, right=True)


def _searched(run: Record) -> str:
    """Name of a case of many searches."""
    lanes = run["options"].get("warp_size")
    return f"{lanes} lanes" if lanes else _balance(run)


def _balance(run: Record) -> str:
    """Name of a run's balance in `bfs` and `sssp`; the collapse strategies share a module with their baseline."""
    strategy = run["options"].get("strategy", run["scheme"])
    return "queue alone" if strategy == "baseline" else str(strategy)


def searches(study: Record) -> str:
    """GTEPS from many sources."""
    rows = [
        (
            given["input"], f"{given['nodes']:,}", f"{given['edges']:,}", run["algorithm"], run["scheme"],
            text_of(run["options"]), len(run["gteps"]), f"{statistics.fmean(run['gteps']):.3f}",
            f"{min(run['gteps']):.3f} to {max(run['gteps']):.3f}",
        )
        for given in study["inputs"]
        for run in given.get("gteps", [])
        if run["gteps"]
    ]  # fmt: skip
    header = ("graph", "nodes", "edges", "search", "scheme", "options", "sources", "GTEPS", "range")
    return table(header, rows)


def _ms(_given: Record, run: Record) -> float:
    return median_ms(run)


def _sweep(
    study: Record,
    wanted: Sequence[Case],
    columns: Sequence[str],
    figure: Callable[[Record, Record], float],
    last: tuple[str, Callable[[Sequence[Record]], str]] | None = None,
) -> str:
    """Table with one figure per run of a sweep; graphs with missing runs are left out."""
    rows = []
    for given, algorithm, _ in each_search(study):
        runs = [run for run in (find(given, algorithm, case) for case in wanted) if run is not None]
        if len(runs) == len(columns):
            figures = [f"{figure(given, run):.3f}" for run in runs]
            rows.append((given["input"], algorithm, *figures, *([last[1](runs)] if last else [])))
    return table(("graph", "search", *columns, *([last[0]] if last else [])), rows)
