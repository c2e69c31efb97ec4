"""Extends sizes by coarse fronts, and prints a digest of each result as a line of JSON.

    python coarse_fronts.py [LIBRARY]

LIBRARY is a build of the library to use instead of the installed one, under a sanitizer.
"""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from dmr.domains import circle_points
from dmr.mesh.types import Pslg
from dmr.refinement.placement.coarse_front import native
from dmr.triangulation.native import triangulate_plane
from tests.support.digests import digest


def main(library=None):
    """Prints the outcomes."""
    if library is not None:
        native.LIBRARY = Path(library)
    for corners, most in ((5, 50), (40, 50), (40, 1000), (2000, 50), (2000, 1000)):
        rings = [circle_points(1.0, 4), circle_points(0.2, corners, (0.1, 0.3)), circle_points(0.01, 7, (-0.2, -0.3))]
        first = np.cumsum([0, *map(len, rings)])
        segments = [np.stack([np.arange(a, b), np.roll(np.arange(a, b), -1)], axis=1) for a, b in pairwise(first)]
        vertices = np.concatenate([rings[0], rings[1][::-1], rings[2][::-1]])
        plane = triangulate_plane(Pslg(vertices, np.concatenate(segments)))
        in_domain = np.zeros(plane.parts, bool)
        in_domain[plane.left] = True
        found = native.coarse_front(vertices, plane, in_domain, largest=0.3, threshold=0.3, unit_steps=200, most=most)
        print(json.dumps([corners, most, digest(*found[:4])]))


if __name__ == "__main__":
    main(*sys.argv[1:])
