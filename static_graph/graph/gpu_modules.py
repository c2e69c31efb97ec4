"""The GPU modules that build graphs, compiled and loaded before the work begins."""

from __future__ import annotations

ROWS = ("graph/building/rows", "primitives/scan", "primitives/sorting")  # edges into rows
ARRAY_CHECKS = ("graph/building/checking", "primitives/scan")
TRANSPOSING = ("graph/building/incoming", *ROWS)  # the transposed graph
RANDOM_GRAPHS = ("graph/building/generation", *ROWS)
