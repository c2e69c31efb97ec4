"""Constrained Delaunay triangulation by rounds of kernels, on a GPU or on CPU threads.

    find equal points, draw an order     along a curve, in random samples of growing size    (order)
    insert, round after round            search, cavity, claim, retriangulate, link          (insertion)
    insert the segments                  walk, claim, flip; then Lawson's flips              (segments, flips)
    number the triangles                 canonically                                         (numbering)
    label the parts                      by hooking across edges that are not segments        (parts)

Ties are broken by the points' numbers, so the triangulation is unique: neither the order of insertion nor the winners
of a round change the result, which has the bits of the serial code (`dmr/triangulation/serial/`).
"""

from __future__ import annotations

from dmr.triangulation.rounds.plane import plane_by_rounds

__all__ = ["plane_by_rounds"]
