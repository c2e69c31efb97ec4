"""A copy of a mesh on its device, from which a round is undone."""

from __future__ import annotations

from dmr.memory import DeviceArray
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.epochs import Epochs

# The arrays that moves, flips and checks change.
CHANGED = ("triangles", "points", "subsegments", "quality", "split_states", "vertex_parameter", "attributes")


class Snapshot:
    """Copies of the arrays of a mesh that an optimisation changes."""

    def __init__(self, state: DeviceMesh) -> None:
        self._state = state
        self._copies: dict[str, DeviceArray] = {}
        for name in CHANGED:
            array = getattr(state, name)
            if array is not None:
                self._copies[name] = state.device.empty(array.size, array.dtype)

    @property
    def triangles(self) -> DeviceArray:
        """The triangles of the copy."""
        return self._copies["triangles"]

    def take(self) -> None:
        """Copies the mesh as it is now."""
        for name, copy in self._copies.items():
            copy.copy_from(getattr(self._state, name))

    def restore(self, epochs: Epochs) -> None:
        """Makes the mesh what it was when it was last copied."""
        for name, copy in self._copies.items():
            getattr(self._state, name).copy_from(copy)
        epochs.start_again(self._state)  # the owners in the copy may be of epochs that are still to come
