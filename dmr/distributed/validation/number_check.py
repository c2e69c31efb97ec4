"""The check that every number of a vertex stands for one place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.slices import read_rows
from dmr.distributed.validation.findings import Summary, summary
from dmr.validation.report import Findings


def check_numbers(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, slices: Sequence[tuple[str, int, int]]
) -> Summary:
    """Checks that vertices with equal numbers have coordinates of equal bits.

    Args:
        inputs: none; out, resources: as for all tasks; the output has no arrays.
        slices: some rows of each part, which have the vertices of a range of numbers: file, first row, end.
    """
    findings = Findings()
    findings.start("shared vertices")
    tables = [read_rows(Path(path), "numbers", start, stop) for path, start, stop in slices]
    places = [read_rows(Path(path), "vertices", start, stop) for path, start, stop in slices]
    numbers = np.concatenate([np.empty(0, np.int64), *tables])
    bits = np.concatenate([np.empty((0, 2)), *places]).view(np.uint64)
    source = np.repeat(np.arange(len(slices)), [len(table) for table in tables])
    order = np.argsort(numbers, kind="stable")
    same = numbers[order[1:]] == numbers[order[:-1]]
    one, other = order[:-1][same], order[1:][same]
    apart = np.flatnonzero((bits[one] != bits[other]).any(axis=1))
    one, other = one[apart], other[apart]

    def message(i: int) -> str:
        (x, y), (u, v) = (bits[row].view(np.float64).tolist() for row in (one[i], other[i]))
        files = (Path(slices[source[row]][0]).name for row in (one[i], other[i]))
        return f"is at ({x!r}, {y!r}) in {next(files)}, but at ({u!r}, {v!r}) in {next(files)}"

    findings.add("shared vertices", "vertex", numbers[one], message)
    return summary(findings)
