"""The tasks of a refinement in tiles: functions over folders (`dmr.distributed.jobs`).

    begin      the source           -> the whole mesh, if it is small; else a coarse mesh, cut into tiles
    refine     a tile               -> the refined tile, and how far what waits in it is from its border
    divide     a refined tile       -> its part for the band, and its rest
    join       parts for the band   -> the band, cut into tiles
    publish    a tile or a rest     -> the piece of the result

A folder that holds several patches has each under its place: "3-triangles", ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.bands import Reach, divided, reach
from dmr.distributed.tiles.bounds import Bounds, predicted_triangles
from dmr.distributed.tiles.cutting import cut
from dmr.distributed.tiles.patch import REASONS, Patch, glued
from dmr.distributed.tiles.piece import BORDER, Piece
from dmr.distributed.tiles.refining import refine_coarsely, refine_patch
from dmr.distributed.tiles.whole import Whole
from dmr.memory import open_device
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement.pipeline import refine as refine_whole
from dmr.triangulation.meshing import triangulate_noting

COARSE_SHARE = 4  # the coarse mesh has a quarter of the triangles of the result,
MOST_COARSE = 2**22  # but no more than this, or than a tile
SOURCE_ARRAYS = {
    Mesh: (
        "vertices", "triangles", "segments", "segment_markers", "vertex_markers", "vertex_attributes",
        "triangle_attributes", "area_bounds", "holes", "regions",
    ),
    Pslg: ("vertices", "segments", "holes", "regions", "segment_markers", "vertex_markers", "vertex_attributes"),
}  # fmt: skip


class Part:
    """The arrays of one of several patches in a folder."""

    def __init__(self, folder: Folder, place: int) -> None:
        self._folder, self._prefix = folder, f"{place}-"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Returns an array."""
        return self._folder[self._prefix + name]

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        """Stores an array."""
        self._folder[self._prefix + name] = array

    def __contains__(self, name: object) -> bool:
        """Whether there is an array of that name."""
        return isinstance(name, str) and self._prefix + name in self._folder


def source_arrays(source: Mesh | Pslg) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a source by name."""
    arrays = {name: getattr(source, name) for name in SOURCE_ARRAYS[type(source)]}
    return {name: array for name, array in arrays.items() if array is not None}


def _source(folder: Folder) -> Mesh | Pslg:
    kind = Mesh if "triangles" in folder else Pslg
    return kind(**{name: folder[name] for name in SOURCE_ARRAYS[kind] if name in folder})  # type: ignore[arg-type]


def begin(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    bounds: Mapping[str, Any],
    tile_triangles: int,
    on_conflict: str,
    convex_hull: bool,
) -> dict[str, Any]:
    """Refines the source, if one tile suffices; otherwise refines it coarsely, and cuts it into tiles."""
    source, asked = _source(inputs[0]), Bounds.of(bounds)
    device = open_device(resources.device, resources.threads)
    mesh, notes = source, list[str]()
    if isinstance(mesh, Pslg):
        mesh, notes = triangulate_noting(
            mesh, on_conflict=on_conflict, convex_hull=convex_hull, mesher="dmr", device=device
        )
    by_angle, by_size = predicted_triangles(mesh, asked)
    predicted = float(np.maximum(by_angle, by_size).sum())
    if predicted <= tile_triangles:
        result = refine_whole(
            source, **bounds, on_conflict=on_conflict, convex_hull=convex_hull, device=resources.device,
            threads=resources.threads,
        )  # fmt: skip
        Piece(result.mesh, np.arange(len(result.mesh.vertices))).save(out)
        out[BORDER] = np.empty(0, np.int64)
        return {
            "tiles": 0, "vertices": len(result.mesh.vertices), "complete": result.complete,
            "unrefined": result.unrefined, "triangles": len(result.mesh.triangles), "warnings": result.warnings,
        }  # fmt: skip
    coarse = min(predicted / COARSE_SHARE, max(tile_triangles, MOST_COARSE))
    factor = max(float(by_size.sum()) / coarse, 1.0)
    fully = bool(by_size.any()) and float(by_angle.sum()) <= coarse
    patch, whole, report = refine_coarsely(mesh, asked, factor, fully=fully, device=device)
    whole.save(out)
    tiles = cut(patch, asked, tile_triangles, 0)
    _save_tiles(tiles, out)
    return {
        "tiles": len(tiles), "vertices": len(patch.numbers), "coarse": len(patch.mesh.triangles),
        "warnings": [*notes, *report.warnings],
    }  # fmt: skip


def _save_tiles(tiles: Sequence[Patch], out: Folder) -> None:
    for place, tile in enumerate(tiles):
        tile.save(Part(out, place))


def refine(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, bounds: Mapping[str, Any], tile: int, layers: int
) -> dict[str, Any]:
    """Refines a tile. `inputs` are the whole, and the folder of the tile; `layers` are those of the next band."""
    whole = Whole.load(inputs[0])
    device = open_device(resources.device, resources.threads)
    patch, report = refine_patch(Patch.load(Part(inputs[1], tile)), whole, Bounds.of(bounds), device)
    patch.save(Part(out, 0))
    reach(patch, whole, layers).save(out)
    return {
        "inserted": report.inserted, "seeds": int(patch.seeds.sum()), "warnings": report.warnings,
        "triangles": len(patch.mesh.triangles),
    }  # fmt: skip


def divide(
    inputs: Sequence[Folder], out: Folder, resources: Resources, *, place: int, first: int, layers: int
) -> dict[str, Any]:
    """Divides a patch into its rest (0) and its part for the band (1).

    Args:
        inputs: the whole, the folder of the patch, and those of the refined tiles whose seeds reach it.
        out: for both parts.
        resources: not used.
        place: of the patch in its folder; first: the number of its first new vertex.
        layers: of the band.
    """
    patch = Patch.load(Part(inputs[1], place)).numbered(first)
    rest, band = divided(patch, [Reach.load(each) for each in inputs[2:]], layers)
    if rest is not None:
        rest.save(Part(out, 0))
        reach(rest, Whole.load(inputs[0]), 0).save(out)
    if band is not None:
        band.save(Part(out, 1))
    return {"rest": rest is not None, "band": band is not None}


def join(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    bounds: Mapping[str, Any],
    tile_triangles: int,
    turn: int,
) -> dict[str, Any]:
    """Unites the parts of a band, and cuts it into tiles."""
    band = glued([Patch.load(Part(folder, 1)) for folder in inputs])
    tiles = cut(band, Bounds.of(bounds), tile_triangles, turn)
    _save_tiles(tiles, out)
    return {"tiles": len(tiles), "triangles": len(band.mesh.triangles)}


def publish(inputs: Sequence[Folder], out: Folder, resources: Resources, *, place: int, first: int) -> dict[str, Any]:
    """Makes a piece of the result with its border. `inputs` are the whole, and the folder of the patch."""
    patch = Patch.load(Part(inputs[1], place)).numbered(first)
    patch.published(Whole.load(inputs[0]).named).save(out)
    out[BORDER] = inputs[1]["reach_border"]
    found = np.bincount(patch.reasons, minlength=len(REASONS) + 1)[1:]
    return {
        "triangles": len(patch.mesh.triangles),
        "unrefined": {reason: int(count) for reason, count in zip(REASONS, found, strict=True) if count},
    }
