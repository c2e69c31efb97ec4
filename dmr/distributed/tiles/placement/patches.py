"""Places points by size in the active part of a patch, and triangulates it again.

    the front               starts from edges as long as the sizes, beside triangles that are not filled; where one size
                            is wanted, from a lattice that all tiles share; else, without such edges, from a seed
    drop                    points in circles of frozen triangles: what is not filled there waits for a band
    remove                  points of the coarse mesh that no frozen triangle uses; new points take their numbers
    triangulate             the active part, with the edges to frozen triangles as constraints
    smooth                  points that are not near frozen triangles

The triangulation is constrained Delaunay across the edges to frozen triangles, too: vertices of the patch that are
visible through such an edge were outside the circle of the frozen triangle before, and the new ones are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.common.threads import available_threads
from dmr.distributed.tiles.admission import admit_tile, tile_of
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.cuts import border_vertices, cut_edges, edges_of
from dmr.distributed.tiles.patch import Edges, Mask, Patch
from dmr.distributed.tiles.piece import Piece
from dmr.distributed.tiles.placement.circles import Circles
from dmr.distributed.tiles.placement.coarse import COARSE_VERTEX, FREE_VERTEX, Wanted
from dmr.distributed.tiles.placement.lattices import Lattice, lacks_neighbours
from dmr.distributed.tiles.placement.point_trees import point_tree
from dmr.distributed.tiles.refining import prepare
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.native import components
from dmr.errors import InternalError
from dmr.memory import Device, constant
from dmr.memory.declarations import declarations
from dmr.mesh.location.background import DeviceBackground, Places
from dmr.mesh.types import Float, Int, Mesh, Pslg
from dmr.refinement.placement.front import Front, Outline
from dmr.refinement.placement.lattice import CLEARANCE, EVEN
from dmr.refinement.placement.metric import lengths
from dmr.refinement.placement.smoothing import smooth
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.sizing.source import SizeSource
from dmr.triangulation.meshing import fastest_plane
from dmr.triangulation.rounds.epochs import Epochs

INPUT_VERTEX = constant("INPUT_VERTEX")
LONGEST, SPACING = (declarations().real_constant(name) for name in ("LONGEST", "SPACING"))
UNFILLED = 1.6  # sizes: triangles with longer edges are not filled
SEED_CLEARANCE = 1.5  # sizes between a seed and all other points
LEAST_DISTANCE = 0.3  # sizes between a new point and a vertex that stays
SAMPLES = 5  # of the sizes along an edge to a frozen triangle
MOST_POINTS = 2**29
SEARCHED = 1.001  # largest distances within which other points are searched


@dataclass(frozen=True, eq=False)
class Placed:
    """A patch with placed points, the vertices on its border with others, and the number of new vertices."""

    patch: Patch
    border: Int
    inserted: int


def place_in_patch(patch: Patch, whole: Whole, bounds: Bounds, wanted: Wanted, device: Device) -> Placed:
    """Places points in the active triangles of a patch; what is not filled because of frozen triangles are its seeds.

    Args:
        patch: with numbers for all vertices; whole: of the domain.
        bounds: of the refinement; wanted: the sizes; device: where.
    """
    prepare(device, bounds.options, placed=True)
    return _Placing(patch, whole, wanted.sizes(bounds), wanted.lattice, device).run()


class _Placing:
    """Places points in one patch. It holds the device only while kernels run: other tiles use it meanwhile."""

    def __init__(self, patch: Patch, whole: Whole, sizes: SizeSource, lattice: Float, device: Device) -> None:
        self._patch, self._whole, self._sizes, self._device = patch, whole, sizes, device
        self._lattice = lattice
        self._points = patch.mesh.vertices
        self._edges = edges_of(patch, device.threads or None)
        self._frozen = self._edges.frozen()
        self._cuts = cut_edges(patch, self._edges, self._frozen, device.threads or None)
        self._at = sizes(self._points)
        across = self._edges.neighbours
        is_cut = (across >= 0) & (self._edges.segments < 0) & ~self._frozen[:, None]
        beside = distinct(across[is_cut & self._frozen[across]])
        self._circles = Circles(self._points[patch.mesh.triangles[beside]])

    def run(self) -> Placed:
        patch, inserted = self._patch, 0
        unfilled = self._unfilled(patch.mesh, patch.vertex_origin)
        if (unfilled & ~self._frozen).any():
            candidates = self._candidates(unfilled & ~self._frozen)
            patch, inserted = self._with_points(candidates)
            patch = self._smoothed(patch)
            unfilled = self._unfilled(patch.mesh, patch.vertex_origin)
        edges = edges_of(patch, self._device.threads or None)
        patch = replace(patch, seeds=_waiting(unfilled, edges), reasons=np.zeros(len(unfilled), np.uint8))
        inside = ~self._whole.boundary[patch.segment_origin]
        return Placed(patch, border_vertices(patch, edges, inside), inserted)

    def _unfilled(self, mesh: Mesh, origin: Int) -> Mask:
        """Returns which triangles have edges that are too long, or points of the coarse mesh."""
        sizes = self._at if mesh is self._patch.mesh else self._sizes(mesh.vertices)
        found: Mask = (origin == COARSE_VERTEX)[mesh.triangles].any(axis=1)
        for k in range(3):
            a, b = mesh.triangles[:, k], mesh.triangles[:, (k + 1) % 3]
            found |= lengths(mesh.vertices[b] - mesh.vertices[a]) > UNFILLED * np.maximum(sizes[a], sizes[b])
        return found

    # Candidates

    def _candidates(self, unfilled: Mask) -> Float:
        """Returns the points that may be placed, outside of all circles of frozen triangles."""
        patch, active = self._patch, ~self._frozen
        used = np.zeros(len(self._points), np.bool_)
        used[patch.mesh.triangles[active]] = True
        removed = self._removable()
        kept = np.flatnonzero(used & ~removed)
        row = np.full(len(self._points), -1, np.int32)
        row[kept] = np.arange(len(kept), dtype=np.int32)
        fence, fence_pieces = self._fence(row, len(kept))
        segments = patch.mesh.segments[self._beside_active()]
        fronts = self._fronts(unfilled)
        begun = self._begun(fronts, unfilled, segments, np.concatenate([self._points[kept], fence]))
        nodes = np.concatenate([self._points[kept], fence, begun.points])
        first = len(nodes) - len(begun.points)
        fronts = np.concatenate([row[fronts], begun.fronts + np.int32(first)]).astype(np.int32)
        found = begun.points
        if len(fronts):
            pieces = np.concatenate([row[segments], fence_pieces]).astype(np.int32)
            outline = Outline(nodes, pieces, fronts, np.empty((0, 2), np.int32))
            with self._device.lock, self._device.current:
                advanced = Front(outline, self._sizes, self._device, MOST_POINTS).run(TimeLimit(None), None)
            found = np.concatenate([found, advanced])
        found = found[~self._circles.hold(found)]
        coarse = kept[patch.vertex_origin[kept] == COARSE_VERTEX]
        if len(coarse) and len(found):
            found = found[self._apart(found, self._points[coarse], LEAST_DISTANCE * self._sizes(found))]
        return found[self._clear(found, kept)]

    def _clear(self, points: Float, vertices: NDArray[np.intp]) -> Mask:
        """Returns which points are not too near to a vertex, in sizes at the point or the vertex, the smaller one.

        Where sizes vary fast, a front sees no nodes of much larger sizes, such as points that it has placed before: it
        would place these again.
        """
        if not len(vertices) or not len(points):
            return np.ones(len(points), np.bool_)
        apart, nearest = point_tree(self._points[vertices]).query(points)
        found: Mask = apart >= LEAST_DISTANCE * np.minimum(self._sizes(points), self._at[vertices[nearest]])
        return found

    def _removable(self) -> Mask:
        """Returns which vertices are points of the coarse mesh that no frozen triangle uses."""
        found: Mask = self._patch.vertex_origin == COARSE_VERTEX
        found[self._patch.mesh.triangles[self._frozen]] = False
        return found

    def _beside_active(self) -> Int:
        """Returns the rows of the segments beside active triangles."""
        rows = self._edges.segments[~self._frozen]
        return distinct(rows[rows >= 0])

    def _fence(self, row: Int, first: int) -> tuple[Float, Int]:
        """Returns points that divide the edges to frozen triangles by size, and the pieces: no front crosses them.

        Args:
            row: the node of each vertex; first: the number of the first new node.
        """
        start, end = self._points[self._cuts.starts], self._points[self._cuts.ends]
        if not len(start):
            return np.empty((0, 2)), np.empty((0, 2), np.int32)
        part = np.linspace(0, 1, SAMPLES)[:, None, None]
        least = self._sizes((start + part * (end - start)).reshape(-1, 2)).reshape(SAMPLES, -1).min(axis=0)
        counts = np.ceil(lengths(end - start) / least).clip(1, MOST_POINTS).astype(np.int64)
        edge = np.repeat(np.arange(len(counts)), counts - 1)
        number = np.arange(len(edge)) - np.repeat(np.cumsum(counts - 1) - (counts - 1), counts - 1) + 1
        points = start[edge] + (number / counts[edge])[:, None] * (end - start)[edge]
        new = np.arange(first, first + len(edge), dtype=np.int32)
        last, only = number == counts[edge] - 1, counts == 1
        pieces = [
            np.stack([np.where(number == 1, row[self._cuts.starts[edge]], new - 1), new], axis=1),
            np.stack([new[last], row[self._cuts.ends[edge[last]]]], axis=1),
            np.stack([row[self._cuts.starts[only]], row[self._cuts.ends[only]]], axis=1),
        ]
        return points, np.concatenate(pieces).astype(np.int32)

    def _fronts(self, unfilled: Mask) -> Int:
        """Returns the edges as long as the sizes, or shorter, with a triangle on the left that is not filled."""
        coarse = self._patch.vertex_origin == COARSE_VERTEX
        found = []
        for k in range(3):
            edges = self._patch.mesh.triangles[unfilled][:, [k, (k + 1) % 3]]
            edges = edges[~coarse[edges].any(axis=1)]
            a, b = edges.T
            short = lengths(self._points[b] - self._points[a]) <= LONGEST * 0.5 * (self._at[a] + self._at[b])
            found.append(edges[short])
        return np.concatenate(found)

    def _begun(self, fronts: Int, unfilled: Mask, segments: Int, nodes: Float) -> _Begun:
        """Returns what fronts start from besides edges: points of the lattice, and seeds where there is nothing."""
        patch = self._patch
        lattice = self._lattice_points(unfilled, segments)
        inside = np.where(self._edges.segments < 0, self._edges.neighbours, -1)
        inside = np.where((inside >= 0) & unfilled[inside] & unfilled[:, None], inside, -1).astype(np.int32)
        component = components(inside)
        there = np.zeros(len(component), np.bool_)  # by component: whether something starts there
        known = np.zeros(len(self._points), np.bool_)
        known[fronts] = True
        there[component[unfilled & known[patch.mesh.triangles].any(axis=1)]] = True
        there[component[lattice.triangles]] = True
        seeds = self._seeds(component, unfilled & ~there[component], np.concatenate([nodes, lattice.points]))
        count, n = len(seeds) // 2, len(lattice.points)
        pairs = n + np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
        fronts = np.concatenate([lattice.fronts, pairs, pairs[:, ::-1]]).astype(np.int32)
        return _Begun(np.concatenate([lattice.points, seeds]), fronts, lattice.triangles)

    def _seeds(self, component: Int, wanted: Mask, nodes: Float) -> Float:
        """Returns two points in each component of some triangles, as far from all nodes as a centroid can be."""
        triangles = np.flatnonzero(wanted)
        if not len(triangles):
            return np.empty((0, 2))
        corners = self._points[self._patch.mesh.triangles[triangles]]
        places = corners.sum(axis=1) / 3
        sizes, apart = self._sizes(places), point_tree(nodes).query(places)[0]
        free = (apart >= SEED_CLEARANCE * sizes) & ~self._circles.hold(places)
        order = np.lexsort((triangles, -apart / sizes, component[triangles]))
        order = order[free[order]]
        first = np.ones(len(order), np.bool_)
        first[1:] = component[triangles[order[1:]]] != component[triangles[order[:-1]]]
        chosen = order[first]
        way = np.zeros((len(chosen), 2))
        way[:, 0] = 0.5 * sizes[chosen]
        return np.stack([places[chosen] - way, places[chosen] + way], axis=1).reshape(-1, 2)

    def _lattice_points(self, unfilled: Mask, segments: Int) -> _Begun:
        """Returns the points of the whole's lattice in triangles that are not filled, and fronts from all of them."""
        none = _Begun(np.empty((0, 2)), np.empty((0, 2), np.int32), np.empty(0, np.int32))
        if not len(self._lattice):
            return none
        triangles = np.flatnonzero(unfilled)
        corners = self._patch.mesh.triangles[triangles]
        lattice = Lattice(self._lattice)
        row, column, held = lattice.places_in(self._points[corners])
        points, of = lattice.points(row, column), triangles[held].astype(np.int32)
        good = np.abs(self._sizes(points) - lattice.size) <= EVEN * lattice.size
        good &= ~self._circles.hold(points)
        if len(segments):
            ends = self._points[distinct(segments)]
            good &= self._apart(points, ends, np.full(len(points), CLEARANCE * lattice.size))
        free = distinct(corners)
        free = free[self._patch.vertex_origin[free] != COARSE_VERTEX]
        if len(free):
            good &= self._apart(points, self._points[free], np.full(len(points), SPACING * lattice.size))
        if not good.any():
            return none
        points, of = points[good], of[good]
        outer = np.flatnonzero(lacks_neighbours(row[good], column[good]))
        pairs = outer[point_tree(points[outer]).query_pairs(1.01 * lattice.spacing, output_type="ndarray")].astype(
            np.int32
        )
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        return _Begun(points, np.concatenate([pairs, pairs[:, ::-1]]), of)

    def _apart(self, points: Float, others: Float, least: Float) -> Mask:
        """Returns which points are at least a distance away from all others, each its own."""
        # A search without a bound visits most of the tree for a point that is far from all others.
        most, threads = SEARCHED * float(least.max(initial=0.0)), self._device.threads or available_threads()
        nearest = point_tree(others).query(points, distance_upper_bound=most, workers=threads)[0]
        found: Mask = nearest >= least
        return found

    def _places(self, triangles: Int, points: Float) -> Places:
        background = Mesh.sound(vertices=self._points, triangles=triangles)
        return DeviceBackground(background, self._device).places(points)

    def _interpolated(self, mesh: Mesh, triangles: Int, vertices: Float, new: NDArray[Any]) -> Float:
        """Returns the attributes of vertices: those of a mesh, except the new ones, which are interpolated in it.

        Args:
            triangles: those of the mesh that hold the new vertices.
        """
        given = mesh.vertex_attributes
        assert given is not None
        rows = np.concatenate([given, np.empty((len(vertices) - len(given), given.shape[1]))])
        if len(new) and given.shape[1]:
            background = Mesh.sound(vertices=mesh.vertices, triangles=triangles)
            places = DeviceBackground(background, self._device).places(vertices[new])
            weighted = given[places.corners] * places.weights[:, :, None]
            rows[new] = weighted[:, 0] + weighted[:, 1] + weighted[:, 2]
        return rows

    # The new triangulation

    def _with_points(self, candidates: Float) -> tuple[Patch, int]:
        """Returns the patch with new points in its active part, and the number of new vertices."""
        removed = removable = np.flatnonzero(self._removable())
        corners, candidates = self._triangulated(candidates, removed[:0])
        while len(candidates) < len(removed):  # all numbers stay in use
            removed, stays = removable[: len(candidates)], removable[len(candidates) :]
            candidates = candidates[self._clear(candidates, stays)]
            corners, candidates = self._triangulated(candidates, stays)
        patch, n = self._patch, len(self._points)
        taken = len(removed)
        new = np.concatenate([removed, np.arange(n, n + len(candidates) - taken)]).astype(np.int32)
        corners = np.concatenate([np.arange(n, dtype=np.int32), new])[corners]
        vertices = np.concatenate([self._points, np.empty((len(candidates) - taken, 2))])
        vertices[new] = candidates
        origin = np.concatenate([patch.vertex_origin, np.empty(len(candidates) - taken, np.int32)])
        origin[np.setdiff1d(np.flatnonzero(self._removable()), removed)] = FREE_VERTEX
        origin[new] = FREE_VERTEX
        parameter = np.concatenate([patch.vertex_parameter, np.zeros(len(candidates) - taken)])
        numbers = np.concatenate([patch.numbers, -1 - np.arange(len(candidates) - taken)])
        mesh = self._mesh(vertices, corners, new)
        seeds = np.zeros(len(mesh.triangles), np.bool_)
        return Patch(
            Piece(mesh, numbers), origin, parameter, patch.segment_origin, seeds, np.zeros(len(seeds), np.uint8)
        ), len(candidates) - taken

    def _triangulated(self, candidates: Float, stays: NDArray[np.intp]) -> tuple[Int, Float]:
        """Triangulates the active part with candidates, and those removable vertices that stay.

        Returns:
            (m, 3) corners: vertices of the patch, and after them the candidates that are in the active part; these.
        """
        patch, n = self._patch, len(self._points)
        used = np.zeros(n, np.bool_)
        used[patch.mesh.triangles[~self._frozen]] = True
        used &= ~self._removable()
        used[stays] = True
        kept = np.flatnonzero(used)
        row = np.full(n, -1, np.int32)
        row[kept] = np.arange(len(kept), dtype=np.int32)
        edges, both = self._constraints()
        with self._device.lock, self._device.current:
            while True:
                points = np.concatenate([self._points[kept], candidates])
                plane = fastest_plane(Pslg(points, row[edges]), self._device)
                on_edges = distinct(plane.edges[(plane.edges >= len(kept)) & (plane.edges < len(points))])
                if not len(on_edges):
                    break
                candidates = np.delete(candidates, on_edges - len(kept), axis=0)  # rounding has put them there
            if len(plane.conflicts) or plane.same_as is not None:
                raise InternalError("points placed in a tile meet its segments or each other")
            corners = plane.tables.within(plane.domain(both[plane.edge_segments]), plane.left_side)[0].corners
        there = np.zeros(len(points), np.bool_)
        there[corners] = True
        chosen = np.flatnonzero(there[len(kept) :])
        place = np.concatenate([kept, np.full(len(candidates), -1)])
        place[len(kept) + chosen] = n + np.arange(len(chosen))
        return place[corners].astype(np.int32), candidates[chosen]

    def _constraints(self) -> tuple[Int, Mask]:
        """Returns (e, 2) the edges around active triangles, with one of them on the left, and whether on both sides."""
        triangles = self._patch.mesh.triangles
        at, k = np.nonzero((self._edges.segments >= 0) & ~self._frozen[:, None])
        rows = self._edges.segments[at, k]
        order = np.lexsort((at, rows))
        at, k, rows = at[order], k[order], rows[order]
        first = np.ones(len(rows), np.bool_)
        first[1:] = rows[1:] != rows[:-1]
        both = np.bincount(np.cumsum(first) - 1, minlength=int(first.sum())) > 1
        at, k = at[first], k[first]
        segments = np.stack([triangles[at, (k + 1) % 3], triangles[at, (k + 2) % 3]], axis=1)
        cuts = np.stack([self._cuts.starts, self._cuts.ends], axis=1)
        return np.concatenate([segments, cuts]), np.concatenate([both, np.zeros(len(cuts), np.bool_)])

    def _mesh(self, vertices: Float, corners: Int, new: Int) -> Mesh:
        """Returns the mesh of the patch: the frozen triangles, and then those with new points."""
        own = self._patch.mesh
        frozen = np.flatnonzero(self._frozen)
        active = np.flatnonzero(~self._frozen)
        arrays = {}
        if own.vertex_markers is not None:
            markers = np.concatenate([own.vertex_markers, np.zeros(len(vertices) - len(self._points), np.int32)])
            markers[new] = 0
            arrays["vertex_markers"] = markers
        old = own.triangles[active]
        if own.vertex_attributes is not None:
            arrays["vertex_attributes"] = self._interpolated(own, old, vertices, new)
        carried = own.triangle_attributes is not None and own.triangle_attributes.shape[1] > 0
        if carried or own.area_bounds is not None:
            a, b, c = (vertices[corner] for corner in corners.T)
            of = active[self._places(old, a + ((b - a) + (c - a)) / 3.0).triangles]
            for name in ("triangle_attributes", "area_bounds"):
                values = getattr(own, name)
                if values is not None:
                    arrays[name] = values[np.concatenate([frozen, of])]
        return Mesh.sound(
            vertices=vertices, triangles=np.concatenate([own.triangles[frozen], corners]), segments=own.segments,
            segment_markers=own.segment_markers, **arrays,
        )  # fmt: skip

    # Smoothing

    def _smoothed(self, patch: Patch) -> Patch:
        """Returns the patch with points moved that are not near frozen triangles, and edges flipped."""
        triangles, frozen = patch.mesh.triangles, int(self._frozen.sum())
        near = np.zeros(len(patch.numbers), np.bool_)
        near[triangles[:frozen]] = True
        for _ in range(2):
            near[triangles[near[triangles].any(axis=1)]] = True
        fixed = near | (patch.vertex_origin != FREE_VERTEX)
        if fixed.all():
            return patch
        held = replace(
            patch, vertex_origin=np.where(near & (patch.vertex_origin < 0), INPUT_VERTEX, patch.vertex_origin)
        )
        tile = tile_of(held, self._whole, self._device.threads or None)
        chosen = np.flatnonzero(~tile.frozen)
        with self._device.lock, self._device.current:
            state = admit_tile(tile, self._whole, self._device, self._device.threads or None)
            smooth(state, Epochs())
            n, order = len(patch.numbers), state.order.download()
            moved_points = state.points[: len(order)].download().view(np.float64).reshape(-1, 2)
            corners = self._device.empty(3 * state.slots, np.int32)
            self._device.launch(
                "restore_corners", state.slots, state.triangles, state.order, state.input_vertices, corners
            )
            active = corners.detach().reshape(-1, 3)
            if state.ancestor is not None:
                chosen = chosen[state.ancestor[: state.slots].download()]
        vertices = np.empty((len(order), 2))
        vertices[order] = moved_points
        vertices = vertices[:n]
        moved = np.flatnonzero(~fixed)
        if self._circles.hold(vertices[moved]).any():
            return patch
        rows = np.concatenate([np.flatnonzero(tile.frozen), chosen])
        own, attributes = patch.mesh, patch.mesh.vertex_attributes
        if attributes is not None:
            attributes = self._interpolated(own, triangles[frozen:], vertices, moved)
        mesh = Mesh.sound(
            vertices=vertices,
            triangles=np.concatenate([triangles[tile.frozen], active]),
            segments=own.segments, segment_markers=own.segment_markers, vertex_markers=own.vertex_markers,
            vertex_attributes=attributes,
            triangle_attributes=None if own.triangle_attributes is None else own.triangle_attributes[rows],
            area_bounds=None if own.area_bounds is None else own.area_bounds[rows],
        )  # fmt: skip
        return replace(patch, piece=Piece(mesh, patch.numbers))


@dataclass(frozen=True, eq=False)
class _Begun:
    """Points from which fronts start.

    Attributes:
        points: (n, 2); fronts: (f, 2) int32, directed edges between them; triangles: (n,) or fewer, that hold them.
    """

    points: Float
    fronts: Int
    triangles: Int


def _waiting(unfilled: Mask, edges: Edges) -> Mask:
    """Returns the triangles that are not filled and frozen, and those that such triangles connect with them."""
    across = np.where(edges.segments < 0, edges.neighbours, -1)
    joined = np.where((across >= 0) & unfilled[across] & unfilled[:, None], across, -1).astype(np.int32)
    component = components(joined)
    reached = np.zeros(len(unfilled), np.bool_)
    reached[component[unfilled & edges.frozen()]] = True
    found: Mask = unfilled & reached[component]
    return found
