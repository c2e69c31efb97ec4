"""Reads edge lists, whole and damaged, and prints the outcome of each as a line of JSON.

    python edge_texts.py FOLDER [LIBRARY]

LIBRARY is a build of the reader to use instead of the installed one, under a sanitizer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from dmr.common.files import compressed, text_index
from static_graph import DmrError, generate_random, read, write
from static_graph.io import native
from tests.support.digests import digest

DAMAGES = [b"", b" ", b"\n", b",", b"-1", b"x", b"1e999", b"nan", b"99999999999999999999", b"\0", b"\xff", b"a", b"#"]


def texts(folder):
    """Yields (suffix, bytes) of files of every format: whole, truncated, and with junk inserted somewhere."""
    random = np.random.default_rng(5)
    for weights in (None, 5):
        for suffix in (".txt", ".csv", ".gr", ".mtx"):
            whole = write(folder / f"whole{suffix}", generate_random(7, 12, weights=weights, device="cpu")).read_bytes()
            yield suffix, whole
            yield suffix, whole[:-1]
            for _ in range(12):
                yield suffix, whole[: random.integers(0, len(whole))]
            for damage in DAMAGES:
                for place in random.integers(0, len(whole), 4):
                    yield suffix, whole[:place] + damage + whole[place:]
    yield ".txt", b"1 2 0.5\n" * 50 + b"3 4 1e-4000\n5 6 .25\n"


def outcome(path):
    """Reads a file; returns a digest of the graph, or the error message."""
    try:
        graph = read(path, threads=3)
    except DmrError as error:
        return str(error).removeprefix(str(path.parent))
    arrays = [array for array in (graph.offsets, graph.targets, graph.weights, graph.labels) if array is not None]
    return digest(*arrays)


def main(folder, library=None):
    """Prints the outcomes; chunks and reads have a few bytes, so that every place is near a boundary."""
    if library is not None:
        native.LIBRARY = Path(library)
    text_index.CHUNK_BYTES, compressed.READ_BYTES = 13, 40
    folder = Path(folder)
    for number, (suffix, content) in enumerate(texts(folder)):
        path = folder / f"text{suffix}"
        path.write_bytes(content)
        print(json.dumps([number, suffix, outcome(path)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
