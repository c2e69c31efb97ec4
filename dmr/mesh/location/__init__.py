"""Point location in meshes, and interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.mesh.location.locator import Locator, interpolate, locate

__all__ = ["Locator", "interpolate", "locate"]
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "dmr.mesh.location.locator"))
