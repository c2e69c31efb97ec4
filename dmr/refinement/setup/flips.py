"""Makes a valid triangulation constrained Delaunay, by flips in parallel rounds."""

from __future__ import annotations

import numpy as np

from dmr.common.text import option
from dmr.errors import InvalidMeshError
from dmr.memory import compact, flagged_indices, scan, total
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.epochs import Epochs


def make_delaunay(state: DeviceMesh, epochs: Epochs, *, apply: bool = True) -> int:
    """Flips every edge that fails the in-circle test; with `apply` False only counts those of the first round.

    Returns:
        The number of edges flipped (or, without `apply`, of triangles that have a failing edge).
    """
    device = state.device
    edges, flags = device.empty(state.slots, np.int32), device.empty(state.slots, np.int32)
    device.launch("find_flips", state.slots, state.triangles, state.points, edges, flags)
    flipping, count = flagged_indices(flags)
    flipped = 0
    while count and apply:
        epoch = epochs.next(state)
        won = device.empty(count, np.int32)
        device.launch("claim_flips", count, flipping, edges, epoch, state.triangles)
        device.launch("check_flips", count, flipping, edges, epoch, state.triangles, won)
        flags.fill(0)
        device.launch("flag_around_flips", count, flipping, edges, state.triangles, flags)
        device.launch("apply_flips", count, flipping, edges, won, state.triangles, state.subsegments)
        flipped += total(scan(won), count)
        around, near = flagged_indices(flags)
        failing = device.empty(near, np.int32)
        device.launch("find_listed_flips", near, state.triangles, state.points, around, edges, failing)
        flipping, count = compact(around, failing, near)
    return flipped + count


def refuse_unless_delaunay(state: DeviceMesh, epochs: Epochs) -> None:
    """Refuses a mesh with edges that fail the in-circle test.

    Raises:
        InvalidMeshError: gives the number of triangles with such an edge.
    """
    failing = make_delaunay(state, epochs, apply=False)
    if failing:
        raise InvalidMeshError(
            f"{failing} triangles have an edge that is not Delaunay, which {option('strict')} refuses"
        )
