"""Writes archives, and prints a digest of each result, or its error, as a line of JSON.

    python archives.py [LIBRARY]

LIBRARY is a build of the library to use instead of the installed one, under a sanitizer.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from dmr.io.archives import native
from dmr.io.archives.columns import ArrivingColumn, copied, gathered, numbered, translated
from dmr.io.archives.npz import begin_archive, write_npz
from tests.support.digests import digest

SIZES = ((0,), (1, 0), (5, 3, 4), (1000, 0, 300), (200_000, 30_000, 5, 60_000))
THREADS = (1, 3)


def arriving(table):
    """The rows of a table in pieces of 7,777."""
    pieces = [table[first : first + 7777] for first in range(0, len(table), 7777)]
    return ArrivingColumn(table.dtype, table.shape, lambda: pieces)


def main(library=None):
    """Prints the outcomes."""
    if library is not None:
        native.LIBRARY = Path(library)
    random = np.random.default_rng(7)
    for sizes in SIZES:
        tables = [random.random((size, 2)) for size in sizes]
        corners = [
            random.integers(0, size, (size, 3), np.int32) if size else np.empty((0, 3), np.int32) for size in sizes
        ]
        places = [random.permutation(max(size, 1)).astype(np.int32) for size in sizes]
        rows = random.integers(0, sum(sizes), 2 * sum(sizes)).astype(np.int32) if sum(sizes) else np.empty(0, np.int32)
        for threads in THREADS:
            columns = {
                "triangles": translated(corners, places), "vertices": gathered(tables, rows),
                "one": copied(np.array(3)), "odd": copied(*corners), "late": arriving(tables[0]),
                "numbers": numbered([rows.astype(np.int64) - 9], [5]),
            }  # fmt: skip
            with tempfile.TemporaryFile() as file:
                write_npz(file.fileno(), columns, threads)
                file.seek(0)
                content = np.frombuffer(file.read(), np.uint8)
            print(json.dumps([sizes, threads, digest(content)]), flush=True)
            first = {"zeros": np.zeros(sum(sizes)), "vertices": tables[0]}
            columns = {"one": copied(np.array(3)), "zeros": copied(np.ones(1)), "vertices": gathered(tables, rows)}
            most = {name: len(array) + len(rows) + 1 for name, array in first.items()}
            with tempfile.TemporaryFile() as file:
                write_npz(file.fileno(), columns, threads, begin_archive(file.fileno(), first, most, threads))
                file.seek(0)
                content = np.frombuffer(file.read(), np.uint8)
            print(json.dumps([sizes, threads, digest(content)]), flush=True)
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        write_npz(descriptor, {"one": copied(np.zeros(3))}, 2)
    except OSError as error:
        print(json.dumps(["read-only", 2, str(error)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
