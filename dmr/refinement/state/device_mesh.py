"""A mesh on a device: the arrays that the kernels work on, and how they grow."""

from __future__ import annotations

import math
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from dmr.errors import OutOfMemoryError
from dmr.memory import Device, DeviceArray, Packed, arrive, flagged_indices, pack
from dmr.mesh.types import Float, Int, Mesh
from dmr.refinement.state.result_memory import ResultMemory

MOST_TRIANGLES = 2**29 - 1  # half-edges are triangle << 2 | edge in 32 bits
MORE_TO_GROW = 2**14  # elements
FEW_TRIANGLES = 2**21  # a mesh of up to this many triangles gets its arrays at admission, as if all were bad


CHANGING = (
    "triangles", "quality", "rivals", "ancestor", "points", "vertex_origin", "vertex_parameter", "attributes",
    "subsegments", "subsegment_origin", "split_states",
)  # fmt: skip  # arrays that rounds write, and that grow
CLEARED = ("quality", "rivals", "split_states", "ancestor", "attributes")  # those of which the rest are zeros


def usual_capacity(vertices: int, slots: int, subsegments: int, bad: int) -> tuple[int, int, int]:
    """Estimates the vertices, triangles and subsegments after a refinement to 30 degrees, from those before it and the
    number of bad triangles."""
    # Segments receive about as many points as fit side by side.
    return vertices + 2 * bad + 1024, slots + 4 * bad + 2048, 3 * subsegments + 16 * math.isqrt(vertices) + 1024


@dataclass
class DeviceMesh:
    """The state of a refinement. Arrays hold at least as many elements as the counts say. The rest of
    `quality`, `rivals` and `split_states` are zeros; kernels write elements of the other arrays before they read them.

    Vertices are numbered along a space-filling curve; `order` maps them to the user's numbers.

    Attributes:
        vertices, slots, subsegments_count: number of vertices, triangles and subsegments.
        input_vertices: number of the admitted vertices; given: of the user's among them, if points were placed by size.
        named: number of input segments that the user named (the rest are boundary edges); named_markers: the markers
            of these.
        triangles, points, subsegments: the records of `cuda_src/mesh/triangles.cuh`.
        order: (input_vertices,) the user's number of each input vertex.
        quality: one word per triangle (`cuda_src/refine/quality/quality.cuh`); rivals: the last triangle that beat it
            (`cuda_src/refine/candidates/competing.cuh`).
        vertex_origin, vertex_parameter: the origin of a vertex, and its parameter on its input segment.
        input_subsegments: number of admitted subsegments, if placed points divide the input segments.
        subsegment_origin: the input segment of a subsegment; split_states: its split state.
        input_segments: ends of the input segments; acute: 1 at input vertices with a corner below 60 degrees, and
            any_acute: whether there are any; anchor: by input vertex, such a corner that an input segment joins it
            to, -1 if there is none.
        ancestor: the input triangle that a triangle descends from, if triangles carry something.
        area_bounds: the bounds of the input triangles, if there are any.
        regions: the label of each input triangle, and the attribute of each label, if the device has triangulated the
            input; otherwise triangles have the attributes of the input mesh.
        attributes: the vertex attributes, row by row; width: columns.
        beyond_cuts: the far corner of the frozen triangle beyond each cut edge, in a tile (docs/internals/tiles.md);
            first_cut, cuts: the numbers of these edges among the subsegments.
        walls: the longest subsegments, if none may ever be split.
    """

    device: Device
    vertices: int
    slots: int
    subsegments_count: int
    input_vertices: int
    named: int
    named_markers: Int
    order: DeviceArray
    triangles: DeviceArray
    points: DeviceArray
    subsegments: DeviceArray
    quality: DeviceArray
    rivals: DeviceArray
    vertex_origin: DeviceArray
    vertex_parameter: DeviceArray
    subsegment_origin: DeviceArray
    split_states: DeviceArray
    input_segments: DeviceArray
    acute: DeviceArray
    any_acute: bool
    anchor: DeviceArray
    ancestor: DeviceArray | None
    area_bounds: DeviceArray | None
    attributes: DeviceArray | None
    width: int
    regions: tuple[DeviceArray, DeviceArray] | None = None
    given: int | None = None
    input_subsegments: int | None = None
    beyond_cuts: DeviceArray | None = None
    first_cut: int = 0
    cuts: int = 0
    walls: DeviceArray | None = None
    _view: Packed | None = None

    @property
    def view(self) -> Packed:
        """The kernel argument."""
        if self._view is None:
            names = (
                "triangles", "points", "subsegments", "quality", "rivals", "split_states", "vertex_origin",
                "vertex_parameter", "subsegment_origin", "input_segments", "anchor", "acute", "any_acute",
                "input_vertices", "area_bounds", "attributes", "width", "beyond_cuts", "first_cut", "cuts", "walls",
            )  # fmt: skip
            given = {name: getattr(self, name) for name in names}
            subsegments = self.input_segments.size if self.input_subsegments is None else self.input_subsegments
            walls = 0 if self.walls is None else self.walls.size
            self._view = pack(
                "Mesh", ancestor=self.ancestor, input_subsegments=subsegments, wall_count=walls, **given
            )  # fmt: skip
        return self._view

    @property
    def carries(self) -> bool:
        """Whether triangles or vertices carry something that new ones inherit."""
        return self.ancestor is not None or self.attributes is not None

    @property
    def addresses(self) -> tuple[int, ...]:
        """Addresses of the arrays that grow: they change when an array is replaced."""
        growing = [getattr(self, name) for name in CHANGING]
        return tuple([array.pointer for array in growing if array is not None])

    @property
    def capacity(self) -> tuple[int, int, int]:
        """Number of vertices, triangles and subsegments that the arrays can hold."""
        of_vertices = [self.points.size, self.vertex_origin.size, self.vertex_parameter.size]
        if self.attributes is not None:
            of_vertices.append(self.attributes.size // self.width)
        of_slots = [self.triangles.size, self.quality.size, self.rivals.size]
        if self.ancestor is not None:
            of_slots.append(self.ancestor.size)
        of_subsegments = [self.subsegments.size, self.subsegment_origin.size, self.split_states.size]
        return min(of_vertices), min(of_slots), min(of_subsegments)

    def copied(self) -> DeviceMesh:
        """Returns a copy; it shares the arrays that rounds do not change."""
        other = copy(self)
        other._view = None
        for name in CHANGING:
            array: DeviceArray | None = getattr(self, name)
            if array is not None:
                setattr(other, name, array.copied())
        return other

    def restore(self, earlier: DeviceMesh) -> None:
        """Undoes the rounds since the mesh was the same as `earlier`, a copy; larger arrays stay."""
        self.vertices, self.slots = earlier.vertices, earlier.slots
        self.subsegments_count = earlier.subsegments_count
        for name in CHANGING:
            array: DeviceArray | None = getattr(self, name)
            before: DeviceArray | None = getattr(earlier, name)
            if array is None or before is None:
                continue
            if array.size > before.size and name in CLEARED:
                array.fill(0)
            array.copy_from(before)

    def reserve(self, vertices: int, slots: int, subsegments: int) -> None:
        """Grows the arrays to hold at least these numbers of vertices, triangles and subsegments.

        Raises:
            OutOfMemoryError: the device has too little memory, or the numbers do not fit 32 bits; nothing is lost.
        """
        if slots > MOST_TRIANGLES:
            raise OutOfMemoryError(f"{slots} triangles are more than a mesh can have ({MOST_TRIANGLES})")
        if all(there >= wanted for there, wanted in zip(self.capacity, (vertices, slots, subsegments), strict=True)):
            return
        self._view = None
        self.triangles = self.triangles.grown(slots, zeros=False)
        self.quality = self.quality.grown(slots)
        self.rivals = self.rivals.grown(slots)
        if self.ancestor is not None:
            self.ancestor = self.ancestor.grown(slots)
        self.points = self.points.grown(vertices, zeros=False)
        self.vertex_origin = self.vertex_origin.grown(vertices, zeros=False)
        self.vertex_parameter = self.vertex_parameter.grown(vertices, zeros=False)
        if self.attributes is not None:
            self.attributes = self.attributes.grown(vertices * self.width)
        self.subsegments = self.subsegments.grown(subsegments, zeros=False)
        self.subsegment_origin = self.subsegment_origin.grown(subsegments, zeros=False)
        self.split_states = self.split_states.grown(subsegments)

    def enlarge(self, vertices: int, slots: int, subsegments: int) -> None:
        """Reserves as `reserve` does, and where that takes a larger array, half as much again and some thousands more
        of each kind: in a mesh that grows from a few triangles, the rounds then return to the host a few times only.

        Raises:
            OutOfMemoryError: as `reserve`.
        """
        needed = (vertices, slots, subsegments)
        if any(there < wanted for there, wanted in zip(self.capacity, needed, strict=True)):
            with suppress(OutOfMemoryError):
                self.reserve(*(wanted + wanted // 2 + MORE_TO_GROW for wanted in needed))
        self.reserve(*needed)

    def reserve_for(self, bad: int, expected: int = 0) -> None:
        """Reserves the usual capacity for a number of bad triangles, and for the expected triangles, to avoid repeated
        copies. A device with little memory may reserve less: what is really needed is requested later.
        """
        vertices, slots, subsegments = usual_capacity(self.vertices, self.slots, self.subsegments_count, bad)
        with suppress(OutOfMemoryError):
            self.reserve(max(vertices, expected // 2), max(slots, expected), max(subsegments, 8 * math.isqrt(expected)))

    def to_mesh(self, source: Mesh, memory: ResultMemory | None = None) -> Mesh:
        """Returns the mesh in the user's numbers, with the attributes and markers of `source`, the input.

        Args:
            source: the input; memory: made ready for the result.
        """
        device = self.device
        memory = memory or ResultMemory(source.vertices, source.vertex_markers, device)
        corners = device.empty(3 * self.slots, np.int32)
        device.launch("restore_corners", self.slots, self.triangles, self.order, self.input_vertices, corners)
        vertices, room = memory.vertices(self.vertices), memory.triangles(self.slots)
        segments, origins = self.segments()
        fields: dict[str, Any] = {
            "segments": segments,
            "segment_markers": self.named_markers[origins] if self.named else None,
            "vertex_markers": None
            if source.vertex_markers is None
            else self.vertex_markers(memory.markers(self.vertices)),
            "vertex_attributes": self.vertex_attributes(source),
            "triangle_attributes": self.triangle_attributes(source),
            "area_bounds": None if self.area_bounds is None else self._of_ancestors(self.area_bounds),
        }
        if self.given is not None:  # placed points have been smoothed
            moved = self.points[: self.input_vertices].download()
            vertices[self.order.download()] = moved.view(np.float64).reshape(-1, 2)
        # Last, since these may arrive while they are used.
        arrive(self.points[self.input_vertices : self.vertices], vertices, self.input_vertices)
        if room is not None:
            arrive(corners, room)
        triangles = corners.detach().reshape(-1, 3) if room is None else room
        return Mesh.sound(
            vertices=vertices, triangles=triangles, holes=source.holes, regions=source.regions, names=source.names,
            **fields,
        )  # fmt: skip

    def triangle_attributes(self, source: Mesh) -> Float | None:
        """Returns the attributes of the triangles, those of their ancestors; `source` is the input."""
        if self.regions is not None:
            labels, attributes = self.regions
            by_ancestor = self.device.empty(labels.size, np.float64)
            self.device.launch("gather_float64", labels.size, attributes, labels, by_ancestor)
            return self._of_ancestors(by_ancestor)[:, None]
        if self.ancestor is None:
            return None
        assert source.triangle_attributes is not None
        found: Float = source.triangle_attributes[self.ancestor[: self.slots].download()]
        return found

    def _of_ancestors(self, values: DeviceArray) -> Float:
        """Returns the values, given by input triangle, of the ancestors of the triangles."""
        found = self.device.empty(self.slots, np.float64)
        assert self.ancestor is not None
        self.device.launch("gather_float64", self.slots, values, self.ancestor, found)
        return found.detach()

    def segments(self) -> tuple[Int, Int]:
        """Returns the pieces of the segments that the user named, and the number of each piece's segment."""
        if self.named == 0:
            return np.empty((0, 2), np.int32), np.empty(0, np.int32)
        count = self.subsegments_count
        ends = self.device.empty(2 * count, np.int32)
        self.device.launch("restore_ends", count, self.subsegments, self.order, self.input_vertices, ends)
        pieces, origins = ends.detach().reshape(-1, 2), self.subsegment_origin[:count].download()
        if self.named == self.input_segments.size:  # the user named all of them
            return pieces, origins
        named = origins < self.named
        return pieces[named], origins[named]

    def vertex_markers(self, markers: Int) -> Int:
        """Completes the vertex markers, those of the input and zeros: a new point takes its named segment's, or 1 on
        the rest of the boundary, as in Triangle."""
        origin = self.vertex_origin[self.input_vertices : self.vertices]
        flags = self.device.empty(origin.size, np.int32)
        self.device.launch("flag_on_segments", origin.size, origin, flags)
        places, count = flagged_indices(flags)
        found_segments = self.device.empty(count, np.uint32)
        self.device.launch("gather_uint32", count, origin.view(np.uint32), places, found_segments)
        on_segments, segments = places.download(), found_segments.download().view(np.int32)
        found = np.ones(len(segments), np.int32)
        named = segments < self.named
        found[named] = self.named_markers[segments[named]]
        markers[self.input_vertices + on_segments] = found
        return markers

    def vertex_attributes(self, source: Mesh) -> Float | None:
        """Returns the vertex attributes in the user's numbers; those of `source` are the input's."""
        if self.attributes is None:
            return None
        rows = self.attributes[self.input_vertices * self.width : self.vertices * self.width].download()
        assert source.vertex_attributes is not None
        attributes = np.concatenate([source.vertex_attributes, rows.reshape(-1, self.width)])
        if self.given is not None:
            rows = self.attributes[: self.input_vertices * self.width].download()
            attributes[self.order.download()] = rows.reshape(-1, self.width)
        return attributes
