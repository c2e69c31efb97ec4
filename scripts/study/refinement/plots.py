"""Pictures of the study: bars of the rows by input, and cavities retriangulated against time and rounds.

They are drawn from the JSON record and need only matplotlib.
"""

from __future__ import annotations

import io
import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from scripts.study.refinement.rows import BASE, DEFAULT, HOST_DRIVEN, LITERAL
from scripts.study.refinement.tables import Line, lines, titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY = "#1b2430", "#8a929c"
# Okabe and Ito's palette, distinguishable with colour-vision deficiency; grey replaces their yellow, too pale for a
# line. Dashes and one broad line keep coinciding lines visible.
STYLES = {
    BASE: ("#000000", "-", 1.6),
    LITERAL: ("#999933", "-", 1.6),
    "base-barrier": ("#8a929c", (0, (1, 1)), 2.0),
    "atomic": ("#E69F00", "-", 3.2),
    "two-stage": ("#0072B2", "-", 1.6),
    "work-stealing": ("#56B4E9", (0, (4, 1.5)), 1.6),
    "child-launch": ("#D55E00", "-", 1.6),
    "child-launch-per-cavity": ("#CC79A7", (0, (4, 1.5)), 1.6),
    HOST_DRIVEN: ("#009E73", (0, (4, 1.5)), 1.6),
    DEFAULT: ("#009E73", "-", 1.6),
}
OTHER = (GREY, "-", 1.6)
MIDDLE_INPUT = "thesis-1.1m"  # input of figure 6.8
# A bar longer than this multiple of the base's time is cut off; its label states the time.
LONGEST_BAR = 2.0
LONGEST_LINE = 5.0  # likewise for a line, as a multiple of the median of all
INCHES, DOTS = 9.0, 200  # width and resolution; the type size equals that of a 900-pixel page at half the resolution


def bars(study: dict[str, Any]) -> bytes:
    """PNG with one panel per input and one bar per row for its median time, labelled with time and improvement."""
    found = lines(study)
    names = titles(study)
    inputs = study["inputs"]
    figure, panels = _panels(len(inputs), 0.9 + 0.36 * len(names))
    for given, panel in zip(inputs, panels, strict=True):
        mine = {line["row"]: line for line in found if line["input"] == given["input"]}
        _draw_bars(panel, list(names), mine, margin=0.1 + 0.22 * len(inputs))
        panel.set_title(f"{given['input']}\n{given['triangles']:,} triangles", fontsize=9, color=INK)
    panels[0].set_yticks(range(len(names)), list(names.values()))
    panels[0].tick_params(axis="y", length=0, labelsize=9, labelcolor=INK)
    return _png(figure)


def _draw_bars(panel: Axes, names: Sequence[str], mine: dict[str, Line], margin: float) -> None:
    """Draws one panel; `margin` is the space for labels beside the longest bar, in lengths of that bar."""
    shown = [line["median_ms"] for line in mine.values()]
    base = mine.get(BASE)
    limit = max(shown) if base is None else min(max(shown), LONGEST_BAR * base["median_ms"])
    for place, name in enumerate(names):
        line = mine.get(name)
        if line is None:
            panel.text(0.02 * limit, place, "not run", va="center", fontsize=8, color=GREY)
            continue
        length = min(line["median_ms"], limit)
        cut, invalid = line["median_ms"] > limit, line["valid"] == "INVALID"
        panel.barh(
            place,
            length,
            0.68,
            color="white" if invalid else STYLES.get(name, OTHER)[0],
            edgecolor=INK if invalid else "none",
            hatch="////" if invalid else None,
        )
        if cut:  # a white gap before the end marks a bar that is cut off
            panel.barh(place, 0.015 * limit, 0.8, left=0.93 * limit, color="white")
        panel.text(length + 0.02 * limit, place, _label(line), va="center", fontsize=8, color=INK)
    panel.set_xlim(0, (1 + margin) * limit)
    panel.set_ylim(len(names) - 0.45, -0.55)
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[["top", "right", "bottom"]].set_visible(False)
    panel.spines["left"].set_color(GREY)


def _label(line: Line) -> str:
    """Label of a bar: time and improvement."""
    ms, improvement = line["median_ms"], line["improvement_percent"]
    time = f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.1f} ms"
    if line["valid"] == "INVALID":
        return f"{time}, INVALID"
    if improvement is None or line["row"] == BASE:
        return time
    over = 1 - improvement / 100  # the base's time is 1
    return f"{time}  {over:.1f} times" if over >= LONGEST_BAR else f"{time}  {round(100 * over - 100):+d}%"


def processed(study: dict[str, Any], name: str | None = None) -> bytes:
    """PNG with the cumulative count of retriangulated cavities against time and rounds, one line per row's median run.

    Args:
        study: the JSON record.
        name: the input; by default the thesis' 1.1 M, or the middle one of those that ran.
    """
    given = _middle_input(study, name)
    figure, panels = _panels(2, 4.4)
    by_time, by_round = panels
    markings, most = set(), 0.0
    ends_by_time, ends_by_round = {}, {}
    for row in given["rows"]:
        history = row["history"]
        total = [0.0, *(done / 1000 for done in accumulate(history["inserted"]))]
        colour, dashes, width = STYLES.get(row["row"], OTHER)
        title = row["title"] + (" INVALID" if row["valid"] is False else "")
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": width, "label": title}
        end: dict[str, Any] = {"color": colour, "markersize": 4.5, "zorder": 3}
        time = [0.0, *(1000 * seconds for seconds in history["seconds"])]
        ends_by_time[title], ends_by_round[title] = time[-1], len(total) - 1
        by_time.plot(time, total, **style)
        by_time.plot(time[-1], total[-1], "o", **end)
        if row["marking"] not in markings:  # the distribution of checks does not affect rounds
            markings.add(row["marking"])
            by_round.plot(range(len(total)), total, **style)
            by_round.plot(len(total) - 1, total[-1], "o", **end)
        most = max(most, *total)
    by_time.set_ylabel(f"cavities retriangulated,\nthousands ({given['input']})")
    _set_range(by_time, ends_by_time)
    _set_range(by_round, ends_by_round)
    by_time.set_xlabel("time, ms")
    by_round.set_xlabel("rounds, one line per marking")
    for panel in panels:
        panel.set_ylim(0, 1.06 * most or 1)  # nothing may have been inserted
        panel.grid(color="#e3e6ea", linewidth=0.7)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=8.5)
    by_round.set_yticklabels([])
    handles, labels = by_time.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5, handlelength=2.6)
    return _png(figure)


def _set_range(panel: Axes, ends: Mapping[str, float]) -> None:
    """Sets the range of times or rounds. A line far longer than most is cut off, with a note of its end."""
    far = LONGEST_LINE * statistics.median(ends.values())
    panel.set_xlim(0, 1.04 * max(end for end in ends.values() if end <= far) or 1)
    beyond = [f"{title}: ends at {end:,.0f}" for title, end in ends.items() if end > far]
    if beyond:
        panel.annotate(
            "\n".join(beyond),
            (0.98, 0.16),
            xycoords="axes fraction",
            ha="right",
            fontsize=8,
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
        )


def _middle_input(study: dict[str, Any], name: str | None) -> dict[str, Any]:
    by_size = sorted(study["inputs"], key=lambda given: given["triangles"])
    wanted = MIDDLE_INPUT if name is None else name
    found: dict[str, Any] = next((g for g in by_size if g["input"] == wanted), by_size[math.ceil(len(by_size) / 2) - 1])
    return found


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(INCHES, height), dpi=DOTS, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _png(figure: Figure) -> bytes:
    """PNG without date and program version, so that the same figures give the same bytes."""
    target = io.BytesIO()
    figure.savefig(target, format="png", metadata={"Software": None})
    return target.getvalue()
