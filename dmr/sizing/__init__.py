"""Sizing functions: local bounds on edge lengths, and their interpolation in a background mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.sizing.size_field import SizeField

__all__ = ["SizeField"]
# Pickles of earlier versions name the private classes, too.
_NAMES = ("SizeField", "_OnGrid", "_OnTriangles", "_OnVertices")
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(_NAMES, "dmr.sizing.size_field"))
