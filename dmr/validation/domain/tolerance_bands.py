"""Tolerance bands around tied segments.

A segment's tolerance band contains all points within the segment's tolerance (`Outline.reaches`, two ulps; derived in
`dmr.validation.domain.domain`) of its line and of its bounding box. The band is convex: a polygon with all corners in
it lies in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.exact import Points
from dmr.mesh.types import Mesh
from dmr.validation.domain.outline import Outline
from dmr.validation.triangulation.topology import Mask

Int64 = NDArray[np.int64]


class ToleranceBands:
    """The tolerance bands of tied segments. (The bands of other segments contain no vertices but their own.)"""

    def __init__(self, mesh: Mesh, points: Points, outline: Outline) -> None:
        self._vertices, self._points = mesh.vertices, points
        self._segments = np.flatnonzero(outline.tied)
        self._ends = outline.segments[self._segments].astype(np.int64)
        self._reach = outline.reaches[self._segments]
        ends = mesh.vertices[self._ends]
        self._low = ends.min(axis=1) - self._reach[:, None]
        self._high = ends.max(axis=1) + self._reach[:, None]

    def around(self, corners: NDArray[Any]) -> Int64:
        """Find the segments whose tolerance bands contain all given vertices."""
        places = self._vertices[corners]
        near = (self._low <= places.min(axis=0)).all(axis=1) & (places.max(axis=0) <= self._high).all(axis=1)
        chosen = np.flatnonzero(near)
        for vertex in corners.tolist():
            a, b = self._ends[chosen].T
            off = self._points.off_line(a, b, np.full(len(chosen), vertex), self._reach[chosen])
            chosen = chosen[~off]
        return self._segments[chosen]

    def hold(self, groups: NDArray[Any]) -> Mask:
        """(g,) mask of the (g, k) vertex groups that lie entirely in one tolerance band."""
        if not len(self._segments):
            return np.zeros(len(groups), bool)
        return np.array([len(self.around(corners)) > 0 for corners in groups], bool)

    @property
    def widest(self) -> float:
        """The largest tolerance; 0 without segments."""
        return float(self._reach.max(initial=0.0))
