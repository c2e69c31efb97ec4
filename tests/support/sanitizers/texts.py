"""Reads damaged Triangle files, and prints the outcome of each as a line of JSON.

    python texts.py FOLDER [LIBRARY]

FOLDER is for scratch files. LIBRARY is a build of the native reader to use instead of the installed one. Readable files
are written and read again, which must give the same data.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import numpy as np

from dmr.errors import DmrError
from dmr.io import native, read, read_edges, read_neighbours, text, write
from dmr.mesh.types import Mesh

MUTANTS = 300
NASTY = (
    "nan", "-inf", "1e400", "-1e-400", "0x10", "-0", "+", ".", "1.", ".5e", "1e+", "99999999999999999999", "2147483648",
    "-2147483649", "1" * 400, "0." + "0" * 400 + "1", "7" * 30 + "e-25", "#", "\n", "\r\n", "\x00", "\xff", "",
)  # fmt: skip


def mesh():
    """A small mesh with everything that the files can hold."""
    vertices = np.array([[0, 0], [1, 0], [1.5, 1], [0.5, 2], [-0.5, 1], [0.5, 0.1], [1 / 3, 5e-324]])[:6]
    triangles = np.array([[5, k, (k + 1) % 5] for k in range(5)])
    return Mesh(
        vertices,
        triangles,
        segments=np.array([[k, (k + 1) % 5] for k in range(5)]),
        segment_markers=np.arange(5),
        vertex_markers=np.arange(6),
        vertex_attributes=np.ldexp(1.0, np.arange(12) * 80 - 500).reshape(6, 2) / 3,
        triangle_attributes=np.arange(5.0)[:, None],
        area_bounds=np.full(5, 0.1),
    )


def damaged(content, choose):
    """Content with one random modification, which usually makes it invalid."""
    place = choose.randrange(len(content))
    words = content.split(" ")
    word = choose.randrange(len(words))
    return choose.choice([
        content[:place],
        content[:place] + choose.choice("0123456789.-+eE# \n\r\t\x00") + content[place + 1 :],
        content[:place] + content[choose.randrange(len(content)) :],
        " ".join([*words[:word], choose.choice(NASTY), *words[word + 1 :]]),
        " ".join([*words[:word], *words[word + 1 :]]),
    ])  # fmt: skip


def outcome(path, threads):
    """Reads a file; returns the error message, or "read"."""
    try:
        if path.suffix == ".neigh":
            read_neighbours(path, threads=threads)
        elif path.suffix == ".edge":
            read_edges(path, threads=threads)
        else:
            found = read(path.with_suffix(".ele"), threads=threads)
            write(path.with_name("again.ele"), found, threads=threads)
            again = read(path.with_name("again.ele"), threads=threads)
            assert np.array_equal(found.vertices.view(np.int64), again.vertices.view(np.int64))
            assert np.array_equal(found.triangles, again.triangles)
    except DmrError as error:
        return str(error).replace(str(path.parent), "")
    return "read"


def main(folder, library=None):
    """Prints the outcome of every damaged file."""
    if library is not None:
        native.LIBRARY = Path(library)
    text.TextFile.__init__.__defaults__ = (None, 16)  # many chunks even in small files
    folder, choose = Path(folder), random.Random(1)
    write(folder / "x.ele", mesh(), neighbours=True, edges=True)
    whole = {path: path.read_text() for path in sorted(folder.glob("x.*"))}
    for turn in range(MUTANTS):
        path = choose.choice(list(whole))
        path.write_text(damaged(whole[path], choose), encoding="latin-1", newline="")
        print(json.dumps([turn, path.name, outcome(path, choose.choice([1, 3]))]), flush=True)
        path.write_text(whole[path])


if __name__ == "__main__":
    main(*sys.argv[1:])
