"""Which subsegments and bad triangles compete in a round: the kernels of `cuda_src/selection.cu`, for either driver.

How many there are is a number that the host knows, or one that only the device does (`Number`).
"""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray, Number, bound_of, scan
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.workspace import Workspace


def flag_wishes(state: DeviceMesh, space: Workspace, count: Number) -> tuple[DeviceArray, DeviceArray]:
    """Finds the subsegments that wait to be split, of the first `count`.

    Returns:
        Flags, and the offsets that follow from them: at place `count` how many there are.
    """
    bound = bound_of(count)
    flags = space.array("wish_flags", bound, np.int32)
    state.device.launch("flag_wished", count, state.wishes, flags)
    return flags, scan(flags, count, out=space.array("wish_offsets", bound + 1, np.int32))


def flag_unbeaten(state: DeviceMesh, space: Workspace, listed: DeviceArray, count: Number) -> DeviceArray:
    """Flags those of the first `count` listed triangles that no bad neighbour, nor a neighbour's, beats in urgency."""
    flags = space.array("candidate_flags", bound_of(count), np.int32)
    state.device.launch("select_candidates", count, listed, state.triangles, state.quality, flags)
    return flags


def keep_most_urgent(
    state: DeviceMesh, listed: DeviceArray, count: Number, flags: DeviceArray, most_urgent: DeviceArray
) -> None:
    """Of the flagged triangles, keeps the flags of those with the shortest edges. `most_urgent`: (1,) int32, 0."""
    shared = (listed, state.quality)
    state.device.launch("find_most_urgent", count, *shared, flags, most_urgent)
    state.device.launch("keep_most_urgent", count, *shared, most_urgent, flags)
