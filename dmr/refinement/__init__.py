"""Delaunay refinement: the pipeline behind `dmr.refine`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.refinement.pipeline import choose_device, refine

__all__ = ["choose_device", "refine"]
__getattr__, __dir__ = lazy_names(
    __name__, {"refine": "dmr.refinement.pipeline", "choose_device": "dmr.refinement.pipeline"}
)
