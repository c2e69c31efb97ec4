"""Delaunay triangulation of points by rounds of kernels, on a GPU or on CPU threads.

    find equal points, draw an order     along a curve, in random samples of growing size    (order)
    insert, round after round            search, cavity, claim, retriangulate, link          (insertion)
    number the triangles                 canonically                                         (numbering)

Ties are broken by the points' numbers, so the triangulation is unique: neither the order of insertion nor the winners
of a round change the result, which has the bits of the serial code (`dmr/triangulation/serial/`).
"""

from __future__ import annotations

from dmr.triangulation.rounds.points import plane_of_points

__all__ = ["plane_of_points"]
