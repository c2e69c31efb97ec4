"""The GPU modules of the engine; the kernels of a body are in a module that its caller names."""

from __future__ import annotations

from static_graph.graph.gpu_modules import ROWS

ENGINE = ("graph/engine/rounds", "primitives/device_loop", "primitives/scan")
TRIMMING = (*ENGINE, "graph/engine/trimming", "graph/building/incoming", *ROWS)
COLOURS = (*ENGINE, "graph/engine/colours")
