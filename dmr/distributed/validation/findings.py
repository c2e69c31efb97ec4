"""Findings of a part, in the numbers of the whole, and the report that unites them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.mesh.naming import counting
from dmr.validation.report import KEPT_FAILURES, Failure, Findings, Indices

Int64 = NDArray[np.int64]
Summary = dict[str, Any]

# Elements that have numbers of the whole; segments of a part have none.
VERTICES = frozenset({"vertex", "input vertex"})


class OwnFindings(Findings):
    """Findings about a list of triangles of which only the first ones count: the others are checked elsewhere.

    Args:
        own: how many triangles count.
    """

    def __init__(self, own: int) -> None:
        super().__init__()
        self._own = own

    def add(self, check: str, element: str, indices: Indices, message: Callable[[int], str]) -> None:
        """Add failures of one check, other than of triangles that do not count."""
        kept = list(range(len(indices)))
        if element == "triangle":
            kept = [i for i, index in enumerate(indices) if index is None or index < self._own]
        super().add(check, element, [indices[i] for i in kept], lambda i: message(kept[i]))


@contextmanager
def numbered(vertices: Int64, triangles: Int64) -> Iterator[None]:
    """Uses the numbers of the whole in the messages of this thread.

    Args:
        vertices: (n,) the number of each vertex; triangles: (m,) of each triangle.
    """

    def number(element: str, index: int) -> int:
        if element in VERTICES:
            return int(vertices[index])
        return int(triangles[index]) if element == "triangle" else index

    with counting(number):
        yield


def summary(findings: Findings) -> Summary:
    """Converts findings to plain JSON values."""
    return {
        "failures": [asdict(failure) for failure in findings.failures],
        "counts": findings.counts,
        "checked": findings.checked,
        "skipped": findings.skipped,
    }


def renumbered(findings: Findings, vertices: Int64, triangles: Int64, part: int | None = None) -> Findings:
    """Gives the elements of findings the numbers of the whole.

    Args:
        findings: those of a list of triangles, changed in place; vertices, triangles: its numbers in the whole.
        part: to which segments belong, which have no numbers in the whole; None if they are of no part.
    """
    tables = {"vertex": vertices, "triangle": triangles}
    for i, failure in enumerate(findings.failures):
        element, index = failure.element, failure.index
        if element in tables and index is not None:
            findings.failures[i] = replace(failure, index=int(tables[element][index]))
        elif element == "segment":
            findings.failures[i] = (
                replace(failure, index=None) if part is None else replace(failure, element=f"part {part}, segment")
            )
    return findings


def unite(result: Findings, summaries: Iterable[Mapping[str, Any]]) -> None:
    """Adds the findings of tasks, in order; a check is skipped only if no task has made it."""
    for summary in summaries:
        result.checked += [check for check in summary["checked"] if check not in result.checked]
        result.skipped.update(summary["skipped"])
        for check, count in summary["counts"].items():
            before = result.counts.get(check, 0)
            failures = [Failure(**each) for each in summary["failures"] if each["check"] == check]
            result.failures += failures[: max(0, KEPT_FAILURES - before)]
            result.counts[check] = before + count
    for check in result.checked:
        result.skipped.pop(check, None)
