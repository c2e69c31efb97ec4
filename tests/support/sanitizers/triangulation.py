"""Triangulates random outlines of hard kinds, and prints the outcome of each as a line of JSON.

The script also sweeps each mesh's segments as if they were a boundary, which they seldom are.

    python triangulation.py [LIBRARY]

LIBRARY is a build of the native triangulation to use instead of the installed one.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import numpy as np

import dmr
from dmr.errors import DmrError
from dmr.triangulation import native
from dmr.triangulation.sweep import sweep_edges
from tests.support.digests import digest

OUTLINES = 800


def crossing(random):
    """Segments on a small grid, with duplicates, overlaps, crossings and vertices on segments; or only points."""
    vertices = random.integers(0, random.integers(2, 9), (random.integers(3, 20), 2))
    return vertices * random.choice([1, 0.1, 1 / 3]), random.integers(0, len(vertices), (random.integers(0, 20), 2))


def bundle(random):
    """Segments that nearly meet in one point."""
    count = random.integers(2, 16)
    angle = random.uniform(0, 2 * np.pi, count)
    way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vertices = np.concatenate([way, -way * random.uniform(0.5, 2, (count, 1))]) + random.uniform(-1, 1, 2)
    return vertices, np.arange(2 * count).reshape(2, count).T


def parallels(random):
    """Segments a few units in the last place apart."""
    count = random.integers(2, 10)
    vertices = random.uniform(0, 1, (2 * count, 1)) * [1, 1 / 3] + random.integers(-3, 4, (2 * count, 2)) * 2.0**-53
    return vertices, np.arange(2 * count).reshape(count, 2)


def long(random):
    """Many points, and a few segments across all of them."""
    vertices = np.concatenate([random.random((200, 2)), [[-1, 0.3], [2, 0.4], [0.3, -1], [0.4, 2]]])
    return vertices, np.array([[200, 201], [202, 203], [200, 203]])


def extremes(random):
    """Both ends of the coordinate range, where exact sums are closest to over- or underflow."""
    vertices, segments = crossing(random)
    if random.integers(2):
        return vertices * 2.0**197, segments
    return np.where(random.integers(0, 2, vertices.shape) == 0, vertices, vertices * 2.0**-136), segments


def outcome(random, make):
    """Triangulates an outline; returns a digest of the result, or the error message."""
    vertices, segments = make(random)
    points = vertices[random.integers(0, len(vertices), 2)] + random.choice([0, 0.01, 100])
    domain = dmr.Pslg(
        vertices,
        segments,
        holes=points[: random.integers(0, 2)],
        regions=np.column_stack([points[1:], [[1.0, 0.1]]]) if random.integers(0, 3) == 0 else [],
        segment_markers=random.integers(0, 3, len(segments)),
        vertex_attributes=vertices[:, :1],
    )
    try:
        mesh = dmr.triangulate(domain, convex_hull=bool(random.integers(0, 4)))
    except DmrError as error:
        return str(error)
    arrays = (mesh.vertices, mesh.triangles, mesh.segments, mesh.segment_markers, mesh.vertex_markers)
    swept = np.array(repr(sweep_edges(mesh.vertices, *mesh.segments.T)).encode())
    return digest(*arrays, mesh.vertex_attributes, swept)


def main(library=None):
    """Prints the outcome of every outline."""
    logging.getLogger("dmr").setLevel(logging.ERROR)
    if library is not None:
        native.LIBRARY = Path(library)
    for turn in range(OUTLINES):
        make = (crossing, bundle, parallels, long, extremes)[turn % 5]
        random = np.random.default_rng([1, turn])
        print(json.dumps([turn, make.__name__, outcome(random, make)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
