"""Where tied segments may run, up to rounding: what lies along which of them.

A segment's tube holds all points that keep within its reach (`Outline.reaches`, two ulps; `dmr.checks.domain` says why)
of its line, and of the box around it. It is convex: what has all its corners in a tube lies in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.checks.outline import Outline
from dmr.checks.topology import Mask
from dmr.exact import Points
from dmr.meshes import Mesh

Int64 = NDArray[np.int64]


class Tubes:
    """The tubes of tied segments. (Others have no vertices of the mesh in them but their own.)"""

    def __init__(self, mesh: Mesh, points: Points, outline: Outline) -> None:
        self._vertices, self._points = mesh.vertices, points
        self._segments = np.flatnonzero(outline.tied)
        self._ends = outline.segments[self._segments].astype(np.int64)
        self._reach = outline.reaches[self._segments]
        ends = mesh.vertices[self._ends]
        self._low = ends.min(axis=1) - self._reach[:, None]
        self._high = ends.max(axis=1) + self._reach[:, None]

    def around(self, corners: NDArray[Any]) -> Int64:
        """The segments whose tubes hold all of some vertices."""
        places = self._vertices[corners]
        near = (self._low <= places.min(axis=0)).all(axis=1) & (places.max(axis=0) <= self._high).all(axis=1)
        chosen = np.flatnonzero(near)
        for vertex in corners.tolist():
            a, b = self._ends[chosen].T
            off = self._points.off_line(a, b, np.full(len(chosen), vertex), self._reach[chosen])
            chosen = chosen[~off]
        return self._segments[chosen]

    def hold(self, groups: NDArray[Any]) -> Mask:
        """(g,) whether some tube holds all vertices of each of (g, k) groups."""
        if not len(self._segments):
            return np.zeros(len(groups), bool)
        return np.array([len(self.around(corners)) > 0 for corners in groups], bool)

    @property
    def widest(self) -> float:
        """The largest reach; 0 without segments."""
        return float(self._reach.max(initial=0.0))
