"""Divides the outline of the whole by size, and places few points in its interior: the mesh that is cut into tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.patch import Edges, Patch
from dmr.distributed.tiles.piece import Arrays
from dmr.distributed.tiles.refining import as_patch, patch_edges, prepare, whole_of
from dmr.distributed.tiles.whole import Whole
from dmr.memory import Device, constant
from dmr.mesh.types import Float, Mesh
from dmr.refinement.placement.admission import admit_placed, checked, interpolate_attributes
from dmr.refinement.placement.lattice import lattice_frame
from dmr.refinement.placement.metric import lengths
from dmr.refinement.placement.placing import DividedOutline, divide_outline, division_vertices, fill
from dmr.refinement.placement.smoothing import smooth
from dmr.refinement.placement.targets import multiple, smallest, target
from dmr.refinement.rounds.time_limit import TimeLimit
from dmr.refinement.setup.demand import default_budget
from dmr.sizing.segment_sizes import SegmentSizes
from dmr.sizing.source import SizeSource
from dmr.sizing.storing import sizes_as_arrays, sizes_from_arrays
from dmr.triangulation.rounds.epochs import Epochs

FREE_VERTEX = constant("FREE_VERTEX")
COARSE_VERTEX = -3  # in place of FREE_VERTEX, a point of the coarse mesh, which the placement in tiles removes
GROWTH = 0.5  # at least, of the coarse sizes per unit of distance from the outline
LEAST_FACTOR, MOST_FACTOR = 3.0, 8.0  # of the coarse sizes, unless the coarse mesh would be too large
COARSE_IN_TILE = 64  # triangles of the coarse mesh in a tile
NEARBY, LATTICE = "nearby", "lattice"


@dataclass(frozen=True, eq=False)
class Wanted:
    """The sizes with which tiles place points.

    Attributes:
        nearby: sizes that are smaller around fine parts of the outline.
        lattice: (6,) float64: a point and the direction of a lattice, the distance of its points, and the size; empty
            where sizes vary.
    """

    nearby: tuple[SizeSource, ...]
    lattice: Float

    def sizes(self, bounds: Bounds) -> SizeSource:
        """Returns all sizes together."""
        found = smallest(_target(bounds), *self.nearby)
        assert found is not None
        return found

    def save(self, arrays: Arrays) -> None:
        """Stores the sizes by name."""
        arrays[LATTICE] = self.lattice
        for number, source in enumerate(self.nearby):
            for name, array in sizes_as_arrays(source, f"{NEARBY}{number}").items():
                arrays[name] = array

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]]) -> Wanted:
        """Returns what `save` has stored."""
        found = (sizes_from_arrays(arrays, f"{NEARBY}{number}") for number in range(2))
        return cls(tuple(source for source in found if source is not None), arrays[LATTICE])


def place_coarsely(
    mesh: Mesh, bounds: Bounds, device: Device, *, predicted: float, tile_triangles: int, most: int
) -> tuple[Patch, Edges, Whole, Wanted, list[str]]:
    """Divides the outline, and places points in the interior with coarse sizes.

    Args:
        mesh: the source; bounds: with wanted sizes; device: where.
        predicted: triangles of the result; tile_triangles: of a tile; most: triangles of the coarse mesh, roughly.

    Returns:
        The coarse mesh as one patch, its edges, what tiles need to know of the whole, the sizes with which they place
        points, and what was repaired.

    Raises:
        InvalidMeshError: no valid triangulation (or, with the option `strict`, not a Delaunay one).
        OutOfMemoryError: the device has too little memory.
    """
    options = bounds.options
    prepare(device, options, placed=True)
    with device.lock, device.current:
        mesh, acute, aspects, notes = checked(mesh, device, strict=options.strict)
        budget = default_budget(mesh, options, aspects, sized=True)
        divided = divide_outline(
            mesh, acute, _target(bounds), device, keep_segments=options.keep_segments, growth=options.grading,
            most=budget,
        )  # fmt: skip
        factor = min(max((tile_triangles / COARSE_IN_TILE) ** 0.5, LEAST_FACTOR), MOST_FACTOR)
        factor = max(factor, (predicted / most) ** 0.5)
        sizes = _coarse_sizes(mesh, divided, factor, device)
        placement = fill(mesh, divided, sizes, device, lattice=False, most=budget, limit=TimeLimit(None))
        state, repaired = admit_placed(placement, device, options.keep_segments)
        smooth(state, Epochs())
        interpolate_attributes(state, placement)
        whole = whole_of(state, placement.given_mesh)
        patch, edges = as_patch(state, placement.mesh, whole), patch_edges(state)
    origin = np.where(patch.vertex_origin == FREE_VERTEX, COARSE_VERTEX, patch.vertex_origin).astype(np.int32)
    wanted = Wanted(divided.nearby, _lattice(mesh, divided))
    return replace(patch, vertex_origin=origin), edges, whole, wanted, notes + repaired


def _target(bounds: Bounds) -> SizeSource:
    return target(bounds.sources["size"], bounds.given, bounds.options.max_area)


def _coarse_sizes(mesh: Mesh, divided: DividedOutline, factor: float, device: Device) -> SizeSource:
    """Returns `factor` times the sizes, and less near the outline."""
    points = np.concatenate([mesh.vertices, division_vertices(mesh, divided.segments, divided.everywhere, device)])
    pieces, _ = divided.everywhere.pieces(divided.segments.ends, len(mesh.vertices))
    start, end = points[pieces[:, 0]], points[pieces[:, 1]]
    # Around fine parts of the outline, the sizes of the result may grow faster.
    growth = max([GROWTH, *(source.growth for source in divided.nearby if isinstance(source, SegmentSizes))])
    wanted = multiple(divided.sizes, factor).limited(growth)  # so that small sizes are not missed
    found = smallest(wanted, SegmentSizes(start, end, lengths(end - start), growth))
    assert found is not None
    return found


def _lattice(mesh: Mesh, divided: DividedOutline) -> Float:
    if not divided.even:
        return np.empty(0)
    boundary = divided.segments.ends[~divided.segments.right]
    size = float(divided.sizes(mesh.vertices[distinct(boundary)]).max())
    return lattice_frame(mesh.vertices, boundary, size)
