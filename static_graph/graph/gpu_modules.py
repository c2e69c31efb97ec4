"""The GPU modules that build graphs, compiled and loaded before the work begins."""

from __future__ import annotations

ROWS = ("graph/building/rows", "primitives/scan", "primitives/sorting")  # edges into rows
ARRAY_CHECKS = ("graph/building/checking", "primitives/scan")
TRANSPOSING = ("graph/building/incoming", *ROWS)  # the transposed graph
RENUMBERING = ("graph/building/renumbering", *TRANSPOSING)  # the graph and its weights by out-degree
RANDOM_GRAPHS = ("graph/building/generation", *ROWS)
