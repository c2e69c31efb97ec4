"""The core of a tile as the beginning of the file of a part.

Nothing of a core changes, unless a band reaches it, and most triangles of the result are in cores. Their arrays are
therefore written once, when the tile has been refined: to an archive that has room for what the part holds besides, the
rest of the margin and the ghosts. The task that makes the part completes this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.tiles.piece import ROWS
from dmr.distributed.tiles.stored import Stored
from dmr.errors import file_error
from dmr.io.archives.npz import Begun, begin_archive

FILE = "part.npz"  # in the output of a task, which it outlives
BEGUN = "begun"  # the array that stores the places in the file
ARRAYS = ("vertices", "triangles", ROWS, "vertex_markers", "vertex_attributes")
# Room for rows, per row of the margin, from which bands take some, while ghosts are added; and in any case.
ROOM_PER_ROW, LEAST_ROOM = 1.25, 256


@dataclass(frozen=True)
class CoreFile:
    """The file that the core of a tile has begun.

    Attributes:
        path: its path; begun: the rows of the core, by the name of the array.
    """

    path: Path
    begun: Mapping[str, Begun]

    def has_room(self, name: str, rows: int, row_bytes: int) -> bool:
        """Whether further rows of an array fit."""
        first = self.begun[name]
        return first.at + (first.rows + rows) * row_bytes <= first.end

    @classmethod
    def load(cls, stored: Stored) -> CoreFile | None:
        """Returns what `save_core` has written, or None if the stored patch is not the core of a tile."""
        if BEGUN not in stored:
            return None
        rows = stored[BEGUN].tolist()
        return cls(
            stored.folder.path / FILE, {name: Begun(*row) for name, row in zip(ARRAYS, rows, strict=True) if row[0]}
        )


def save_core(core: Mapping[str, NDArray[Any]], out: Folder, place: int, margin: tuple[int, int], threads: int) -> None:
    """Stores the core of a tile.

    Args:
        core: its arrays by name; out: for them; place: there.
        margin: the vertices and triangles of the margin of the tile; threads: that write.

    Raises:
        FileError: a file cannot be written.
    """
    stored = Stored(out, place)
    first = {name: core[name] for name in ARRAYS if name in core}
    for name, array in core.items():
        if name not in first:
            stored[name] = array
    of_vertices, of_triangles = (int(ROOM_PER_ROW * rows) + LEAST_ROOM for rows in margin)
    most = {
        name: len(array) + (of_vertices if name.startswith("vert") else of_triangles) for name, array in first.items()
    }
    begun = begin_core(out.path / FILE, first, most, threads)
    for name, each in begun.items():
        stored.refer(name, first[name].dtype, first[name].shape, each.at, FILE)
    rows = [tuple(begun[name]) if name in begun else (0, 0, 0, 0) for name in ARRAYS]
    stored[BEGUN] = np.array(rows, np.int64)


def begin_core(
    path: Path, arrays: Mapping[str, NDArray[Any]], most: Mapping[str, int], threads: int
) -> Mapping[str, Begun]:
    """Begins the file of a part with rows of arrays, and room for `most` rows of each; raises FileError."""
    try:
        with path.open("xb") as file:
            return begin_archive(file.fileno(), arrays, most, threads)
    except OSError as error:
        raise file_error(error, path, "cannot be written") from error
