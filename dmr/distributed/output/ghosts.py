"""Makes parts of pieces, in tasks that read a piece and the borders of its neighbours, but never the whole.

1. `find_border`, per piece: the triangles that touch vertices which other pieces may have.
2. `match_borders`: the vertices that several pieces have, and which pieces are neighbours.
3. `make_part`, per piece: the part, with the ghosts from the borders of its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.part import Part, file_name
from dmr.distributed.tiles.piece import BORDER, Piece
from dmr.distributed.tiles.pieces import restricted, touching, united
from dmr.mesh.types import Mesh

Int64 = NDArray[np.int64]
Summary = dict[str, Any]


def find_border(inputs: Sequence[Folder], out: Folder, resources: Resources) -> Summary:
    """Finds the triangles at the border of a piece: `inputs` is the piece, whose numbers ascend, with its `BORDER`.

    The output is the piece of these triangles, with `BORDER`, and `triangle`: (b,) the index of each in the piece.
    """
    piece, border = Piece.load(inputs[0]), inputs[0][BORDER]
    mesh = piece.mesh
    outer = np.zeros(len(mesh.vertices), bool)
    outer[np.searchsorted(piece.numbers, border)] = True
    triangles = np.flatnonzero(touching(mesh.triangles, outer))
    restricted(piece, triangles).save(out)
    out[BORDER], out["triangle"] = border, triangles
    return {"triangles": len(mesh.triangles), "vertices": int(piece.numbers.max(initial=-1)) + 1}


def match_borders(inputs: Sequence[Folder], out: Folder, resources: Resources) -> Summary:
    """Finds the vertices that several pieces have: `inputs` are the borders of all pieces, in order.

    The output has two arrays of equal length, sorted by number, then by part: `numbers` and `parts`.
    """
    shared = [folder[BORDER] for folder in inputs]
    numbers = np.concatenate(shared)
    parts = np.repeat(np.arange(len(shared), dtype=np.int32), [len(each) for each in shared])
    order = np.argsort(numbers, kind="stable")
    numbers, parts = numbers[order], parts[order]
    again = np.zeros(len(numbers), bool)
    again[1:] = numbers[1:] == numbers[:-1]
    several = again.copy()
    several[:-1] |= again[1:]
    numbers, parts = numbers[several], parts[several]
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
        for one, other in np.unique(np.stack([parts[same], parts[same + step]], axis=1), axis=0).tolist():
            found[one].add(other)
            found[other].add(one)
        step += 1


def make_part(
    inputs: Sequence[Folder],
    out: Folder,
    resources: Resources,
    *,
    index: int,
    neighbours: Sequence[int],
    firsts: Sequence[int],
    names: Mapping[str, Any],
) -> Summary:
    """Makes a part: `inputs` are its piece, the shared vertices, its border, and the borders of its neighbours.

    Args:
        inputs, out, resources: as for all tasks. The output is the file of the part.
        index: the number of the part; neighbours: those of its neighbours, ascending.
        firsts: the number of the first triangle of the part, then of each neighbour.
        names: of regions and markers: numbers, as texts, with their names.
    """
    piece, shared, border = Piece.load(inputs[0]), inputs[1], inputs[2]
    layers, ghost_numbers, ghost_owners = [], [], []
    for folder, owner, first in zip(inputs[3:], neighbours, firsts[1:], strict=True):
        around = Piece.load(folder)
        common = np.isin(around.numbers, border[BORDER])
        chosen = np.flatnonzero(touching(around.mesh.triangles, common))
        layers.append(restricted(around, chosen))
        ghost_numbers.append(first + folder["triangle"][chosen])
        ghost_owners.append(np.full(len(chosen), owner, np.int32))
    whole = united([piece, *layers])
    owners_of_ghosts = np.concatenate([np.empty(0, np.int32), *ghost_owners])
    others, owners = _owned_by_others(whole, len(piece.mesh.triangles), index, owners_of_ghosts, shared)
    part = Part(
        index=index,
        mesh=_named(whole.mesh, names),
        numbers=whole.numbers,
        own=len(piece.mesh.triangles),
        first=firsts[0],
        ghost_numbers=np.concatenate([np.empty(0, np.int64), *ghost_numbers]),
        ghost_owners=owners_of_ghosts,
        border=others,
        border_owners=owners,
    )
    part.write(out.path / file_name(index))
    return {
        "file": file_name(index),
        "triangles": part.own,
        "ghosts": len(part.ghost_numbers),
        "vertices": len(part.numbers),
        "segments": len(part.mesh.segments),
        "own_vertices": len(part.numbers) - len(part.border),
    }


def _owned_by_others(
    whole: Piece, own: int, index: int, ghost_owners: NDArray[np.int32], shared: Folder
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The vertices that other parts own, ascending, and these parts: the smallest ones with a triangle there."""
    ghosts = whole.mesh.triangles[own:]
    vertices, first = np.unique(ghosts, return_index=True)  # ghosts are in the order of their owners
    numbers, parts = shared["numbers"], shared["parts"]
    place = np.minimum(np.searchsorted(numbers, whole.numbers[vertices]), max(len(numbers) - 1, 0))
    owners = ghost_owners[first // 3]
    there = np.flatnonzero(numbers[place] == whole.numbers[vertices])
    owners[there] = parts[place[there]]  # the first entry of a number has the smallest part
    others = owners != index
    return vertices[others], owners[others]


def _named(mesh: Mesh, names: Mapping[str, Any]) -> Mesh:
    """Returns a mesh with names, whose numbers are texts in plain JSON."""
    kinds = {kind: {int(number): name for number, name in each.items()} for kind, each in names.items()}
    arrays = {name: getattr(mesh, name) for name in mesh.__dataclass_fields__ if name != "names"}
    return Mesh.sound(**arrays, names=kinds)
