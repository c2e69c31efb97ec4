"""Names of the columns of edge lists, and the parser of the headings of CSV files."""

from __future__ import annotations

import csv
import re
from dataclasses import replace

from dmr.common.arguments import shortened
from static_graph.io.native import SOURCE, TARGET, WEIGHT
from static_graph.io.text import Grammar

# Accepted column names, in lower case, without blanks and without `_ - . : ~`.
_SOURCES = """
    s u i id1 source src from tail row start begin origin node1 vertex1
    sourceid srcid fromid startid sourcenode fromnode sourcenodeid fromnodeid
"""
_TARGETS = """
    t v j id2 target tgt to head column col end dst dest destination node2 vertex2
    targetid dstid toid endid targetnode tonode targetnodeid tonodeid
"""
_WEIGHTS = "w weight weights cost length distance dist"
NAMES = {SOURCE: _SOURCES.split(), TARGET: _TARGETS.split(), WEIGHT: _WEIGHTS.split()}
_COLUMNS = {name: column for column, names in NAMES.items() for name in names}
_WORDS = ("source", "target", "weight")
_NUMBER = re.compile(r'"?\s*[-+]?\d')  # the beginning of an edge's first field


def is_edge(line: str) -> bool:
    """Returns whether a line is an edge: its first field, possibly quoted, begins with a number."""
    return _NUMBER.match(line) is not None


def column_of(title: str) -> int | None:
    """Returns the meaning of a column by its name: SOURCE, TARGET or WEIGHT; None for any other name."""
    return _COLUMNS.get(re.sub(r"[\s_.:~-]", "", title).lower())


def read_heading(line: str, grammar: Grammar) -> tuple[Grammar, bool]:
    """Returns the grammar of the rows below a heading, and whether they have weights.

    Raises:
        ValueError: the heading is not understood; the message names the column.
    """
    try:
        (titles,) = csv.reader([line], skipinitialspace=True)
    except (csv.Error, ValueError):
        raise ValueError(f"the heading {shortened(line)} is not understood") from None
    found: list[int] = []
    for number, title in enumerate(titles, 1):
        column = column_of(title)
        if column is None:
            raise ValueError(
                f"column {number} has the heading {shortened(title)}, which is not understood: name the columns "
                "source, target and weight, in any order, and remove the others"
            )
        if column in found:
            raise ValueError(
                f"column {number} has the heading {shortened(title)}: there are two of the {_WORDS[column]}"
            )
        found.append(column)
    missing = [_WORDS[column] for column in (SOURCE, TARGET) if column not in found]
    if missing:
        raise ValueError(f"the heading {shortened(line)} names no {' and no '.join(missing)}")
    weighted = WEIGHT in found
    row = ",".join(f"<{_WORDS[column]}>" for column in found)
    first, second, *rest = found
    return replace(grammar, columns=(first, second, rest[0] if rest else WEIGHT), row=row), weighted
