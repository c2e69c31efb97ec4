"""Sizing functions: local bounds on edge lengths, and their interpolation in a background mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.sizing.sampling import sampled
    from dmr.sizing.size_field import SizeField

__all__ = ["SizeField", "sampled"]
# Pickles of earlier versions name the private classes, too.
_OF_FIELDS = ("SizeField", "_OnGrid", "_OnTriangles", "_OnVertices")
__getattr__, __dir__ = lazy_names(
    __name__, {**dict.fromkeys(_OF_FIELDS, "dmr.sizing.size_field"), "sampled": "dmr.sizing.sampling"}
)
