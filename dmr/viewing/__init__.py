"""Drawing of meshes, in a window or to an image file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.viewing.viewer import view

__all__ = ["view"]
__getattr__, __dir__ = lazy_names(__name__, {"view": "dmr.viewing.viewer"})
