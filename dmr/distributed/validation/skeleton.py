"""The skeleton of a mesh in parts: its triangles at segments and at the boundary.

The checks of `dmr.validation.domain` need the constrained edges of a mesh, the triangles beside them, and which of
these triangles lie in the same face. So they can check the skeleton in place of the mesh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.tiles.piece import Piece
from dmr.distributed.tiles.pieces import restricted, united
from dmr.distributed.validation.layers import SKELETON, Layer
from dmr.mesh.edges import connected
from dmr.mesh.types import Mesh
from dmr.validation.arrays.pieces import Workers
from dmr.validation.triangulation.topology import Index, Topology, used_vertices

Float = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SkeletonTopology(Topology):
    """The half-edges of some triangles of a mesh.

    A half-edge whose twin belongs to another triangle is its own twin: it is not a boundary, and was checked in its
    part.

    Attributes:
        faces: (m,) the face of the mesh, between its constrained edges, that each triangle lies in: from 0 on.
    """

    faces: Int64

    @property
    def hidden(self) -> Int64:
        """Triangles beside others that are not in the list, ascending."""
        return distinct(np.flatnonzero(self.twins == np.arange(len(self.twins))) // 3)

    def components(self, walls: Index) -> Int64:
        """(m,) the component of each triangle; walls are constrained edges, so a face lies in one component."""
        free = self.twins > np.arange(len(self.twins))
        free[walls] = False
        across = np.flatnonzero(free)
        order = np.argsort(self.faces, kind="stable")
        same = np.flatnonzero(np.diff(self.faces[order]) == 0)
        first = np.concatenate([across // 3, order[same]])
        second = np.concatenate([self.twins[across] // 3, order[same + 1]])
        return connected(len(self.faces), first, second)


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The skeleton of a mesh in parts, after the vertices of its input.

    Attributes:
        mesh: its triangles; the vertices of the input come first, under their numbers.
        topology: their half-edges.
        vertices, triangles: the numbers of vertices and triangles in the whole.
    """

    mesh: Mesh
    topology: SkeletonTopology
    vertices: Int64
    triangles: Int64

    @classmethod
    def of(
        cls,
        parts: Sequence[Folder],
        firsts: Sequence[int],
        faces: Callable[[Int64], Int64],
        given: Float,
        workers: Workers,
    ) -> Skeleton:
        """Unites the skeletons of parts.

        Args:
            parts: the outputs of `check_part`; firsts: the number of the first triangle of each part, then of all.
            faces: returns the faces of the mesh that faces of parts belong to, from 0 on.
            given: (n, 2) the vertices of the input.
            workers: the threads.
        """
        layers = [Layer(folder, SKELETON) for folder in parts]
        pieces = [Piece.load(layer) for layer in layers]
        numbers = np.concatenate([layer["triangle"] for layer in layers])
        boundary = np.concatenate([layer["boundary"] for layer in layers])
        labels = np.concatenate([layer["face"] for layer in layers])
        part = np.repeat(np.arange(len(parts)), [len(piece.mesh.triangles) for piece in pieces])
        # Ghosts may be in the skeletons of several parts: the owner's comes first.
        ghost = np.searchsorted(np.asarray(firsts), numbers, side="right") - 1 != part
        order = np.lexsort((ghost, numbers))
        once = order[np.flatnonzero(np.diff(numbers[order], prepend=-1))]
        whole = united([*pieces, _piece_of_vertices(parts, given, pieces[0].mesh)])
        whole = restricted(whole, once, vertices=np.arange(len(whole.numbers)))
        mesh = whole.mesh
        used = used_vertices(mesh.triangles, len(mesh.vertices), workers)
        used[np.concatenate([folder["used"] for folder in parts])] = True
        base = Topology.of(mesh.triangles, len(mesh.vertices), workers, used)
        hidden = np.flatnonzero((base.twins < 0) & ~boundary[once].ravel())
        base.twins[hidden] = hidden
        topology = SkeletonTopology(**vars(base), faces=faces(labels[once]))
        return cls(mesh, topology, whole.numbers, numbers[once])


def _piece_of_vertices(parts: Sequence[Folder], given: Float, like: Mesh) -> Piece:
    """The vertices of the input, with the markers that they have in the parts, and arrays like those of a mesh."""
    arrays: dict[str, Any] = {"vertices": given, "triangles": np.empty((0, 3), np.int32)}
    if like.vertex_markers is not None:
        arrays["vertex_markers"] = np.zeros(len(given), np.int32)
        for folder in parts:
            arrays["vertex_markers"][folder["used"]] = folder["used-markers"]
    for name, count in (("vertex_attributes", len(given)), ("triangle_attributes", 0), ("area_bounds", 0)):
        array = getattr(like, name)
        if array is not None:
            arrays[name] = np.zeros((count, *array.shape[1:]))
    return Piece(Mesh.sound(**arrays), np.arange(len(given)))
