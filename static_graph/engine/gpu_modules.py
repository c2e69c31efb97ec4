"""The GPU modules of the engine; the kernels of a body are in a module that its caller names."""

from __future__ import annotations

ENGINE = ("graph/engine/rounds", "primitives/device_loop", "primitives/scan")
