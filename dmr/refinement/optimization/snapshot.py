"""A copy of a mesh on its device, from which a round is undone."""

from __future__ import annotations

from dmr.memory import DeviceArray
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.triangulation.rounds.epochs import Epochs

FLIPPED = ("triangles", "subsegments", "quality", "split_states")  # arrays that flips and checks change
MOVED = ("points", "vertex_parameter", "attributes")  # arrays that moves change


class Snapshot:
    """Copies of the arrays of a mesh that an optimisation changes."""

    def __init__(self, state: DeviceMesh) -> None:
        self._state = state
        self._copies: dict[str, DeviceArray] = {}
        for name in (*FLIPPED, *MOVED):
            array = getattr(state, name)
            if array is not None:
                self._copies[name] = state.device.empty(array.size, array.dtype)

    def of(self, name: str) -> DeviceArray | None:
        """Returns the copy of an array; None if the mesh has no such array."""
        return self._copies.get(name)

    def take(self) -> None:
        """Copies the mesh as it is now."""
        for name, copy in self._copies.items():
            copy.copy_from(getattr(self._state, name))

    def undo_flips(self, epochs: Epochs) -> None:
        """Gives the mesh the triangles that it had when it was last copied; vertices keep their places."""
        self._restore(FLIPPED)
        epochs.start_again(self._state)  # the owners in the copy may be of epochs that are still to come

    def undo(self, epochs: Epochs) -> None:
        """Makes the mesh what it was when it was last copied."""
        self.undo_flips(epochs)
        self._restore(MOVED)

    def _restore(self, names: tuple[str, ...]) -> None:
        for name in names:
            if name in self._copies:
                getattr(self._state, name).copy_from(self._copies[name])
