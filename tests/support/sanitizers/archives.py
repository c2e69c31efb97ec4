"""Unites lists of numbers and writes archives, and prints a digest of each result, or its error, as a line of JSON.

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

from dmr.distributed.archives import native
from dmr.distributed.archives.npz import copied, gathered, translated, write_npz
from dmr.distributed.archives.union import Numbers, unite
from tests.support.digests import digest

SIZES = ((0,), (1, 0), (5, 3, 4), (1000, 0, 300), (200_000, 30_000, 5, 60_000))
THREADS = (1, 3)


def lists(sizes, random):
    """Ascending lists, of which the first has numbers that are not assigned yet."""
    found = [np.sort(random.choice(3 * max(sizes) + 1, size, replace=False)).astype(np.int64) for size in sizes]
    first = 2 * max(sizes)
    own = np.where(found[0] < first, found[0], first - 1 - found[0])
    return [Numbers(own, first), *map(Numbers, found[1:])]


def main(library=None):
    """Prints the outcomes."""
    if library is not None:
        native.LIBRARY = Path(library)
    random = np.random.default_rng(7)
    for sizes in SIZES:
        given = lists(sizes, random)
        tables = [random.random((size, 2)) for size in sizes]
        corners = [
            random.integers(0, size, (size, 3), np.int32) if size else np.empty((0, 3), np.int32) for size in sizes
        ]
        for threads in THREADS:
            union = unite(given, threads)
            columns = {
                "numbers": copied(union.numbers), "triangles": translated(corners, union.places),
                "vertices": gathered(tables, union.origins), "one": copied(np.array(3)), "odd": copied(*corners),
            }  # fmt: skip
            with tempfile.TemporaryFile() as file:
                write_npz(file.fileno(), columns, threads)
                file.seek(0)
                content = np.frombuffer(file.read(), np.uint8)
            places = [each.find(union.numbers) for each in given]
            print(json.dumps([sizes, threads, digest(content, *places, *union.places)]), flush=True)
    descriptor = os.open(os.devnull, os.O_RDONLY)
    try:
        write_npz(descriptor, {"one": copied(np.zeros(3))}, 2)
    except OSError as error:
        print(json.dumps(["read-only", 2, str(error)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
