"""Growth of the list of bad triangles."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from dmr.memory.host.device import HostDevice
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace


class DirtyDevice(HostDevice):
    """Device whose new arrays hold a pattern."""

    def empty(self, size, dtype):
        array = super().empty(size, dtype)
        array.fill(0xAB)
        return array


def test_a_growing_work_list_copies_no_uninitialised_values():
    device = DirtyDevice(1)
    listed = BadTriangles(SimpleNamespace(device=device), Workspace(device))
    for turn, count in enumerate((100, 179, 278, 417)):
        listed.buffer = turn % 2  # the round's result is in the other buffer
        listed.reserve(count)
        assert listed.capacity >= count
        for side in listed.buffers:
            assert np.array_equal(side.download(), np.zeros(side.size, np.int32))
