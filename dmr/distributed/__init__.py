"""Meshes larger than a device: tiles, refined as tasks of processes, Dask or MPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.distributed.output.part import Part
    from dmr.distributed.output.partition import partition
    from dmr.distributed.output.parts import Parts
    from dmr.distributed.output.pvtu import write_pvtu
    from dmr.distributed.output.vtkhdf import write_vtkhdf
    from dmr.distributed.pipeline import refine
    from dmr.distributed.validation.checker import validate

__all__ = ["Part", "Parts", "partition", "refine", "validate", "write_pvtu", "write_vtkhdf"]
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Part": "dmr.distributed.output.part",
        "Parts": "dmr.distributed.output.parts",
        "partition": "dmr.distributed.output.partition",
        "refine": "dmr.distributed.pipeline",
        "validate": "dmr.distributed.validation.checker",
        "write_pvtu": "dmr.distributed.output.pvtu",
        "write_vtkhdf": "dmr.distributed.output.vtkhdf",
    },
)
