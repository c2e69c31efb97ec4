"""A piece of a mesh, whose vertices have the numbers of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dmr.common.frozen import HoldsFrozen, frozen
from dmr.distributed.threaded import rows_taken
from dmr.errors import InvalidMeshError
from dmr.io.npz import LABEL_ROWS, LABELS, OF_ROWS
from dmr.mesh.types import Mesh

Int64 = NDArray[np.int64]

# The arrays of a mesh that a piece has: holes, regions and names belong to the whole.
MESH_ARRAYS = (
    "vertices", "triangles", "segments", "segment_markers", "vertex_markers", "vertex_attributes",
    "triangle_attributes", "area_bounds",
)  # fmt: skip
NUMBERS = "numbers"
BORDER = "border"  # in a folder with a piece: the ascending numbers of the vertices that other pieces may have
PER_TRIANGLE = LABELS
ROWS = LABEL_ROWS  # of `Labels` in a folder
REQUIRED = ("vertices", "triangles")


class Arrays(Protocol):
    """Arrays by name, such as those of a folder."""

    def __getitem__(self, name: str, /) -> NDArray[Any]:
        """Returns an array."""

    def __setitem__(self, name: str, array: NDArray[Any], /) -> None:
        """Stores an array."""

    def __contains__(self, name: object, /) -> bool:
        """Whether there is an array of that name."""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of triangles (`PER_TRIANGLE`), as rows of tables that many of them share.

    Attributes:
        rows: (m,) int32 or uint8, the row of each triangle; tables: of each label.
    """

    rows: NDArray[np.integer[Any]]
    tables: Mapping[str, NDArray[Any]]

    @staticmethod
    def save_tables(tables: Mapping[str, NDArray[Any]], arrays: Arrays) -> None:
        """Stores tables; the rows are to be stored as `ROWS`."""
        for name, table in tables.items():
            arrays[f"{name}{OF_ROWS}"] = table

    @staticmethod
    def columns(mesh: Mesh) -> dict[str, NDArray[Any]]:
        """Returns the labels of a mesh by triangle, by name."""
        found = {name: getattr(mesh, name) for name in PER_TRIANGLE}
        return {name: each for name, each in found.items() if each is not None and each.size}

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]]) -> Labels | None:
        """Returns the stored labels, or None if there are none, or if they are stored by triangle."""
        if ROWS not in arrays:
            return None
        names = [name for name in PER_TRIANGLE if f"{name}{OF_ROWS}" in arrays]
        return cls(arrays[ROWS], {name: arrays[f"{name}{OF_ROWS}"] for name in names})


@dataclass(frozen=True, eq=False)
class Piece(HoldsFrozen):
    """A part of a mesh. The pieces of a mesh cover its domain and do not overlap.

    Neighbouring pieces share the vertices between them: these have equal numbers and equal bits in both.

    Attributes:
        mesh: its triangles, and the vertices, segments and attributes that these have. A segment between two pieces is
            in both. The boundary of a piece is not the boundary of the domain.
        numbers: (n,) int64, the number of each vertex in the whole; those below the number of the input's vertices are
            the input's.

    Raises:
        InvalidMeshError: there is not one number per vertex.
    """

    mesh: Mesh
    numbers: Int64

    def __post_init__(self) -> None:
        numbers = np.ascontiguousarray(self.numbers, np.int64)
        if numbers.shape != (len(self.mesh.vertices),):
            raise InvalidMeshError(
                f"the numbers of a piece must have shape ({len(self.mesh.vertices)},), not {numbers.shape}"
            )
        object.__setattr__(self, NUMBERS, frozen(numbers))

    def save(self, arrays: Arrays) -> None:
        """Stores the arrays of the piece, each under the name of its attribute, and no empty attributes."""
        for name in MESH_ARRAYS:
            array = getattr(self.mesh, name)
            if array is not None and (array.size or name in REQUIRED):
                arrays[name] = array
        arrays[NUMBERS] = self.numbers

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]], threads: int | None = 1) -> Piece:
        """Returns the piece whose arrays were stored by `save`; they are trusted. `threads` take labels."""
        return cls(labelled(stored_mesh(arrays), Labels.load(arrays), threads), arrays[NUMBERS])


def stored_mesh(arrays: Arrays | Mapping[str, NDArray[Any]]) -> Mesh:
    """Returns the mesh of a stored piece, without its `Labels`."""
    return Mesh.sound(**{name: arrays[name] for name in MESH_ARRAYS if name in arrays})


def labelled(mesh: Mesh, labels: Labels | None, threads: int | None = 1) -> Mesh:
    """Returns a mesh with labels by triangle; `threads` take them, None for all cores."""
    if labels is None:
        return mesh
    arrays = {name: getattr(mesh, name) for name in MESH_ARRAYS}
    taken = {name: rows_taken(table, labels.rows, threads) for name, table in labels.tables.items()}
    return Mesh.sound(**arrays | taken)
