"""Selection of the subsegments and bad triangles that compete in a pass (`cuda_src/refine/candidates`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dmr.memory import DeviceArray, Enumeration, Number, constant
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.progress import UNBOUNDED, Capacity, RoundInput, RoundProgress
from dmr.refinement.state.worklist import BadTriangles
from dmr.refinement.state.workspace import Workspace

SURVEYED = constant("SURVEYED")  # numbers per piece
MANY_COMPETE, FEW_COMPETE = constant("MANY_COMPETE"), constant("FEW_COMPETE")


class Choice(Enumeration):
    """Which bad triangles compete."""


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


@dataclass(frozen=True)
class Selection:
    """Which candidates a pass takes.

    Attributes:
        choice: which bad triangles compete; most: the most candidates, spread evenly over the list.
        record_capacity: cavity boundary entries of the records that they get.
    """

    choice: Number
    record_capacity: int
    most: int = UNBOUNDED


@dataclass(frozen=True)
class Candidates:
    """The subsegments or triangles that cavities are grown around.

    Attributes:
        roots: their numbers; count: how many; the first `segments` of them are subsegments.
        record_capacity: cavity boundary entries of the record that each gets.
    """

    roots: DeviceArray
    count: Number
    segments: Number
    record_capacity: int


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
    """Puts the candidates of a pass into `roots`: subsegments to be split, or if there are none, triangles.

    `progress` then holds their number. If triangles compete, those that are no longer bad have been removed from the
    list, which has moved to its other buffer. In a mesh of up to `small_mesh` triangles, only the most urgent compete.
    """
    device, subsegments = state.device, round_input.subsegments
    requested, surveyed = survey_sums(space)
    flags = bad.flags(round_input.listed)
    subsegment_pieces, listed_pieces = device.pieces(subsegments), device.pieces(round_input.listed)
    device.launch("survey_subsegments", subsegment_pieces, state.split_states, subsegments, requested)
    bad_list = (requested, subsegments, *bad.buffers, round_input.buffer, round_input.listed)
    sizes = (round_input.vertices, round_input.slots)
    arguments = (state.view, *bad_list, choice, *sizes, small_mesh, flags, surveyed)
    device.launch("survey_bad", listed_pieces, *arguments)
    teams = max(1, listed_pieces, subsegment_pieces)
    device.launch("gather_candidates", teams, *arguments, capacity.view, roots, progress.array)
