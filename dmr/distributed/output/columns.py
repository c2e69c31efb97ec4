"""The arrays of a part's mesh as columns of its file, made from the meshes that it consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.threaded import joined
from dmr.distributed.tiles.piece import PER_TRIANGLE, ROWS, Labels
from dmr.distributed.tiles.pieces import PER_VERTEX, joined_rows, tables_of_vertices
from dmr.distributed.tiles.result.few_labels import few_labels, rows_of_labels
from dmr.distributed.tiles.result.sections import Section
from dmr.distributed.unions.union import United
from dmr.io.archives.columns import Column, Indexed, copied, gathered, translated
from dmr.io.npz import OF_ROWS, VERSION_KEY, VERSION_WITH_LABELS, mesh_arrays
from dmr.mesh.edges import edge_keys
from dmr.mesh.types import Mesh


def mesh_columns(
    parts: Sequence[Section],
    union: United,
    names: Mapping[str, Any],
    core: Section | None = None,
    threads: int | None = 1,
) -> dict[str, Column]:
    """Returns the columns of the union of meshes, in the order of `mesh_arrays`.

    Args:
        parts: have the meshes, side by side; segments and vertices that several have occur once.
        union: of the numbers of their vertices.
        names: of regions and markers: numbers, as texts, with their names.
        core: comes before them, and is in the file already: what its file has is not in the columns.
        threads: that compare labels.
    """
    places, meshes = union.places, [part.mesh for part in parts]
    segments = np.concatenate([place[mesh.segments] for place, mesh in zip(places, meshes, strict=True)])
    with_segments = meshes
    if core is not None:
        segments, with_segments = np.concatenate([core.mesh.segments, segments]), [core.mesh, *meshes]
    once = np.sort(np.unique(edge_keys(*segments.T), return_index=True)[1])
    markers = joined_rows(with_segments, "segment_markers")
    made: dict[str, Column] = {"triangles": translated([mesh.triangles for mesh in meshes], places)}
    for name in PER_VERTEX:
        tables = tables_of_vertices(meshes, name)
        if tables is not None:
            made[name] = gathered(tables, union.origins)
    full = [part for part in parts if len(part.mesh.triangles)]
    labels = {name: [_labels(part, name) for part in full] for name in PER_TRIANGLE}
    of_all = {name: [each for each in found if each is not None] for name, found in labels.items()}
    whole = {name: found for name, found in of_all.items() if found and len(found) == len(full)}
    if core is None:
        made |= {name: copied(*found) for name, found in whole.items()}
    else:
        made |= _after_core(core, sum(len(part.mesh.triangles) for part in full), whole, threads)
        before = {name: len(core.mesh.triangles if name in PER_TRIANGLE else core.mesh.vertices) for name in made}
        made |= {
            name: copied(np.empty((before[name] + column.shape[0], 0)))
            for name, column in made.items()
            if column.shape[1:] == (0,)
        }
    # The other arrays are small, or empty: those of a mesh with these segments and no triangles.
    kinds = {kind: {int(number): name for number, name in each.items()} for kind, each in names.items()}
    small = Mesh.sound(
        vertices=np.empty((0, 2)),
        triangles=np.empty((0, 3), np.int32),
        segments=segments[once],
        segment_markers=None if markers is None else markers[once],
        names=kinds,
    )
    others = {name: array for name, array in mesh_arrays(small).items() if f"{name}{OF_ROWS}" not in made}
    columns = {name: copied(np.asarray(array)) for name, array in others.items()} | made
    order = {each.name: number for number, each in enumerate(fields(Mesh))}
    return dict(sorted(columns.items(), key=lambda column: order.get(column[0], _around(column[0], len(order)))))


def _after_core(
    core: Section, rows: int, labels: Mapping[str, Sequence[NDArray[Any] | Indexed]], threads: int | None
) -> dict[str, Column]:
    """Returns the columns of labels after those of a core.

    Its labels are rows of tables. Of the other triangles, which are few, each adds a row to the tables, unless these
    have no repetitions (`few_labels`), and those that are missing are few.

    Args:
        rows: the number of these triangles; labels: theirs; threads: that compare labels.
    """
    tables = {} if core.labels is None else core.labels.tables
    made = {name: copied(*found) for name, found in labels.items() if name not in tables}
    if core.labels is not None:
        first = max((len(table) for table in tables.values()), default=0)
        made[VERSION_KEY] = copied(np.array(VERSION_WITH_LABELS))
        others = _of_others(core.labels, labels, threads) if core.labels.rows.dtype == np.uint8 else None
        if others is None:
            made[ROWS] = copied(np.arange(first, first + rows, dtype=np.int32))
            made |= {f"{name}{OF_ROWS}": copied(table, *labels.get(name, ())) for name, table in tables.items()}
        else:
            made[ROWS] = copied(others.rows)
            made |= {f"{name}{OF_ROWS}": copied(table) for name, table in others.tables.items()}
    return made


def _of_others(
    core: Labels, labels: Mapping[str, Sequence[NDArray[Any] | Indexed]], threads: int | None
) -> Labels | None:
    """Returns the labels of triangles beside a core as rows of its tables, to which new ones are added.

    None if that are too many, or the labels of a triangle are not all stored in the same way.
    """
    added = {name: [core.tables[name], *map(_table, labels.get(name, ()))] for name in core.tables}
    first, *others = [[len(each) for each in tables] for tables in added.values()]
    if any(each != first for each in others):
        return None
    given = labels.get(next(iter(core.tables)), ())
    by_part = [
        rows_of_labels(core.tables, {name: tables[1 + part] for name, tables in added.items()}, threads)
        for part in range(len(given))
    ]
    if (known := _of_triangles(by_part, given)) is not None:  # as a rule
        return Labels(known, core.tables)
    found = few_labels({name: joined(tables, threads) for name, tables in added.items()}, threads)
    if found is None:
        return None
    rows = _of_triangles(np.split(found.rows, np.cumsum(first)[:-1])[1:], given)
    return None if rows is None else Labels(rows, found.tables)


def _of_triangles(
    rows: Sequence[NDArray[np.uint8] | None], labels: Sequence[NDArray[Any] | Indexed]
) -> NDArray[np.uint8] | None:
    """Returns rows of triangles from those of their labels, by part; None if those of a part are not known."""
    found = [np.empty(0, np.uint8)]
    for of_part, given in zip(rows, labels, strict=True):
        if of_part is None:
            return None
        found.append(of_part[given.rows] if isinstance(given, Indexed) else of_part)
    return np.concatenate(found)


def _table(labels: NDArray[Any] | Indexed) -> NDArray[Any]:
    return labels.table if isinstance(labels, Indexed) else labels


def _labels(part: Section, name: str) -> NDArray[Any] | Indexed | None:
    """Returns labels by triangle."""
    if part.labels is not None and name in part.labels.tables:
        return Indexed(part.labels.tables[name], part.labels.rows)
    found: NDArray[Any] | None = getattr(part.mesh, name)
    return found


def _around(name: str, after: int) -> int:
    """Returns the place of an array that is not a field: the version comes first, names come last."""
    return -1 if name == VERSION_KEY else after
