"""A part: triangles of a large mesh, and a layer of ghost triangles around them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.distributed.output.slices import reading_archive
from dmr.distributed.tiles.patch import REASONS
from dmr.errors import FileContentError
from dmr.io.npz import read_npz
from dmr.mesh.types import Mesh

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

# Fields of `Part` that a file holds besides the arrays of the mesh.
_NUMBERS = ("index", "own", "first")
_TABLES = ("numbers", "ghost_numbers", "ghost_owners", "border", "border_owners")
UNREFINED, UNREFINED_REASONS = "unrefined", "unrefined_reasons"  # only in a file with such triangles


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a mesh, as a solver's process needs it.

    The part owns some triangles. The others are ghosts: all triangles of other parts that share a vertex with those
    that it owns. Numbers are those of the whole mesh; triangles are numbered by part.

    Attributes:
        index: the part's number.
        mesh: the triangles that it owns, then the ghosts; their vertices; the segments that are edges of these
            triangles.
        numbers: (n,) int64, the number of each vertex. They ascend; in a part that the refinement in tiles has made,
            those of the vertices of a tile's core do, which come first, and then those of the others.
        own: how many triangles it owns; first: the number of the first one.
        ghost_numbers: (g,) int64, the number of each ghost, ascending; ghost_owners: (g,) int32, the part that owns it.
        border: (b,) int32, indices of the vertices that another part owns; border_owners: (b,) int32, that part. Of
            the parts with a triangle at a vertex, the one with the smallest number owns it.
        unrefined: (u,) int32, its own triangles that violate a bound, ascending; unrefined_reasons: (u,) uint8, why
            (`unrefined_triangles`).
    """

    index: int
    mesh: Mesh
    numbers: Int64
    own: int
    first: int
    ghost_numbers: Int64
    ghost_owners: Int32
    border: Int32
    border_owners: Int32
    unrefined: Int32 = field(default_factory=lambda: np.empty(0, np.int32))
    unrefined_reasons: NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))

    @cached_property
    def triangle_numbers(self) -> Int64:
        """(m,) int64: the number of each triangle."""
        return np.concatenate([np.arange(self.first, self.first + self.own), self.ghost_numbers])

    @cached_property
    def owners(self) -> Int32:
        """(m,) int32: the part that owns each triangle."""
        return np.concatenate([np.full(self.own, self.index, np.int32), self.ghost_owners])

    @cached_property
    def ghosts(self) -> NDArray[np.bool_]:
        """(m,) bool: which triangles are ghosts."""
        return np.arange(len(self.mesh.triangles)) >= self.own

    @cached_property
    def vertex_owners(self) -> Int32:
        """(n,) int32: the part that owns each vertex."""
        owners = np.full(len(self.numbers), self.index, np.int32)
        owners[self.border] = self.border_owners
        return owners

    @cached_property
    def ascending(self) -> tuple[slice, ...]:
        """The slices of the vertices in which the numbers ascend: one or two."""
        ends = 1 + np.flatnonzero(self.numbers[1:] <= self.numbers[:-1])
        return tuple(map(slice, [0, *ends.tolist()], [*ends.tolist(), len(self.numbers)]))

    @property
    def unrefined_triangles(self) -> dict[str, Int32]:
        """Its own triangles that violate a bound, by reason, as `Refinement.unrefined_triangles`."""
        by_reason = {name: self.unrefined[self.unrefined_reasons == place + 1] for place, name in enumerate(REASONS)}
        return {name: triangles for name, triangles in by_reason.items() if len(triangles)}

    @classmethod
    def read(cls, path: Path) -> Part:
        """Reads a part.

        Args:
            path: of its file (`Parts.path`).

        Raises:
            FileError: there is no such file, or it holds no part.
        """
        mesh = read_npz(path)
        if not isinstance(mesh, Mesh):
            raise FileContentError("holds an outline, and not a part of a mesh", path)
        with reading_archive(path), np.load(path, allow_pickle=False) as archive:
            missing = [name for name in (*_NUMBERS, *_TABLES) if name not in archive]
            if missing:
                raise FileContentError(f"holds a mesh, but no part of one: it has no array {missing[0]}", path)
            found: dict[str, Any] = {name: int(archive[name]) for name in _NUMBERS}
            found |= {name: archive[name] for name in _TABLES}
            found |= {name: archive[name] for name in (UNREFINED, UNREFINED_REASONS) if name in archive}
        part = cls(mesh=mesh, **found)
        with contextlib.suppress(IndexError):
            if part._fits():
                return part
        raise FileContentError("is damaged: its arrays do not have the lengths of a part's", path)

    def _fits(self) -> bool:
        """Whether the arrays have the lengths and ranges that belong together."""
        vertices, ghosts = len(self.mesh.vertices), len(self.mesh.triangles) - self.own
        return (
            self.own >= 0
            and self.numbers.shape == (vertices,)
            and self.ghost_numbers.shape == self.ghost_owners.shape == (ghosts,)
            and self.border.shape == self.border_owners.shape
            and self.unrefined.shape == self.unrefined_reasons.shape
            and bool(((self.unrefined >= 0) & (self.unrefined < self.own)).all())
            and bool(((self.border >= 0) & (self.border < vertices)).all())
        )
