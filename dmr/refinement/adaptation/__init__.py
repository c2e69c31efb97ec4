"""Adaptive meshes: the outline of a mesh, and a new mesh of it with other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.refinement.adaptation.adapting import adapt
    from dmr.refinement.adaptation.outlines import outline

__all__ = ["adapt", "outline"]
__getattr__, __dir__ = lazy_names(
    __name__, {"adapt": "dmr.refinement.adaptation.adapting", "outline": "dmr.refinement.adaptation.outlines"}
)
