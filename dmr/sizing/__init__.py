"""Sizing functions: local bounds on edge lengths, and their interpolation in a background mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.sizing.size_field import SizeField

__all__ = ["SizeField"]
__getattr__, __dir__ = lazy_names(__name__, {"SizeField": "dmr.sizing.size_field"})
