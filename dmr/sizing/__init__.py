"""Sizes of triangles by place: fields on meshes and grids, functions, and sizes from the features of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr.common.lazy import lazy_names

if TYPE_CHECKING:
    from dmr.sizing.features import from_curvature, from_distance, from_lengths, smallest
    from dmr.sizing.sampling import sampled
    from dmr.sizing.size_field import SizeField

__all__ = ["SizeField", "from_curvature", "from_distance", "from_lengths", "sampled", "smallest"]
# Pickles of earlier versions name the private classes, too.
_OF_FIELDS = ("SizeField", "_OnGrid", "_OnTriangles", "_OnVertices")
_OF_FEATURES = ("from_curvature", "from_distance", "from_lengths", "smallest")
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(_OF_FIELDS, "dmr.sizing.size_field"),
        **dict.fromkeys(_OF_FEATURES, "dmr.sizing.features"),
        "sampled": "dmr.sizing.sampling",
    },
)
