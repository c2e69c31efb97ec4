"""Data of the whole domain that the refinement of a tile needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.tiles.piece import Arrays, Int64
from dmr.mesh.types import Float, Int

FOLDER_PREFIX = "whole_"


@dataclass(frozen=True, eq=False)
class Whole:
    """The input vertices and input segments.

    Attributes:
        inputs: (1,) int64, the number of input vertices: those with the numbers 0 to inputs - 1.
        vertices: (v,) int64, the numbers of those at the ends of input segments, ascending.
        points: (v, 2) float64, their coordinates.
        acute: (v,) uint8, 1 at those with a corner below 60 degrees.
        anchor: (v,) int64, the number of such a corner that an input segment joins the vertex to, -1 if there is none.
        ends: (k, 2) int64, the ends of the input segments; these are the segments that the user named, then all other
            boundary edges.
        markers: (k,) int32, the markers of the segments; of boundary edges that the user did not name 1.
        named: (k,) bool, whether the user named it.
        boundary: (k,) bool, whether it is on the boundary of the domain.
        kept: (k,) bool, whether it is never split.
        holes, regions: as in `Mesh`.
    """

    inputs: Int64
    vertices: Int64
    points: Float
    acute: NDArray[np.uint8]
    anchor: Int64
    ends: Int64
    markers: Int
    named: NDArray[np.bool_]
    boundary: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    holes: Float
    regions: Float

    @property
    def pinched(self) -> Int64:
        """The vertices in which the boundary touches itself: other tiles may have them without a cut between."""
        numbers, uses = np.unique(self.ends[self.boundary], return_counts=True)
        return numbers[uses > 2]

    def rows(self, numbers: Int64) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Returns which of some vertices are at ends of input segments, and the rows of these."""
        there = np.zeros(len(numbers), np.bool_)
        if not len(self.vertices):
            return there, np.empty(0, np.intp)
        of_input = np.flatnonzero(numbers < self.inputs[0])  # few, as a rule
        wanted = numbers[of_input]
        place = np.minimum(np.searchsorted(self.vertices, wanted), len(self.vertices) - 1)
        found = self.vertices[place] == wanted
        there[of_input[found]] = True
        return there, place[found]

    def save(self, arrays: Arrays) -> None:
        """Stores the arrays by name."""
        for each in fields(self):
            arrays[FOLDER_PREFIX + each.name] = getattr(self, each.name)

    @classmethod
    def load(cls, arrays: Arrays | Mapping[str, NDArray[Any]]) -> Whole:
        """Returns what was stored by `save`."""
        return cls(**{each.name: arrays[FOLDER_PREFIX + each.name] for each in fields(cls)})
