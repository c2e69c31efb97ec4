"""A piece of the result as a list of sections: the patches that it consists of, as tasks have left them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Task
from dmr.distributed.tiles.bands import Reach
from dmr.distributed.tiles.patch import published_arrays, with_numbers
from dmr.distributed.tiles.piece import Int64, Labels, Piece, labelled
from dmr.distributed.tiles.pieces import restricted_mesh, united
from dmr.distributed.tiles.result.core_file import CoreFile
from dmr.distributed.tiles.stored import Stored
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.union import Numbers
from dmr.mesh.types import Int, Mesh

NONE_MISSING: Int = np.empty((2, 0), np.int32)
LOOSE = "loose"  # the place of the piece of the source's vertices that no triangle uses


class Outside(NamedTuple):
    """The patch with all triangles of a piece that touch other pieces, from which its border is found at once.

    Attributes:
        folder: the output that holds it; place: where in it; first: the number of the first new vertex.
        before: the triangles of the piece before those of the patch; triangles: of the piece.
        vertices: above all numbers in the piece.
        task: the task with this output, if it may not be complete yet.
    """

    folder: str
    place: int | str
    first: int
    before: int
    triangles: int
    vertices: int
    task: Task | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of a task that reads the patch, as plain JSON values."""
        return {"places": [self.place], "firsts": [self.first], "loose": False, "before": self.before}


class PieceSource(NamedTuple):
    """The outputs of tasks that a piece of the result is made from.

    Attributes:
        border: the output that holds the `BORDER` of the piece and, if there is no `whole`, the piece.
        whole: the output that holds the `Whole`, and the loose vertices.
        folders: the outputs that hold its patches; places: where in them; firsts: the number of the first new vertex
            of each.
        loose: whether the loose vertices belong to the piece.
        finish: the task `finish_core`, if the piece has the core of a tile.
        summary: the task that counts its triangles; as a rule, also the one that finds its border.
        find: the task whose output is `border`, unless that is there already.
        outside: where its outermost triangles are, if they are in one patch that is complete before the core.
    """

    border: str
    whole: str = ""
    folders: tuple[str, ...] = ()
    places: tuple[int | str, ...] = ()
    firsts: tuple[int, ...] = ()
    loose: bool = False
    finish: Task | None = None
    summary: Task | None = None
    find: Task | None = None
    outside: Outside | None = None

    @property
    def inputs(self) -> list[str]:
        """The inputs of a task that calls `sections`."""
        return [self.whole, *self.folders] if self.folders else [self.border]

    @property
    def options(self) -> dict[str, Any]:
        """The options of that task, as plain JSON values."""
        return {"places": list(self.places), "firsts": list(self.firsts), "loose": self.loose}


@dataclass(frozen=True, eq=False)
class Section:
    """A patch of a piece, or a whole piece.

    Attributes:
        mesh: its mesh, with the segments of the result.
        numbers: of its vertices in the whole.
        labels: of its triangles, if the mesh does not have them.
        missing: (2, k) int32, the triangles that violate a bound, and the reason of each (`REASONS`, plus 1).
        core: the file that has its arrays, if it is the core of a tile.
        border: if it is, the numbers of the vertices that it shares with the margin.
    """

    mesh: Mesh
    numbers: Numbers
    labels: Labels | None = None
    missing: Int = field(default_factory=lambda: NONE_MISSING)
    core: CoreFile | None = None
    border: Int64 | None = None

    def restricted(self, triangles: NDArray[np.intp], threads: int | None = 1) -> Piece:
        """Returns some of its triangles as a piece (`pieces.restricted`); `threads` take them."""
        numbers = self.numbers

        def numbered(vertices: NDArray[Any]) -> Int64:
            return with_numbers(numbers.entries[vertices], numbers.first)

        found = restricted_mesh(self.mesh, numbered, triangles, threads=threads)
        if self.labels is None:
            return found
        labels = Labels(self.labels.rows[triangles], self.labels.tables)
        return Piece(labelled(found.mesh, labels), found.numbers)

    def as_piece(self) -> Piece:
        """Returns the section as a piece."""
        return Piece(labelled(self.mesh, self.labels), with_numbers(self.numbers.entries, self.numbers.first))


def sections(
    inputs: Sequence[Folder], *, places: Sequence[int | str], firsts: Sequence[int], loose: bool
) -> list[Section]:
    """Returns the sections of a piece, which are mapped to their files; arguments as in `PieceSource`."""
    if not places:
        piece = Piece.load(inputs[0])
        return [Section(piece.mesh, Numbers(piece.numbers), missing=_missing(inputs[0]))]
    named = Whole.load(inputs[0]).named
    found = []
    for folder, place, first in zip(inputs[1:], places, firsts, strict=True):
        stored = Stored(folder, place)
        mesh, numbers = published_arrays(stored, named)
        core = CoreFile.load(stored)
        border = None if core is None else Reach.load(stored, first).border
        found.append(Section(mesh, Numbers(numbers, first), Labels.load(stored), _missing(stored), core, border))
    if loose:
        piece = Piece.load(Stored(inputs[0], LOOSE))
        found.append(Section(piece.mesh, Numbers(piece.numbers)))
    return found


def _missing(stored: Folder | Stored) -> Int:
    """Returns `Section.missing` of a stored patch or piece."""
    if "reasons" not in stored:
        return NONE_MISSING
    return np.stack([stored["reasons_at"], stored["reasons"]]).astype(np.int32)


def load_piece(store: Store, source: PieceSource) -> Piece:
    """Returns a piece of the result."""
    found = sections([store.folder(name) for name in source.inputs], **source.options)
    return united([section.as_piece() for section in found])
