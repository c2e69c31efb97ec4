"""The GPU modules for trees, compiled and loaded before the work begins."""

from __future__ import annotations

from static_graph.graph.gpu_modules import ROWS

TOURS = ("primitives/gathering", "graph/trees/euler_tour", *ROWS)  # in addition to those of the ranking
PATH_SUMS = ("graph/trees/euler_tour", "primitives/scan")
COMMON_ANCESTORS = (*PATH_SUMS, "graph/trees/common_ancestors")
