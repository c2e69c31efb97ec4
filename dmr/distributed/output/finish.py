"""Makes the files of a result in parts, and the entries of its manifest."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from dmr.distributed.jobs.job_folder import write_json
from dmr.distributed.jobs.runner import Runner
from dmr.distributed.jobs.store import flush
from dmr.distributed.jobs.task import Task
from dmr.distributed.output.ghosts import find_border, make_part, match_borders
from dmr.distributed.tiles.result.sections import Outside, PieceSource
from dmr.errors import file_error
from dmr.io.part_names import MANIFEST
from dmr.mesh.types import Mesh, Pslg

FORMAT = "dmr parts"
VERSION = 2
MOST_FLUSHED_AT_ONCE = 8  # files
MOST_TOGETHER = 32  # pieces whose borders are found in one group of tasks, each of which lists the summaries of all


def border_tasks(pieces: Sequence[PieceSource]) -> tuple[Task, list[Task]]:
    """Returns the task that compares the borders of pieces, and for each piece the one that finds its border."""
    match = Task.of(match_borders, [piece.border for piece in pieces])
    borders = [_border_task(match, piece, index) for index, piece in enumerate(pieces)]
    if len(pieces) > MOST_TOGETHER:
        return match, borders
    match = replace(match, needs=tuple(_that_find(pieces)))
    needed = [(*_before(piece), match) for piece in pieces]
    return match, [replace(border, needs=needs) for border, needs in zip(borders, needed, strict=True)]


def _border_task(match: Task, piece: PieceSource, index: int) -> Task:
    """Returns the task that finds the border of a piece, in its outermost triangles if these are complete before it."""
    outside = piece.outside
    if outside is None:
        return Task.of(find_border, [match.name, *piece.inputs], index=index, **piece.options)
    return Task.of(
        find_border,
        [match.name, piece.whole, outside.folder],
        index=index,
        vertices=outside.vertices,
        **outside.options,
    )


def _read_directly(pieces: Sequence[PieceSource]) -> Outside | None:
    """Returns the outside of the last piece if its neighbours read it at once: a task less that all parts wait for."""
    outside = pieces[-1].outside if len(pieces) > 1 else None
    return None if outside is None or outside.task is not None else outside


def _before(piece: PieceSource) -> list[Task]:
    """Returns the tasks before the one that finds the border of a piece, whose vertices another one may have found."""
    summaries = _summaries([piece])
    if piece.outside is not None:
        return [] if piece.outside.task is None else [piece.outside.task]
    if all(task.name == piece.border for task in summaries):
        return summaries
    return [] if piece.finish is None else [piece.finish]


def _summaries(pieces: Sequence[PieceSource]) -> list[Task]:
    """Returns the tasks before those that read pieces."""
    return [piece.summary for piece in pieces if piece.summary is not None]


def _that_find(pieces: Sequence[PieceSource]) -> list[Task]:
    """Returns the tasks before the one that compares the borders of pieces."""
    return [piece.find for piece in pieces if piece.find is not None]


def tasks_ahead(pieces: Sequence[PieceSource]) -> list[Task]:
    """Returns tasks of `finish` that can be run while the last one of the pieces is refined.

    They need only the border of that piece, which its refinement does not change.
    """
    *complete, _ = pieces
    finishing = [piece.finish for piece in complete if piece.finish is not None]
    if len(pieces) > MOST_TOGETHER:
        return [*finishing, *_summaries(complete), *_that_find(pieces[-1:])]
    return [*finishing, *border_tasks(pieces)[1][: len(complete)]]


def finish(runner: Runner, pieces: Sequence[PieceSource], out: Path, source: Mesh | Pslg) -> dict[str, Any]:
    """Makes the parts of pieces that are the outputs of tasks, and moves their files to a folder.

    Args:
        runner: runs the tasks, whose outputs are on the file system of `out`.
        pieces: where they are, one per part.
        out: the folder, which exists. Files of parts that are there and not among the outputs are taken for the result
            of an interrupted call.
        source: has the holes, regions and names of the whole.

    Returns:
        Entries of the manifest, without which the folder holds no result: plain JSON values.
    """
    names = {kind: {str(number): name for number, name in each.items()} for kind, each in source.names.items()}
    match, borders = border_tasks(pieces)
    direct = _read_directly(pieces)
    if direct is not None:
        *borders, _ = borders
    if len(pieces) > MOST_TOGETHER:
        runner.run([*_summaries(pieces), *_that_find(pieces[-1:])])
        runner.run([match])
        known, late = runner.run(borders), []
    else:  # the border of the last piece, which is that of the last band, is found beside the first parts
        before = len(pieces) - 1
        known, late = runner.run(borders[:before]), borders[before:]
    (matched,) = runner.run([match])
    firsts = list(accumulate((summary["triangles"] for summary in known), initial=0))
    layers = [border.name for border in borders] + ([] if direct is None else [direct.folder])
    makers = []
    for index, (piece, around) in enumerate(zip(pieces, matched["neighbours"], strict=True)):
        finished = [piece.finish] if piece.finish else []
        inputs = [match.name, *(task.name for task in finished), *(layers[k] for k in around), *piece.inputs]
        outside = direct.options if direct is not None and len(borders) in around else None
        starts = [firsts[k] for k in (index, *around)]
        options = {"neighbours": around, "starts": starts, "names": names, "finished": bool(finished)}
        maker = Task.of(make_part, inputs, index=index, outside=outside, **options, **piece.options)
        needs = (*finished, *(task for task in late if task.name in inputs))
        is_shared = index == len(pieces) - 1 and (late or direct is not None)  # other tasks read its patches, too
        consumed = () if is_shared else piece.folders
        makers.append(replace(maker, consumed=consumed, needs=needs))
    # The parts with most neighbours take the longest, and begin first, so that none of them runs alone in the end.
    order = sorted(range(len(makers)), key=lambda k: (-len(matched["neighbours"][k]), k))
    counts = [task for piece in pieces[-1:] for task in _summaries([piece])]  # those of the others are there by now
    made = dict(zip(order, runner.run([*(makers[k] for k in order), *counts]), strict=False))
    parts = [made[k] for k in range(len(makers))]
    known += runner.run(late) if direct is None else [{"triangles": direct.triangles, "vertices": direct.vertices}]
    for maker, part in zip(makers, parts, strict=True):
        name, file = part.pop("made") or (maker.name, part["file"])
        _move(runner.store.folder(name).path / file, out / part["file"])
    with ThreadPoolExecutor(MOST_FLUSHED_AT_ONCE) as executor:
        list(executor.map(flush, [out / part["file"] for part in parts]))
    return {
        "format": FORMAT,
        "version": VERSION,
        "vertices": max((summary["vertices"] for summary in known), default=0),
        "triangles": sum(summary["triangles"] for summary in known),
        "parts": parts,
        "names": names,
        "holes": source.holes.tolist(),
        "regions": source.regions.tolist(),
    }


def write_manifest(out: Path, manifest: dict[str, Any]) -> None:
    """Writes the manifest, which completes a result in parts. Raises FileError if writing fails."""
    write_json(out / MANIFEST, manifest)


def _move(source: Path, target: Path) -> None:
    """Moves a file, unless an interrupted call has moved it; replaces a file of an earlier result."""
    try:
        if source.exists() or not target.exists():
            source.replace(target)
    except OSError as error:
        raise file_error(error, target, "cannot be written") from error
