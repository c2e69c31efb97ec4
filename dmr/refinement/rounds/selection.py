"""Selection of the subsegments and bad triangles that compete in a round (`cuda_src/refine/candidates`).

A `Number` is known to the host, or only to the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from dmr.memory import DeviceArray, Number
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.progress import Capacity, RoundInput, RoundProgress
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace

SURVEYED = 3  # numbers per piece, of cuda_src/refine/candidates/survey.cuh


class Choice(IntEnum):
    """Which bad triangles compete (`Choice` of cuda_src/refine/candidates/competing.cuh)."""

    UNBEATEN = 0  # triangles that are beaten in urgency by no bad neighbour or neighbour's neighbour
    EVERYONE = 1
    LARGE_ONES = 2  # triangles that wait for large records
    UNBEATEN_FAR = 3  # triangles with no more urgent one within three steps from neighbour to neighbour


MANY_COMPETE, FEW_COMPETE = 1024, 256  # of cuda_src/refine/candidates/competing.cuh


@dataclass
class Competition:
    """The rule for which bad triangles compete in the next round, if cavities compete by urgency.

    If many compete and most lose, only those that are unbeaten in a larger neighbourhood compete.

    Attributes:
        choice: UNBEATEN or UNBEATEN_FAR.
    """

    choice: Choice = Choice.UNBEATEN

    def update(self, competed: int, won: int) -> None:
        """Updates the rule after a round that the host drives (`next_choice` of competing.cuh)."""
        if self.choice == Choice.UNBEATEN_FAR:
            far = competed >= FEW_COMPETE
        else:
            far = competed >= MANY_COMPETE and 2 * won < competed
        self.choice = Choice.UNBEATEN_FAR if far else Choice.UNBEATEN


def survey_sums(space: Workspace) -> tuple[DeviceArray, DeviceArray]:
    """Returns arrays for the survey results by piece: of waiting subsegments, and of the list of bad triangles."""
    most = space.device.most_pieces
    return space.array("requested", most, np.int32), space.array("surveyed", most * SURVEYED, np.int32)


def select(
    state: DeviceMesh,
    space: Workspace,
    bad: BadTriangles,
    round_input: RoundInput,
    choice: Number,
    small_mesh: int,
    capacity: Capacity,
    progress: RoundProgress,
    roots: DeviceArray,
) -> None:
    """Puts the candidates of a round into `roots`: subsegments to be split, or if there are none, triangles.

    `progress` then holds their number. If triangles compete, those that are no longer bad have been removed from the
    list, which has moved to its other buffer. In a mesh of up to `small_mesh` triangles, only the most urgent compete.
    """
    device = state.device
    requested, surveyed = survey_sums(space)
    flags = bad.flags(round_input.listed)
    device.launch(
        "survey_subsegments",
        device.pieces(round_input.subsegments),
        state.split_states,
        round_input.subsegments,
        requested,
    )
    listing = (requested, round_input.subsegments, *bad.buffers, round_input.buffer, round_input.listed)
    sizes = (round_input.vertices, round_input.slots)
    shared = (state.view, *listing, choice, *sizes, small_mesh, flags, surveyed)
    teams = device.pieces(round_input.listed)
    device.launch("survey_bad", teams, *shared)
    teams = max(1, teams, device.pieces(round_input.subsegments))
    device.launch("gather_candidates", teams, *shared, capacity.view, roots, progress.array)
