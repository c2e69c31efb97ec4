"""Makes parts of pieces, in tasks that read a piece and the borders of its neighbours, but never the whole.

1. `match_borders`: the vertices that several pieces have, and which pieces are neighbours.
2. `find_border`, per piece: the triangles that touch these vertices.
3. `make_part`, per piece: the part, with the ghosts from the borders of its neighbours. Its arrays are made from those
   of the piece while they are written, or follow those of a core that are in a file already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.common.number_arrays import distinct, first_of_each
from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.steps import step
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.columns import mesh_columns
from dmr.distributed.output.part import UNREFINED, UNREFINED_REASONS
from dmr.distributed.output.part_file import NO_NUMBERS, PartNumbers, unite_after, write_part
from dmr.distributed.threaded import touching
from dmr.distributed.tiles.piece import BORDER, Piece
from dmr.distributed.tiles.pieces import restricted, united
from dmr.distributed.tiles.result.sections import NONE_MISSING, Section, sections
from dmr.distributed.tiles.whole import Whole
from dmr.distributed.unions.numbering import is_among
from dmr.distributed.unions.union import Numbers, unite
from dmr.io.archives.columns import copied
from dmr.io.part_names import part_name
from dmr.mesh.types import Int

Int64 = NDArray[np.int64]
Summary = dict[str, Any]

FEW_PIECES = 1024  # whose pairs are counted faster than they are sorted


def match_borders(inputs: Sequence[Folder], out: Folder, resources: Resources) -> Summary:
    """Finds the vertices that several pieces have: `inputs` have the `BORDER` of all pieces, in order.

    The output has two arrays of equal length, sorted by number, then by part: `numbers` and `parts`.
    """
    shared = [folder[BORDER] for folder in inputs]
    bits = len(shared).bit_length()
    keys = np.concatenate([border << bits | part for part, border in enumerate(shared)])  # no two are equal
    keys.sort(kind="stable")  # as ascending runs are merged
    numbers = keys >> bits
    again = numbers[1:] == numbers[:-1]
    several = np.zeros(len(numbers), bool)
    several[1:] = again
    several[:-1] |= again
    numbers, parts = numbers[several], (keys[several] & ((1 << bits) - 1)).astype(np.int32)
    out["numbers"], out["parts"] = numbers, parts
    return {"neighbours": [sorted(each) for each in _neighbours(numbers, parts, len(shared))]}


def _neighbours(numbers: Int64, parts: NDArray[np.int32], count: int) -> list[set[int]]:
    """Returns for each part those that have a vertex in common with it."""
    found: list[set[int]] = [set() for _ in range(count)]
    step = 1
    while True:  # entries of one number follow each other; as many steps as parts meet in a vertex
        same = np.flatnonzero(numbers[step:] == numbers[:-step])
        if not len(same):
            return found
        pairs = parts[same].astype(np.int64) * count + parts[same + step]
        for pair in (np.flatnonzero(np.bincount(pairs)) if count <= FEW_PIECES else np.unique(pairs)).tolist():
            one, other = divmod(pair, count)
            found[one].add(other)
            found[other].add(one)
        step += 1


def find_border(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    index: int,
    places: Sequence[int],
    firsts: Sequence[int],
    loose: bool,
    before: int = 0,
    vertices: int = 0,
) -> Summary:
    """Finds the triangles of a piece that touch others: `inputs` are the shared vertices and those of `sections`.

    The output is the piece of these triangles, and `triangle`: (b,) the index of each in the piece.

    Args:
        inputs, out, resources: as for all tasks.
        index: of the piece; places, firsts, loose: as for `sections`.
        before: triangles of the piece that are before those of the sections, and touch no other piece.
        vertices: above the numbers of their vertices.
    """
    shared = _shared(inputs[0], index)
    threads = thread_count(resources.threads)
    layers, triangles = [], [np.empty(0, np.int64)]
    for section in sections(inputs[1:], places=places, firsts=firsts, loose=loose):
        mesh, wanted = section.mesh, shared
        if section.border is not None:
            # Of a core, others have vertices of its border, and those in which the boundary of the domain meets itself.
            wanted = shared[is_among(shared, distinct(section.border, Whole.load(inputs[1]).pinched))]
        if len(chosen := _triangles_at(section, wanted, threads)):
            layers.append(section.restricted(chosen, threads))
            triangles.append(before + chosen)
        before += len(mesh.triangles)
        vertices = max(vertices, section.numbers.highest + 1)
    if layers:
        (layers[0] if len(layers) == 1 else united(layers)).save(out)
    out["triangle"] = np.concatenate(triangles)
    return {"triangles": before, "vertices": vertices}


def _shared(matched: Folder, index: int) -> Int64:
    """Returns the numbers of the vertices that a piece shares with others, ascending."""
    return np.asarray(matched["numbers"][matched["parts"] == index])


def make_part(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    index: int,
    neighbours: Sequence[int],
    starts: Sequence[int],
    names: Mapping[str, Any],
    finished: bool,
    places: Sequence[int],
    firsts: Sequence[int],
    loose: bool,
    outside: Mapping[str, Any] | None = None,
) -> Summary:
    """Makes a part.

    `inputs` are the shared vertices, the output of `finish_core` if there is one, the borders of the part's neighbours,
    and those of `sections`.

    Args:
        inputs, out, resources: as for all tasks. The output is the file of the part, unless the core of a tile has
            begun one: then "made" names the output in which that is, and its file.
        index: the number of the part; neighbours: those of its neighbours, ascending.
        starts: the number of the first triangle of the part, then of each neighbour.
        names: of regions and markers: numbers, as texts, with their names.
        finished: whether there is an output of `finish_core`; places, firsts, loose: as for `sections`.
        outside: of the last neighbour, if there is its patch in place of its border (`Outside.options`).
    """
    matched, own_shared = inputs[0], _shared(inputs[0], index)
    of_core, others = (inputs[1], inputs[2:]) if finished else (None, inputs[1:])
    borders_around, of_sections = others[: len(neighbours)], others[len(neighbours) :]
    own = sections(of_sections, places=places, firsts=firsts, loose=loose)
    threads = thread_count(resources.threads)
    layers, ghost_numbers, ghost_owners = [], [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    with step("ghosts"):
        for folder, owner, first in zip(borders_around, neighbours, starts[1:], strict=True):
            if outside is not None and owner == neighbours[-1]:
                layer, chosen = _touching_in_patch(folder, of_sections[0], outside, own_shared, threads)
            else:
                layer, chosen = _touching_in_border(folder, own_shared, threads)
            layers.append(Section(layer.mesh, Numbers(layer.numbers)))
            ghost_numbers.append(first + chosen)
            ghost_owners.append(np.full(len(chosen), owner, np.int32))
    owners_of_ghosts = np.concatenate(ghost_owners)
    core, rest = (own[0], [*own[1:], *layers]) if own[0].core is not None else (None, [*own, *layers])
    if core is not None and core.core is not None and of_core is not None:
        core = replace(core, core=core.core.finished(of_core))
    with step("unite"):
        lists = [section.numbers for section in rest]
        union = unite(lists, threads) if core is None else unite_after(core.numbers, lists, threads)
    at_ghosts = union.places[len(rest) - len(layers) :]
    numbers = PartNumbers(NO_NUMBERS if core is None else core.numbers, union.numbers)
    with step("owners"):
        not_own, owners = _owned_by_others(numbers, at_ghosts, index, neighbours, matched, threads)
    with step("columns"):
        columns = mesh_columns(rest, union, names, core, threads)
    triangles = sum(len(section.mesh.triangles) for section in own)
    columns |= {
        "index": copied(np.array(index)),
        "own": copied(np.array(triangles)),
        "first": copied(np.array(starts[0])),
        "numbers": numbers.column(),
        "ghost_numbers": copied(np.concatenate(ghost_numbers)),
        "ghost_owners": copied(owners_of_ghosts),
        "border": copied(not_own),
        "border_owners": copied(owners),
    }
    missing = _missing_bounds(own)
    if missing.size:
        columns |= {UNREFINED: copied(missing[0]), UNREFINED_REASONS: copied(missing[1].astype(np.uint8))}
    makers = threads if threads == 1 else 2 * threads  # one of them writes, and others wait for pages of the inputs
    with step("write"):
        path = write_part(out.path / part_name(index), core, columns, numbers, makers)
    return {
        "file": part_name(index),
        "made": [path.parent.name, path.name] if path.parent != out.path else [],
        "triangles": triangles,
        "ghosts": len(owners_of_ghosts),
        "vertices": len(numbers),
        "segments": columns["segments"].shape[0],
        "own_vertices": len(numbers) - len(not_own),
    }


def _touching_in_border(folder: Folder, shared: Int64, threads: int) -> tuple[Piece, Int64]:
    """Returns the triangles of a border that touch some vertices, and their places in the piece."""
    border = Piece.load(folder)
    common = Numbers(shared).find(border.numbers, threads) >= 0
    chosen = np.flatnonzero(touching(border.mesh.triangles, common, threads))
    all_of_it = len(chosen) == len(border.mesh.triangles)
    return border if all_of_it else restricted(border, chosen, threads=threads), folder["triangle"][chosen]


def _touching_in_patch(
    folder: Folder, whole: Folder, outside: Mapping[str, Any], shared: Int64, threads: int
) -> tuple[Piece, Int64]:
    """Returns what `_touching_in_border` does for a piece whose `outside` is in a folder."""
    how = dict(outside)
    before = how.pop("before")
    (section,) = sections([whole, folder], **how)
    chosen = _triangles_at(section, shared, threads)
    return section.restricted(chosen, threads), before + chosen


def _triangles_at(section: Section, wanted: Int64, threads: int) -> NDArray[np.intp]:
    """Returns the triangles of a section that touch some vertices, which are given by number."""
    found = section.numbers.find(wanted, threads)
    found = found[found >= 0]
    if not len(found):
        return np.empty(0, np.intp)
    outer = np.zeros(len(section.mesh.vertices), bool)
    outer[found] = True
    return np.flatnonzero(touching(section.mesh.triangles, outer, threads))


def _missing_bounds(own: Sequence[Section]) -> Int:
    """Returns `Section.missing` of sections one after another, by triangle."""
    firsts = accumulate((len(section.mesh.triangles) for section in own), initial=0)
    shifted = [
        section.missing + np.array([[first], [0]], np.int32) for section, first in zip(own, firsts, strict=False)
    ]
    found: Int = np.concatenate([NONE_MISSING, *shifted], axis=1)
    return found[:, np.argsort(found[0], kind="stable")]


def _owned_by_others(
    numbers_of_all: PartNumbers,
    at_ghosts: Sequence[Int],
    index: int,
    neighbours: Sequence[int],
    shared: Folder,
    threads: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The vertices that other parts own, ascending, and these parts: the smallest ones with a triangle there.

    Args:
        numbers_of_all: of the vertices of the part; at_ghosts: the vertices of the ghosts of each neighbour.
        index: of the part; neighbours: ascending; shared: the output of `match_borders`; threads: that search.
    """
    vertices, first = first_of_each(np.concatenate([np.empty(0, np.int32), *at_ghosts]))
    numbers, parts = shared["numbers"], shared["parts"]
    place = Numbers(numbers).find(numbers_of_all.of(vertices), threads)
    owners = np.repeat(np.array(neighbours, np.int32), [len(each) for each in at_ghosts])[first]
    there = np.flatnonzero(place >= 0)
    owners[there] = parts[place[there]]  # the first entry of a number has the smallest part
    others = owners != index
    return vertices[others], owners[others]
