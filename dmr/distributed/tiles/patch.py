"""A patch: a piece of a mesh with all that its refinement needs to know of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.cached import cached_property
from dmr.common.threads import thread_count
from dmr.distributed.threaded import flags, frozen, joined, rows_put, rows_taken, touching
from dmr.distributed.tiles.piece import MESH_ARRAYS, NUMBERS, Arrays, Int64, Piece, stored_mesh
from dmr.distributed.unions.numbering import is_among
from dmr.distributed.unions.union import Numbers, unite
from dmr.memory import constant
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Float, Int, Mesh

Mask = NDArray[np.bool_]

# Why a triangle of a patch violates a bound: 0 if it violates none, else the place in this list, plus 1.
REASONS = ("small_input_angle", "precision", "kept_segment", "waiting", "budget")
MOSTLY_ZERO = ("vertex_origin", "vertex_parameter", "seeds", "reasons")  # origins: less that of free vertices
NEIGHBOURS, ON_EDGES = "edge_neighbours", "edge_segments"  # of stored `Edges`
FREE_VERTEX = constant("FREE_VERTEX")
NEXT = np.array([1, 2, 0])  # corner of each corner of a triangle
OWN_ARRAYS = ("vertex_origin", "vertex_parameter", "segment_origin", "seeds", "reasons")


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a patch's triangles.

    Attributes:
        neighbours: (m, 3) int32, as `Mesh.neighbours`.
        segments: (m, 3) int32, the row of the segment on an edge, -1 if there is none.
    """

    neighbours: Int
    segments: Int

    @cached_property
    def on_segments(self) -> NDArray[np.intp]:
        """The places in the flat arrays of the edges on segments, ascending: few, as a rule."""
        return np.flatnonzero(self.segments.reshape(-1) >= 0)

    def frozen(self, threads: int | None = None) -> Mask:
        """Returns (m,) bool: whether a triangle has a cut edge; `threads` compute, None for all cores."""
        return frozen(self.neighbours, self.segments, threads)


@dataclass(frozen=True, eq=False)
class Patch:
    """A piece during the refinement.

    Attributes:
        piece: the mesh, whose segments are all subsegments, those of the domain's boundary included. A vertex that its
            refinement has inserted has no number yet, but -1, -2, ...: see `numbered`. Vertices are in ascending order
            of their numbers.
        vertex_origin: (n,) int32, the input segment on which a vertex was inserted, or `INPUT_VERTEX`, `FREE_VERTEX`
            (cuda_src/mesh/triangles.cuh).
        vertex_parameter: (n,) float64, the vertex's parameter on that segment.
        segment_origin: (s,) int32, the input segment that a subsegment is a piece of.
        seeds: (m,) bool, triangles that wait, or that no tile has refined yet.
        reasons: (m,) uint8, why a triangle violates a bound (`REASONS`).
        edges: of its triangles, where they are known (`edges_of`).
    """

    piece: Piece
    vertex_origin: Int
    vertex_parameter: Float
    segment_origin: Int
    seeds: Mask
    reasons: NDArray[np.uint8]
    edges: Edges | None = None

    @property
    def mesh(self) -> Mesh:
        """The mesh of the piece."""
        return self.piece.mesh

    @property
    def numbers(self) -> Int64:
        """The numbers of the vertices."""
        return self.piece.numbers

    def save(self, arrays: Arrays) -> None:
        """Stores the arrays by name, without what is zero as a rule."""
        self.save_all_but_seeds(arrays)
        self.save_seeds(arrays)

    def save_seeds(self, arrays: Arrays) -> None:
        """Stores the seeds, which `save_all_but_seeds` leaves out."""
        places = np.flatnonzero(self.seeds)
        store_sparse(arrays, "seeds", self.seeds[places], places)

    def save_all_but_seeds(self, arrays: Arrays) -> None:
        """Stores the other arrays."""
        self.piece.save(arrays)
        arrays["segment_origin"] = self.segment_origin
        for name in [name for name in MOSTLY_ZERO if name != "seeds"]:
            values = getattr(self, name)
            if name == "vertex_origin":
                values = values - np.int32(FREE_VERTEX)
            places = np.flatnonzero(values)
            store_sparse(arrays, name, values[places], places)
        if self.edges is not None:
            arrays[NEIGHBOURS], arrays[ON_EDGES] = self.edges.neighbours, self.edges.segments

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]], threads: int | None = 1) -> Patch:
        """Returns the patch whose arrays were stored by `save`; `threads` take labels, None for all cores."""
        piece = Piece.load(arrays, threads)
        own = {"segment_origin": np.asarray(arrays["segment_origin"])}
        for name in MOSTLY_ZERO:
            rows = len(piece.numbers) if name.startswith("vertex") else len(piece.mesh.triangles)
            own[name] = np.zeros(rows, arrays[name].dtype)
            own[name][arrays[f"{name}_at"]] = arrays[name]
        own["vertex_origin"] += np.int32(FREE_VERTEX)
        edges = Edges(arrays[NEIGHBOURS], arrays[ON_EDGES]) if NEIGHBOURS in arrays else None
        return cls(piece, **own, edges=edges)

    @property
    def has_labels(self) -> bool:
        """Whether its triangles have attributes or area bounds."""
        return any(each is not None and each.size for each in (self.mesh.triangle_attributes, self.mesh.area_bounds))

    def uses_all_vertices(self, threads: int | None = None) -> bool:
        """Whether each vertex is a corner of a triangle; `threads` compute, None for all cores."""
        return bool(flags(len(self.numbers), self.mesh.triangles, threads).all())

    def numbered(self, first: int) -> Patch:
        """Returns the patch with numbers from `first` on for the vertices that have none."""
        return replace(self, piece=Piece(self.mesh, with_numbers(self.numbers, first)))

    def published(self, named: Mask) -> Piece:
        """Returns the piece of the result: its segments are pieces of the input segments that are `named`."""
        return Piece(_published(self.mesh, self.segment_origin, named), self.numbers)

    def taken(self, chosen: NDArray[np.intp], threads: int | None, segments: NDArray[np.intp] | None = None) -> Patch:
        """Returns the patch of the chosen triangles, with the vertices and segments that these have.

        Args:
            chosen: the numbers of the triangles; threads: that take rows.
            segments: the rows of the segments that are edges of the triangles, where they are known.
        """
        mesh = self.mesh
        triangles = rows_taken(mesh.triangles, chosen, threads)
        is_used = flags(len(mesh.vertices), triangles, threads)
        place = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
        if segments is None:
            kept = np.flatnonzero(is_used[mesh.segments[:, 0]] & is_used[mesh.segments[:, 1]])
            kept = kept[_are_edges(mesh.segments[kept], triangles, len(is_used), threads)]
        else:
            kept = segments
        used = np.flatnonzero(is_used)

        def rows(array: NDArray[Any] | None, numbers: NDArray[np.intp]) -> Any:
            return None if array is None else rows_taken(array, numbers, threads)

        return Patch(
            Piece(
                Mesh.sound(
                    vertices=rows(mesh.vertices, used),
                    triangles=rows_taken(place, triangles, threads),
                    segments=place[mesh.segments[kept]],
                    segment_markers=rows(mesh.segment_markers, kept),
                    vertex_markers=rows(mesh.vertex_markers, used),
                    vertex_attributes=rows(mesh.vertex_attributes, used),
                    triangle_attributes=rows(mesh.triangle_attributes, chosen),
                    area_bounds=rows(mesh.area_bounds, chosen),
                ),
                rows(self.numbers, used),
            ),
            rows(self.vertex_origin, used),
            rows(self.vertex_parameter, used),
            rows(self.segment_origin, kept),
            rows(self.seeds, chosen),
            rows(self.reasons, chosen),
        )


def store_sparse(arrays: Arrays, name: str, values: NDArray[Any], places: NDArray[Any]) -> None:
    """Stores values at some places of an array (`MOSTLY_ZERO`) that is zero elsewhere."""
    arrays[name], arrays[f"{name}_at"] = values, places


def with_numbers(numbers: Int64, first: int) -> Int64:
    """Returns numbers of vertices, with those from `first` on in place of -1, -2, ..."""
    return np.where(numbers < 0, first - 1 - numbers, numbers)


def published_arrays(arrays: Arrays | Mapping[str, NDArray[Any]], named: Mask) -> tuple[Mesh, Int64]:
    """Returns the mesh of `Patch.published` for a stored patch, without `Labels`, and the stored numbers."""
    mesh = stored_mesh(arrays)
    return _published(mesh, arrays["segment_origin"], named), arrays[NUMBERS]


def _published(mesh: Mesh, segment_origin: Int, named: Mask) -> Mesh:
    kept = named[segment_origin]
    arrays = {name: getattr(mesh, name) for name in MESH_ARRAYS}
    arrays |= {"segments": mesh.segments[kept], "segment_markers": _rows(mesh.segment_markers, kept)}
    return Mesh.sound(**arrays)


def glued(patches: Sequence[Patch], threads: int | None = None) -> Patch:
    """Returns the union of patches, in which all vertices are numbered; its vertices are in the order of numbers.

    Args:
        threads: that compute; None for all cores.
    """
    union = unite([Numbers(patch.numbers) for patch in patches], thread_count(threads))

    def rows(name: str, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        if not name.startswith("vert"):
            return joined(parts, threads)
        table = np.empty((len(union.numbers), *parts[0].shape[1:]), parts[0].dtype)
        for places, part in zip(reversed(union.places), reversed(parts), strict=True):  # the first part that has a row
            rows_put(table, places, part, threads)
        return table

    arrays: dict[str, Any] = {}
    for name in MESH_ARRAYS:
        parts = [getattr(patch.mesh, name) for patch in patches]
        if name in ("triangles", "segments"):
            arrays[name] = _renumbered(parts, union.places, threads)
        else:
            arrays[name] = None if parts[0] is None else rows(name, parts)
    _, once = np.unique(edge_keys(*arrays["segments"].T), return_index=True)  # those between are in both
    arrays["segments"], arrays["segment_markers"] = arrays["segments"][once], arrays["segment_markers"][once]
    own: dict[str, Any] = {name: rows(name, [getattr(patch, name) for patch in patches]) for name in OWN_ARRAYS}
    own["segment_origin"] = own["segment_origin"][once]
    return Patch(Piece(Mesh.sound(**arrays), union.numbers), **own)


def _renumbered(parts: Sequence[Int], places: Sequence[Int], threads: int | None) -> Int:
    """Returns the rows of tables of vertices one after another, with the places of the vertices in a union."""
    found = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), np.int32)
    start = 0
    for part, local in zip(parts, places, strict=True):
        rows_taken(local, part, threads, found[start : start + len(part)])
        start += len(part)
    return found


def _rows(array: NDArray[Any] | None, chosen: NDArray[Any]) -> Any:
    return None if array is None else array[chosen]


def _are_edges(segments: Int, triangles: Int, vertices: int, threads: int | None) -> Mask:
    """Whether each segment is an edge of one of the triangles; `vertices` is the number of vertices."""
    is_end = flags(vertices, segments, threads)
    corners = triangles[np.flatnonzero(touching(triangles, is_end, threads, least=2))]  # few, as a rule
    at = is_end[corners]
    rows, k = np.nonzero(at & at[:, NEXT])
    found = edge_keys(corners[rows, k], corners[rows, NEXT[k]])
    return is_among(edge_keys(segments[:, 0], segments[:, 1]), np.sort(found))
