"""Refinements in tiles, in this process, and the union of their pieces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dmr
from dmr.distributed.jobs.in_process import InProcess
from dmr.distributed.jobs.store import Store
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.passes import Tiled, refine_tiles
from dmr.distributed.tiles.piece import Piece
from dmr.distributed.tiles.pieces import united
from dmr.distributed.tiles.result.sections import load_piece
from dmr.refinement.options import RefineOptions
from dmr.sizing.functions import size_source

ONE_THREAD = Resources("cpu", 1)


def whole_mesh(piece: Piece) -> dmr.Mesh:
    """The mesh of a piece that is everything, in the order of its numbers, with arrays of its own."""
    np.testing.assert_array_equal(piece.numbers, np.arange(len(piece.numbers)))
    mesh = piece.mesh
    names = ("segment_markers", "vertex_markers", "vertex_attributes", "triangle_attributes", "area_bounds")
    labels = {name: getattr(mesh, name) for name in names}
    return dmr.Mesh(mesh.vertices, mesh.triangles, mesh.segments, **labels)


def tiled(
    source: dmr.Mesh | dmr.Pslg,
    tile_triangles: int,
    folder: Path,
    resources: Resources = ONE_THREAD,
    *,
    size: Any = None,
    max_edge: float | None = None,
    **options: object,
) -> tuple[Tiled, dmr.Mesh]:
    """Refines in tiles; returns the report, and the union of the pieces."""
    folder.mkdir(exist_ok=True)
    runner = InProcess(Store(folder, durable=False), resources)
    sources = {"size": size, "max_edge": max_edge}
    bounds = Bounds.checked(
        RefineOptions(**options),
        {name: None if given is None else size_source(given, name) for name, given in sources.items()},
        lambda: source if isinstance(source, dmr.Mesh) else dmr.triangulate(source),
    )
    done = refine_tiles(runner, source, tile_triangles=tile_triangles, bounds=bounds)
    return done, whole_mesh(united([load_piece(runner.store, piece) for piece in done.pieces]))
