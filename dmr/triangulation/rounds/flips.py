"""Lawson's flips in parallel rounds (cuda_src/mesh/flips.cu)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from dmr.memory import DeviceArray, compact, flagged_indices, scan, total
from dmr.triangulation.rounds.epochs import Epochs, Owned

# Finds the edges to be flipped of listed triangles: find(listed, count, edges, flags).
Find = Callable[[DeviceArray, int, DeviceArray, DeviceArray], None]


class Flippable(Owned, Protocol):
    """Triangles and subsegments whose edges are flipped."""

    subsegments: DeviceArray


class TooManyRounds(Exception):
    """Edges still fail after as many rounds as the caller allows."""


def flip_all(
    state: Flippable,
    epochs: Epochs,
    flags: DeviceArray,
    find: Find,
    most_rounds: int | None = None,
    *,
    listed: tuple[DeviceArray, int] | None = None,
) -> int:
    """Flips the failing edges of flagged triangles, and of those that the flips change, until none fails.

    Args:
        state: triangles and subsegments; epochs: theirs.
        flags: (slots,) int32, 1 for the triangles to begin with; overwritten.
        find: finds failing edges by the test that decides.
        most_rounds: a limit, or None.
        listed: the triangles that are flagged at the beginning, in any order, and their number, if they are known.

    Returns:
        The number of edges flipped.

    Raises:
        TooManyRounds: edges still fail after `most_rounds`.
    """
    device, edges = state.device, state.device.empty(state.slots, np.int32)
    flipped = rounds = 0
    around, near = flagged_indices(flags) if listed is None else listed
    others, number = None, device.empty(1, np.int32)
    while True:
        failing = device.empty(near, np.int32)
        find(around, near, edges, failing)
        flipping, count = compact(around, failing, near)
        if not count:
            return flipped
        if rounds == most_rounds:
            raise TooManyRounds
        rounds += 1
        epoch = epochs.next(state)
        won = device.empty(count, np.int32)
        device.launch("claim_flips", count, flipping, edges, epoch, state.triangles)
        device.launch("check_flips", count, flipping, edges, epoch, state.triangles, won)
        flags.fill(0)
        if others is None:
            others = device.empty(state.slots, np.int32)
        number.fill(0)
        device.launch("list_around_flips", count, flipping, edges, state.triangles, flags, others, number)
        device.launch("apply_flips", count, flipping, edges, won, state.triangles, state.subsegments)
        flipped += total(scan(won), count)
        around, near = others, int(number.download()[0])
