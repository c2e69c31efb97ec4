"""The tasks that take a band out of refined patches, where the tasks of these have not done so (`tasks`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import step
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.bands import Reach, are_nearest, parted, reached_by, unreached
from dmr.distributed.tiles.patch import Patch
from dmr.distributed.tiles.piece import Int64
from dmr.distributed.tiles.stored import Stored
from dmr.distributed.unions.union import UNNUMBERED, Numbers

REST, BAND = "rest", "band"  # the places of both parts of a divided patch


def save_patch(patch: Patch, reached: Reach, out: Folder, place: int | str) -> None:
    """Stores a patch, and how far its seeds reach."""
    part = Stored(out, place)
    patch.save(part)
    reached.save(part)


def match_reaches(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    places: Sequence[int | str],
    firsts: Sequence[int],
    own: Sequence[int],
    others: Sequence[int],
    layers: int,
) -> dict[str, Any]:
    """Finds for each patch the tiles whose seeds reach it, and for each refined tile whether no other one is nearer.

    Args:
        inputs: the folders of the patches, then those of the refined tiles in which something waits.
        out, resources: not used.
        places: of the patches in their folders; firsts: the number of the first new vertex of each.
        own: for each patch the place of its own tile among the refined ones, -1 if it is not the margin of one.
        others: the number of the first new vertex of each of the refined tiles; layers: of the band.
    """
    count = len(places)
    refined = [Reach.load(Stored(folder, 0), first) for folder, first in zip(inputs[count:], others, strict=True)]
    reached = [each.reached for each in refined]
    numbers = np.concatenate(reached)
    tile = np.repeat(np.arange(len(reached)), [len(each) for each in reached])
    order = np.argsort(numbers, kind="stable")
    numbers, tile = numbers[order], tile[order]
    found = []
    for folder, place, first, mine in zip(inputs[:count], places, firsts, own, strict=True):
        border = Reach.load(Stored(folder, place), first).border
        start, end = np.searchsorted(numbers, border), np.searchsorted(numbers, border, side="right")
        near = {mine} - {-1}
        while (start < end).any():
            start, end = start[start < end], end[start < end]
            near.update(np.unique(tile[start]).tolist())
            start = start + 1
        found.append(sorted(near))
    return {"near": found, "alone": are_nearest(refined, layers)}


def divide(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    place: int | str,
    first: int,
    layers: int,
    others: Sequence[int],
) -> dict[str, Any]:
    """Divides a patch into its rest and its part for the band.

    Args:
        inputs: the whole, the folder of the patch, and those of the refined tiles whose seeds reach it.
        out: for both parts.
        resources: the threads that compute.
        place: of the patch in its folder; first: the number of its first new vertex.
        layers: of the band.
        others: the number of the first new vertex of each of the refined tiles.
    """
    stored = Stored(inputs[1], place)
    with step("load"):
        patch, border = Patch.load(stored).numbered(first), Reach.load(stored, first).border
        reaches = [Reach.load(Stored(each, 0), its_first) for each, its_first in zip(inputs[2:], others, strict=True)]
    with step("divide"):
        in_band = reached_by(patch, reaches, layers, resources.threads)
    band = int(np.count_nonzero(in_band))
    if band:
        with step("write"):
            rest = save_parts(patch, border, in_band, out, resources.threads)
    return {"rest": not band or rest, "band": band}


def save_parts(patch: Patch, border: Int64, in_band: NDArray[np.bool_], out: Folder, threads: int | None) -> bool:
    """Stores both parts of a patch; returns whether there is a rest.

    Args:
        border: the numbers of its vertices on the border with others.
        in_band: which triangles are the part for the band, one at least.
    """
    rest, band = parted(patch, in_band, threads)
    beside = border if rest is None else distinct(border, _those_in(rest.numbers, band.numbers))
    save_patch(band, unreached(_those_in(band.numbers, beside)), out, BAND)
    if rest is None:
        return False
    save_patch(rest, unreached(_those_in(rest.numbers, beside)), out, REST)
    return True


def _those_in(numbers: Int64, wanted: Int64) -> Int64:
    """Returns those of some numbers of vertices that a patch has; -1, -2, ... are those without a number."""
    found = Numbers(numbers, UNNUMBERED).find(np.where(wanted < 0, UNNUMBERED - 1 - wanted, wanted)) >= 0
    those: Int64 = wanted[found]
    return those
