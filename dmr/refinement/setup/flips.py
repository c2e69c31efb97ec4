"""Makes a valid triangulation constrained Delaunay, by flips in parallel rounds."""

from __future__ import annotations

import numpy as np

from dmr.common.text import option
from dmr.errors import InvalidMeshError
from dmr.memory import DeviceArray, scan, total
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.triangulation.rounds.epochs import Epochs
from dmr.triangulation.rounds.flips import flip_all


def make_delaunay(state: DeviceMesh, epochs: Epochs, *, apply: bool = True) -> int:
    """Flips every edge that fails the in-circle test; with `apply` False only counts those of the first round.

    Returns:
        The number of edges flipped (or, without `apply`, of triangles that have a failing edge).
    """
    device = state.device
    edges, flags = device.empty(state.slots, np.int32), device.empty(state.slots, np.int32)
    device.launch("find_flips", state.slots, state.triangles, state.points, edges, flags)
    count = total(scan(flags), state.slots)
    return flip_flagged(state, epochs, flags) if count and apply else count


def flip_flagged(
    state: DeviceMesh, epochs: Epochs, flags: DeviceArray, listed: tuple[DeviceArray, int] | None = None
) -> int:
    """Flips the failing edges of flagged triangles, and those that these flips make fail; returns their number.

    Args:
        state: the mesh; epochs: its epochs; flags, listed: as for `flip_all`.
    """
    device = state.device

    def find(listed: DeviceArray, count: int, edges: DeviceArray, flags: DeviceArray) -> None:
        device.launch("find_listed_flips", count, state.triangles, state.points, listed, edges, flags)

    return flip_all(state, epochs, flags, find, listed=listed)


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
