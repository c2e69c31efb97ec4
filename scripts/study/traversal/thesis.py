"""Tables of the study for comparison with the thesis (Vivek K, 2013), whose figures are in brackets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scripts.lib.markdown import table
from scripts.study.traversal.cases import Case
from scripts.study.traversal.papers import ATOMIC_GAIN, FERMI_IMPROVEMENT, THESIS_GRAPHS, THESIS_SEARCHES, like
from scripts.study.traversal.records import Record, each_search, find, improvement, median_ms, of_scheme
from static_graph.graph.degrees import Counts, split_distribution

SPLIT_HEAD = (
    "graph", "search", "baseline ms", "thesis' MDA", "ms", "less", "fastest MDA", "ms", "less", "histogram's MDA",
    "less",
)  # fmt: skip
CHILDREN_HEAD = (
    "graph", "search", "thesis' threshold", "children", "in place", "ms", "less", "fastest threshold", "ms", "less",
    "less without a child",
)  # fmt: skip


def degrees(study: Record) -> str:
    """Figures 4.2, 4.3 and 6.1 in numbers: the largest degree, extra nodes and the histogram's level."""
    rows = []
    for given in study["inputs"]:
        if not given.get("degrees"):
            continue
        theirs, mda = THESIS_GRAPHS.get(given["input"]), like(given["input"]).mda
        before = distribution(given)
        extra = int(split_distribution(before, mda).sum() - before.sum())
        published = ("", "", "")
        if theirs is not None:
            numbers = (theirs.largest_degree, theirs.extra_nodes, theirs.histogram_mda)
            published = tuple(f" [{number:,}]" for number in numbers)  # type: ignore[assignment]
        rows.append(
            (
                given["input"], f"{given['nodes']:,}", f"{given['edges']:,}",
                f"{given['largest_degree']:,}{published[0]}", mda, f"{extra:,}{published[1]}",
                f"{given['automatic_mda']}{published[2]}",
            )
        )  # fmt: skip
    return table(("graph", "nodes", "edges", "largest degree", "MDA", "extra nodes", "histogram's MDA"), rows)


def distribution(given: Record) -> Counts:
    """Number of nodes by degree, from the pairs in the record."""
    pairs = np.array(given["degrees"], np.int64)
    found = np.zeros(int(pairs[-1, 0]) + 1, np.int64)
    found[pairs[:, 0]] = pairs[:, 1]
    return found


def splitting(study: Record) -> str:
    """Table 6.1 and section 6.2.2: the thesis' level, the fastest one, and the histogram's."""
    rows = []
    for given, algorithm, base in each_search(study):
        runs = of_scheme(given, algorithm, "split", atomic=False)
        if not runs:
            continue
        graph, theirs = like(given["input"]), THESIS_SEARCHES.get((given["input"], algorithm))
        own, best = _with(runs, "mda", graph.mda), min(runs, key=median_ms)
        chosen = _with(runs, "mda", given["automatic_mda"])
        histogram = "" if theirs is None else graph.histogram_improvement
        rows.append(
            (
                given["input"], algorithm, _beside(f"{median_ms(base):.2f}", theirs and theirs.baseline),
                graph.mda, _beside(f"{median_ms(own):.2f}", theirs and theirs.split),
                _beside(_less(base, own), theirs and f"{theirs.split_improvement}%"),
                best["options"]["mda"], f"{median_ms(best):.2f}", _less(base, best), given["automatic_mda"],
                _beside(_less(base, chosen), histogram and f"{histogram}%"),
            )
        )  # fmt: skip
    return table(SPLIT_HEAD, rows)


def children(study: Record) -> str:
    """Table 6.2: the thesis' threshold, the fastest one, and the cost of the device runtime without child launches."""
    rows = []
    for given, algorithm, base in each_search(study):
        runs = of_scheme(given, algorithm, "child-launch")
        if not runs:
            continue
        graph, theirs = like(given["input"]), THESIS_SEARCHES.get((given["input"], algorithm))
        own, best = _with(runs, "threshold", graph.threshold), min(runs, key=median_ms)
        none = [run for run in runs if run["options"]["threshold"] >= given["largest_degree"]]
        figures = own["figures"]
        rows.append(
            (
                given["input"], algorithm, graph.threshold, f"{figures['children']:,}", f"{figures['in_place']:,}",
                _beside(f"{median_ms(own):.2f}", theirs and theirs.children),
                _beside(_less(base, own), theirs and f"{theirs.children_improvement}%"),
                best["options"]["threshold"], f"{median_ms(best):.2f}", _less(base, best),
                _less(base, min(none, key=median_ms)) if none else "",
            )
        )  # fmt: skip
    return table(CHILDREN_HEAD, rows)


def curves(study: Record) -> str:
    """Figures 6.2 and 6.3 in numbers, one table per graph: ms by the maximum degree allowed, or the threshold."""
    tables = []
    for given in study["inputs"]:
        schemes: tuple[tuple[str, str, dict[str, bool], str], ...] = (
            ("split", "mda", {"atomic": False}, "split"),
            ("split", "mda", {"atomic": True}, "split, atomic"),
            ("child-launch", "threshold", {}, "child launches"),
        )
        lines = {
            (algorithm, title): {run["options"][option]: run for run in of_scheme(given, algorithm, scheme, **more)}
            for algorithm in given["reached"]
            for scheme, option, more, title in schemes
        }
        swept = sorted({mda for line in lines.values() for mda in line})
        rows = [
            (algorithm, title, *(f"{median_ms(line[mda]):.2f}" if mda in line else "" for mda in swept))
            for (algorithm, title), line in lines.items()
            if line
        ]
        if rows:
            tables.append(f"{given['input']}:\n\n" + table(("search", "scheme", *map(str, swept)), rows))
    return "\n\n".join(tables)


def atomic(study: Record) -> str:
    """Figure 6.6: improvement of atomic relaxation over plain stores."""
    rows = []
    for given, algorithm, base in each_search(study):
        plain = of_scheme(given, algorithm, "split", atomic=False)
        with_atomics = find(given, algorithm, Case("none"))
        if not plain or with_atomics is None:
            continue
        own = _with(plain, "mda", like(given["input"]).mda)
        same = find(given, algorithm, Case("split", {**own["options"], "atomic": True}))
        assert same is not None
        rows.append(
            (
                given["input"], algorithm, _less(base, with_atomics), f"{base['rounds']} / {with_atomics['rounds']}",
                own["options"]["mda"], _less(own, same), f"{own['rounds']} / {same['rounds']}",
            )
        )  # fmt: skip
    header = ("graph", "search", "over the baseline", "rounds", "MDA", "over the split", "rounds")
    return table(header, rows)


def timeline(study: Record) -> str:
    """Figure 6.5 in numbers: durations of the blocks of a round, and when the multiprocessors end."""
    rows = [
        (
            given["input"], name, found["round"], f"{found['nanoseconds'] / 1e3:.1f}", f"{found['blocks']:,}",
            f"{found['block_nanoseconds']['mean'] / 1e3:.2f}", f"{found['block_nanoseconds']['largest'] / 1e3:.1f}",
            f"{found['block_nanoseconds']['largest'] / max(found['block_nanoseconds']['mean'], 1):.1f}",
            len(set(found["processor"])),
            *(f"{found['processor_ends'][which] / 1e3:.1f}" for which in ("first", "mean", "last")),
        )
        for given in study["inputs"]
        for name, found in given.get("timeline", {}).items()
    ]  # fmt: skip
    header = (
        "graph", "scheme", "round", "us", "blocks", "mean block, us", "largest block, us", "largest over mean",
        "multiprocessors", "first ends, us", "mean", "last",
    )  # fmt: skip
    return table(header, rows)


# ---- Summaries in a sentence -------------------------------------------------------------------------------------


def splitting_says(study: Record) -> str:
    """States the ranges of improvement by splitting, here and in the thesis."""
    found = _gains(study, lambda given, name: of_scheme(given, name, "split", atomic=False))
    theirs = [row.split_improvement for row in THESIS_SEARCHES.values()]
    fermi = " and ".join(f"{percent}% ({name})" for name, percent in FERMI_IMPROVEMENT.items())
    return (
        f"At its fastest level the split takes {_range(found)} less time than the baseline here, and "
        f"{_range(theirs)} less in the thesis on Kepler; on Fermi, R-MAT, {fermi} (section 6.2.1)."
    )


def children_say(study: Record) -> str:
    """States the same for child launches, and which of the two is faster."""
    found = _gains(study, lambda given, name: of_scheme(given, name, "child-launch"))
    theirs = [row.children_improvement for row in THESIS_SEARCHES.values()]
    pairs = [
        (of_scheme(given, name, "split", atomic=False), of_scheme(given, name, "child-launch"))
        for given, name, _ in each_search(study)
    ]
    both = [(split, child) for split, child in pairs if split and child]
    slower = sum(median_ms(min(split, key=median_ms)) < median_ms(min(child, key=median_ms)) for split, child in both)
    return (
        f"At their fastest threshold child launches take {_range(found)} less time than the baseline here, and "
        f"{_range(theirs)} less in the thesis. The split beats them in {slower} of {len(both)} searches here, in 4 of "
        "4 there."
    )


def atomic_says(study: Record) -> str:
    """States the improvement of atomics over the split at all levels of the sweep."""
    found = [gain for given, name, _ in each_search(study) for _, gain in atomic_gains(given, name)]
    faster = sum(gain > 0 for gain in found)
    return (
        f"Over all levels of the sweep atomics take from {min(found):.0f}% to {max(found):.0f}% less time than plain "
        f"stores (negative: more time), and are faster at {faster} of {len(found)}; in the thesis they save "
        f"{ATOMIC_GAIN[0]:.0f} to {ATOMIC_GAIN[1]:.0f}%, at a level that it does not state."
    )


def atomic_gains(given: Record, algorithm: str) -> list[tuple[float, float]]:
    """Maximum degree allowed, and the percentage of time that atomics save over plain stores at that level."""
    found = []
    for run in of_scheme(given, algorithm, "split", atomic=False):
        same = find(given, algorithm, Case("split", {**run["options"], "atomic": True}))
        if same is not None:
            found.append((run["options"]["mda"], improvement(run, same)))
    return found


def _gains(study: Record, runs_of: Callable[[Record, str], Sequence[Record]]) -> list[float]:
    """Improvement of the fastest run, for each search that has runs."""
    return [
        improvement(base, min(runs, key=median_ms))
        for given, algorithm, base in each_search(study)
        if (runs := runs_of(given, algorithm))
    ]


def _range(percents: Sequence[float]) -> str:
    return f"{min(percents):.0f}% to {max(percents):.0f}%"


def _less(base: Record, run: Record) -> str:
    return f"{improvement(base, run):.1f}%"


def _with(runs: Sequence[Record], option: str, value: int) -> Record:
    return next(run for run in runs if run["options"][option] == value)


def _beside(ours: str, theirs: object) -> str:
    """A figure, with the paper's in brackets if it has one."""
    return f"{ours} [{theirs}]" if theirs else ours
