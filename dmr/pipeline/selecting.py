"""Which subsegments and bad triangles compete in a round (`cuda_src/candidates.cuh`), for either driver.

Numbers are those that the host knows, or such as only the device does (`Number`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dmr.memory import DeviceArray, Number
from dmr.pipeline.device_mesh import DeviceMesh
from dmr.pipeline.progress import Room, RoundProgress, Standing
from dmr.pipeline.worklist import BadTriangles
from dmr.pipeline.workspace import Workspace

SURVEYED = 3  # numbers a piece, of cuda_src/candidates.cuh


class Choice(IntEnum):
    """Which bad triangles compete (`Choice` of cuda_src/candidates.cuh)."""

    UNBEATEN = 0  # those that no bad neighbour, nor a neighbour's, beats in urgency
    EVERYONE = 1
    LARGE_ONES = 2  # those that wait for large records
    UNBEATEN_FAR = 3  # those that none is more urgent than within three steps from neighbour to neighbour


MANY_COMPETE, FEW_COMPETE = 1024, 256  # of cuda_src/candidates.cuh


@dataclass
class Competition:
    """Which bad triangles compete in the next round, where cavities compete by urgency.

    Where many compete and most lose, only those that are unbeaten farther around do.

    Attributes:
        choice: UNBEATEN or UNBEATEN_FAR.
    """

    choice: Choice = Choice.UNBEATEN

    def judge(self, competed: int, won: int) -> None:
        """After a round that the host drives (`next_choice` of cuda_src/candidates.cuh)."""
        if self.choice == Choice.UNBEATEN_FAR:
            far = competed >= FEW_COMPETE
        else:
            far = competed >= MANY_COMPETE and 2 * won < competed
        self.choice = Choice.UNBEATEN_FAR if far else Choice.UNBEATEN


def survey_sums(space: Workspace) -> tuple[DeviceArray, DeviceArray]:
    """Where surveys enter, by piece, how many subsegments wait, and what they found of the list of bad triangles."""
    most = space.device.most_pieces
    return space.array("wished", most, np.int32), space.array("surveyed", most * SURVEYED, np.int32)


def select(
    state: DeviceMesh,
    space: Workspace,
    bad: BadTriangles,
    standing: Standing,
    choice: Number,
    small_mesh: int,
    room: Room,
    progress: RoundProgress,
    roots: DeviceArray,
) -> None:
    """Puts the candidates of a round into `roots`: subsegments that are to be split, or if there are none, triangles.

    `progress` says then how many there are. Where triangles compete, what is bad no more has left the list, which is on
    its other side. In a mesh of up to `small_mesh` triangles, only the most urgent ones compete.
    """
    device = state.device
    wished, surveyed = survey_sums(space)
    flags = bad.flags(standing.listed)
    device.launch("survey_subsegments", device.pieces(standing.subsegments), state.wishes, standing.subsegments, wished)
    listing = (wished, standing.subsegments, *bad.sides, standing.side, standing.listed)
    sizes = (standing.vertices, standing.slots)
    shared = (state.view, *listing, choice, *sizes, small_mesh, flags, surveyed)
    teams = device.pieces(standing.listed)
    device.launch("survey_bad", teams, *shared)
    teams = max(1, teams, device.pieces(standing.subsegments))
    device.launch("gather_candidates", teams, *shared, room.view, roots, progress.array)
