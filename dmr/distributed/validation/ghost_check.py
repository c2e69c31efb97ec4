"""The check of a part's ghosts against the triangles of their owners, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.piece import Piece
from dmr.distributed.validation.findings import Summary, summary
from dmr.distributed.validation.layers import BORDER, GHOSTS, Layer, rows
from dmr.validation.report import Findings

Int64 = NDArray[np.int64]


def check_ghosts(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, index: int, owners: Sequence[int]
) -> Summary:
    """Checks that the ghosts of a part are equal to the triangles of their owners in all that files tell of them.

    Args:
        inputs: the outputs of `check_part` of the part, then of the owners of its ghosts.
        out, resources: as for all tasks; the output has no arrays.
        index: the number of the part; owners: of the owners.
    """
    findings = Findings()
    findings.start("ghosts")
    layer = Layer(inputs[0], GHOSTS)
    ghosts, numbers = rows(Piece.load(layer)), layer["triangle"]
    found = np.zeros(len(numbers), bool)
    for folder, owner in zip(inputs[1:], owners, strict=True):
        border = Layer(folder, BORDER)
        originals, own = rows(Piece.load(border)), border["triangle"]
        place = np.minimum(np.searchsorted(own, numbers), len(own) - 1)
        there = np.flatnonzero(own[place] == numbers) if len(own) else np.zeros(0, np.int64)
        found[there] = True
        for name in sorted(ghosts.keys() | originals.keys()):
            if name not in ghosts or name not in originals or ghosts[name].shape[1] != originals[name].shape[1]:
                differ = there
            else:
                differ = there[(ghosts[name][there] != originals[name][place[there]]).any(axis=1)]
            _add(findings, index, owner, numbers[differ], f"has other {name} than")
    lost = numbers[~found]
    findings.add(
        "ghosts",
        "triangle",
        lost,
        lambda i: f"is a ghost of part {index}, but does not lie at the border of the part that it gives as owner",
    )
    return summary(findings)


def _add(findings: Findings, index: int, owner: int, numbers: Int64, text: str) -> None:
    findings.add(
        "ghosts", "triangle", numbers, lambda i: f"{text} part {owner}, its owner, in the ghosts of part {index}"
    )
