"""Writes the study of the graph engine as a page and a CSV, from its JSON record."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from math import log2
from statistics import median
from typing import Any

from scripts.lib.markdown import table
from scripts.study.components import strong
from scripts.study.components.bodies import AUTO, CASES, LETTERS, OPTIONS, Case
from static_graph.engine.loop import STRATEGIES

Record = dict[str, Any]

CHARTS = "The paper's charts (Tesla K40M; Slota, Rajamanickam, Madduri 2015) have no numbers."


def to_markdown(study: Record, pictures: Sequence[str]) -> str:
    """Page with the speed of the bodies by strategy, the effect of the options, and the template's claims."""
    about = study["machine"]
    driver = f"driver {about['driver']}, " if about["driver"] else ""
    wrong = differing(study)
    sections = [
        f"# The graph engine on {study['device']}",
        f"{about['processor']}, {about['cores']} cores; {driver}{about['compiler']}; commit {study['commit']}.",
        f"```sh\n{study['command']}\n```",
        "All strategies gave the same results." if not wrong else f"**RESULTS DIFFER:** {'; '.join(wrong)}.",
        "Times are medians, without transfers. GTEPS are 10^9 edges per second: for searches, the edges of the reached "
        "nodes; for the other bodies, the edges of the graph, however often the body examines each.",
        "## GTEPS by strategy",
        f'"auto" lets one block process rounds with few nodes alone, and sends the largest colours first. {CHARTS}',
        strategies(study),
        "## Effect of each option on the local collapse",
        f"GTEPS: the local collapse (M), with coalesced reads (C), a shared-memory queue (S) and team primitives (L) "
        f"added one by one. {CHARTS}",
        ablation(study),
        "## The template's claims",
        "The paper's template has O(log n) rounds, and frontiers whose sizes add up to O(m). Figures of the local "
        'collapse with all options, and of "auto", whose phases begin with all nodes.',
        claims(study),
        "## Strong components by step",
        "Milliseconds without transfers; the steps are those of the median run. Multistep (Slota, Rajamanickam, "
        "Madduri 2014) by balance, the default method, and a depth-first search by one thread of the CPU beside the "
        f"device. The paper's B, ML and MG are the baseline and the two collapses. {CHARTS}",
        strong.by_step(study),
    ]
    return "\n\n".join(sections) + "\n"


def to_csv(study: Record) -> str:
    """CSV with one line per graph, body and case: median milliseconds, GTEPS and counters."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    counters = ("rounds", "expanded", "examined", "launches")
    writer.writerow(["graph", "body", "strategy", "options", "ms", "gteps", *counters, "sha256"])
    for given, run in _each(study):
        options = "+".join(OPTIONS[: run["options"]])
        figures = [f"{_ms(run):.4f}", f"{_gteps(given, run):.4f}", *(run[name] for name in counters)]
        writer.writerow([given["input"], run["body"], run["strategy"], options, *figures, run["sha256"]])
    return target.getvalue()


def differing(study: Record) -> list[str]:
    """Returns the graphs and bodies whose results depend on the strategy. Colours are the same without atomics."""
    seen: dict[tuple[str, str], str] = {}
    found = []
    for given, run in _each(study):
        what = (given["input"], run["body"].partition(",")[0])
        if seen.setdefault(what, run["sha256"]) != run["sha256"]:
            found.append(f"{given['input']}: {run['body']} by {run['strategy']}")
    return [*dict.fromkeys(found), *strong.differing(study["inputs"])]


def _each(study: Record) -> Iterable[tuple[Record, Record]]:
    return ((given, run) for given in study["inputs"] for run in given["runs"])


def _ms(run: Record) -> float:
    return 1000 * float(median(run["seconds"]))


def _gteps(given: Record, run: Record) -> float:
    edges = given["edges"]
    if run["body"] in ("bfs", "sssp"):  # a breadth-first search examines the edges of each reached node once
        edges = next(each["examined"] for each in given["runs"] if each["body"] == "bfs")
    return float(edges / median(run["seconds"]) / 1e9)


def _by_body(given: Record) -> dict[str, dict[Case, Record]]:
    """The runs of a graph, by body and case."""
    found: dict[str, dict[Case, Record]] = {}
    for run in given["runs"]:
        found.setdefault(run["body"], {})[Case(run["strategy"], run["options"])] = run
    return found


def strategies(study: Record) -> str:
    """GTEPS of each body by strategy, and the speed-up of the fastest over the baseline."""
    body = []
    for given in study["inputs"]:
        for name, runs in _by_body(given).items():
            shown = [runs.get(Case(strategy)) for strategy in (*STRATEGIES, AUTO)]
            base, best = runs[Case("baseline")], min((run for run in shown if run is not None), key=_ms)
            cells = ["" if run is None else f"{_gteps(given, run):.3f}" for run in shown]
            body.append([given["input"], name, *cells, f"{_ms(base) / _ms(best):.2f} by {best['strategy']}"])
    return table(["graph", "body", *STRATEGIES, AUTO, "over the baseline"], body)


def ablation(study: Record) -> str:
    """GTEPS of each body by the local collapse, with the options added one by one."""
    body = []
    for given in study["inputs"]:
        for name, runs in _by_body(given).items():
            shown = [runs[Case("collapse-local", count)] for count in range(len(LETTERS))]
            cells = [f"{_gteps(given, run):.3f}" for run in shown]
            body.append([given["input"], name, *cells, f"{_ms(shown[0]) / _ms(shown[-1]):.2f}"])
    return table(["graph", "body", *LETTERS, f"{LETTERS[-1]} over {LETTERS[0]}"], body)


def claims(study: Record) -> str:
    """Rounds, sums of frontier sizes and edges examined, relative to the paper's template."""
    body = []
    for given in study["inputs"]:
        nodes, edges = max(given["nodes"], 2), max(given["edges"], 1)
        for name, runs in _by_body(given).items():
            for case in (CASES[2], Case(AUTO)):
                if case in runs:
                    run = runs[case]
                    shares = [f"{run[figure] / edges:.2f}" for figure in ("expanded", "examined")]
                    rounds = [f"{run['rounds']:,}", f"{run['rounds'] / log2(nodes):.1f}"]
                    body.append([given["input"], name, case.strategy, *rounds, *shares, f"{run['launches']:,}"])
    shares_of = ["sum of sizes / m", "edges examined / m"]
    return table(["graph", "body", "strategy", "rounds", "rounds / log2 n", *shares_of, "launches"], body)
