"""Begins a refinement in tiles from a mesh in parts, of which no task reads more than a part and its ghosts.

1. `survey_part`, per part: proves that it is constrained Delaunay with its ghosts, and takes its triangles at segments
   and at the boundary.
2. `unite_segments`: what tiles need to know of the whole, from these triangles.
3. `open_part`, per part: its tiles. There is no coarse mesh: the parts themselves are cut.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmr.common.number_arrays import distinct
from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.task import DIGEST_DIGITS, Resources, Task
from dmr.distributed.output.part import Part
from dmr.distributed.output.parts import Parts
from dmr.distributed.output.slices import reading_archive
from dmr.distributed.threaded import touching
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.cuts import edges_of
from dmr.distributed.tiles.cutting import cut
from dmr.distributed.tiles.passes import Ahead, Passes, Tiled
from dmr.distributed.tiles.patch import Patch
from dmr.distributed.tiles.piece import Int64, Piece
from dmr.distributed.tiles.pieces import restricted, united
from dmr.distributed.tiles.refining import segments_of_whole
from dmr.distributed.tiles.result.sections import LOOSE
from dmr.distributed.tiles.stored import Stored
from dmr.distributed.tiles.tasks import TILES
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.validation.findings import numbered
from dmr.distributed.validation.own_checks import OwnChecks
from dmr.errors import InvalidMeshError
from dmr.memory import constant, open_device
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Mesh
from dmr.validation.arrays.pieces import Workers

INPUT_VERTEX = constant("INPUT_VERTEX")
STRIP, FLAGGED = "strip", "flagged"


def parts_digest(parts: Parts) -> str:
    """Returns a digest of the manifest, and of the lengths and checksums of all arrays in the files."""
    state = hashlib.sha256(json.dumps(parts.manifest, sort_keys=True).encode())
    for index in range(len(parts)):
        path = parts.path(index)
        with reading_archive(path), zipfile.ZipFile(path) as archive:
            members = [(each.filename, each.file_size, each.CRC) for each in archive.infolist()]
        state.update(json.dumps(members).encode())
    return f"parts-{state.hexdigest()[:DIGEST_DIGITS]}"


def refine_parts(
    runner: Runner, parts: Parts, *, tile_triangles: int, bounds: Bounds, ahead: Ahead | None = None
) -> Tiled:
    """Refines a mesh in parts in tiles; arguments, result and errors are those of `refine_tiles`.

    Raises:
        InvalidMeshError: an edge is not Delaunay, inside a part or between two; names both triangles.
    """
    source = parts_digest(parts)
    link = runner.store.path / source  # tasks read the parts under a name without a path
    link.unlink(missing_ok=True)
    link.symlink_to(parts.folder.absolute(), target_is_directory=True)
    files = [str(entry["file"]) for entry in parts.manifest["parts"]]
    surveys = [Task.of(survey_part, [source], file=file) for file in files]
    runner.run(surveys)
    arrays: dict[str, Any] = {}
    bounds.save(arrays)
    stored = bounds.stored()
    unite = Task.of(
        unite_segments,
        [runner.store.put(arrays), *(survey.name for survey in surveys)],
        bounds=stored,
        vertices=parts.counts["vertices"],
        holes=parts.manifest["holes"],
        regions=parts.manifest["regions"],
    )
    (start,) = runner.run([unite])
    opened = [
        Task.of(open_part, [source, unite.name, survey.name], file=file, bounds=stored, tile_triangles=tile_triangles)
        for file, survey in zip(files, surveys, strict=True)
    ]
    counts = [summary["tiles"] for summary in runner.run(opened)]
    tiles = [(task.name, place) for task, count in zip(opened, counts, strict=True) for place in range(count)]
    begun = {**start, "vertices": parts.counts["vertices"], "coarse": parts.counts["triangles"], "warnings": []}
    return Passes(runner, unite.name, tiles, begun, tile_triangles=tile_triangles, bounds=bounds, ahead=ahead).run()


def survey_part(inputs: Sequence[Folder], out: Folder, resources: Resources, *, file: str) -> dict[str, Any]:
    """Checks a part, and takes what the whole needs of it: `inputs` is the folder of the parts.

    The output has the piece `strip`, the part's triangles at segments and at the boundary; `flagged`, the numbers of
    the vertices there; `segments`, (s, 2) the numbers of the ends of the part's segments, which are its own, then its
    edges on the boundary; and the piece `loose`, the vertices without triangles.

    Raises:
        InvalidMeshError: the part is not constrained Delaunay, together with its ghosts.
    """
    part = Part.read(inputs[0].path / file)
    own, mesh = part.own, part.mesh
    checks = OwnChecks(part, 0, None, Workers(thread_count(resources.threads)))
    with numbered(part.numbers, part.triangle_numbers):
        checks.triangulation()
        first = next(iter(checks.findings.failures), None)
        if first is not None:
            number = int(part.triangle_numbers[first.index]) if first.element == "triangle" else None
            raise InvalidMeshError(f"{file} cannot be refined in tiles: {first.message}", first.element, number)
    whole = Piece(mesh, part.numbers)
    flagged = checks.on_segments & checks.used
    strip = np.flatnonzero(touching(mesh.triangles[:own], flagged, resources.threads))
    restricted(whole, strip).save(Stored(out, STRIP))
    out[FLAGGED] = part.numbers[flagged]
    outer = checks.topology.boundary[checks.topology.boundary < 3 * own]
    edges = np.stack([checks.topology.starts[outer], checks.topology.ends[outer]], axis=1)
    listed = restricted(whole, np.arange(own), vertices=np.arange(len(part.numbers))).mesh
    new = ~np.isin(edge_keys(*edges.T), edge_keys(*listed.segments.T))
    out["segments"] = part.numbers[np.concatenate([listed.segments, edges[new]])]
    assert listed.segment_markers is not None
    out["markers"] = np.concatenate([listed.segment_markers, np.ones(int(new.sum()), np.int32)])
    in_triangles = np.zeros(len(part.numbers), bool)
    in_triangles[mesh.triangles.ravel()] = True
    restricted(whole, np.empty(0, np.int64), vertices=np.flatnonzero(~in_triangles)).save(Stored(out, LOOSE))
    return {}


def unite_segments(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    bounds: Mapping[str, Any],
    vertices: int,
    holes: Sequence[Any],
    regions: Sequence[Any],
) -> dict[str, Any]:
    """Finds what tiles need to know of the whole: `inputs` are the arrays of the bounds, and the surveys of all parts.

    Args:
        inputs, out, resources: as for all tasks.
        bounds: as `Bounds.stored` returns them.
        vertices: of the whole; holes, regions: as in `Mesh`.
    """
    asked = Bounds.load(bounds, inputs[0])
    surveys = inputs[1:]
    strip = united([Piece.load(Stored(survey, STRIP)) for survey in surveys])
    flagged = distinct(*(survey[FLAGGED] for survey in surveys))
    mesh = Mesh.sound(
        **{name: getattr(strip.mesh, name) for name in ("vertices", "triangles", "segments", "segment_markers")},
        holes=np.array(holes, np.float64).reshape(-1, 2),
        regions=np.array(regions, np.float64).reshape(-1, 4),
    )
    device = open_device(resources.device, resources.threads)
    # The boundary of the strip is that of the domain, and edges between vertices that are on no segment.
    whole = segments_of_whole(mesh, strip.numbers, vertices, flagged, asked.options.keep_segments, device)
    whole.save(out)
    asked.save(out)
    loose = [piece for survey in surveys if len((piece := Piece.load(Stored(survey, LOOSE))).numbers)]
    if loose:
        united(loose).save(Stored(out, LOOSE))
    return {"loose": bool(loose), "pinched": bool(len(whole.pinched))}


def open_part(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    file: str,
    bounds: Mapping[str, Any],
    tile_triangles: int,
) -> dict[str, Any]:
    """Cuts a part into tiles: `inputs` are the folder of the parts, the whole, and the survey of the part."""
    part, whole = Part.read(inputs[0].path / file), Whole.load(inputs[1])
    ends, markers = inputs[2]["segments"], inputs[2]["markers"]
    own = restricted(Piece(part.mesh, part.numbers), np.arange(part.own))
    place = np.searchsorted(own.numbers, ends).astype(np.int32)
    arrays = {name: getattr(own.mesh, name) for name in own.mesh.__dataclass_fields__ if name != "names"}
    mesh = Mesh.sound(**{**arrays, "segments": place, "segment_markers": markers})
    n, m = len(own.numbers), len(mesh.triangles)
    patch = Patch(
        Piece(mesh, own.numbers),
        np.full(n, INPUT_VERTEX, np.int32),
        np.zeros(n),
        _found(whole.ends, ends),
        np.ones(m, np.bool_),  # none has been refined to the bounds
        np.zeros(m, np.uint8),
    )
    threads = resources.threads
    tiles = cut(patch, edges_of(patch, threads), Bounds.load(bounds, inputs[1]), tile_triangles, 0, threads)
    tiles.save(Stored(out, TILES))
    return {"tiles": len(tiles)}


def _found(among: Int64, wanted: Int64) -> Any:
    """(k,) int32, the rows of (n, 2) pairs of vertices that are the wanted pairs, in either direction."""
    keys = edge_keys(*among.T)
    order = np.argsort(keys)
    return order[np.searchsorted(keys, edge_keys(*wanted.T), sorter=order)].astype(np.int32)
