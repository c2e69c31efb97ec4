"""Meshes whose triangles have not been copied from a device."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from dmr.common.cached import set_once
from dmr.common.frozen import frozen
from dmr.mesh.provenance import links_of, record_triangulation
from dmr.mesh.types import Float, Int, Mesh

_OF_REGIONS = ("triangle_attributes", "area_bounds")


class DeferredMesh(Mesh):
    """A triangulation by this project whose triangles are computed when they are first accessed.

    The input of a refinement on a GPU is such a mesh: few users look at it, and nothing of it remains on the device.
    So are the attributes and area bounds of its triangles, if it has regions. Copies and pickles are plain meshes.

    Attributes:
        triangle_count: the number of triangles.
        distinct_area_bounds: (k,) the area bounds that triangles may have, 0 for none; None if there are none.
    """

    triangle_count: int
    distinct_area_bounds: Float | None
    _compute: Callable[[], Mesh]

    @classmethod
    def of(
        cls,
        triangle_count: int,
        compute: Callable[[], Mesh],
        *,
        has_regions: bool,
        distinct_area_bounds: Float | None,
        **arrays: Any,
    ) -> DeferredMesh:
        """Makes a mesh.

        Args:
            triangle_count: the number of triangles.
            compute: returns the whole mesh, by this project's triangulation.
            has_regions: whether its triangles have attributes.
            distinct_area_bounds: as the attribute.
            arrays: the fields of the mesh that do not concern triangles; they are trusted.
        """
        known = dict(vars(Mesh.sound(triangles=np.empty((0, 3), np.int32), **arrays)))
        known["triangle_attributes"] = frozen(np.empty((triangle_count, 0)))
        for name in ("triangles", *(_OF_REGIONS if has_regions else ())):
            del known[name]
        made = cls.__new__(cls)
        known |= {
            "triangle_count": triangle_count,
            "distinct_area_bounds": distinct_area_bounds,
            "_compute": compute,
        }
        for name, value in known.items():
            object.__setattr__(made, name, value)
        return made

    def __getattribute__(self, name: str) -> Any:
        # The defaults of these fields are attributes of the class, which would be found in place of those to compute.
        if name in _OF_REGIONS and name not in vars(self):
            self.__getattr__("triangles")
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Int:
        if name != "triangles":
            raise AttributeError(f"a mesh has no attribute {name!r}")
        mesh = self._compute()
        for each in _OF_REGIONS:
            set_once(self, each, getattr(mesh, each))
        triangles = set_once(self, "triangles", mesh.triangles)
        links = links_of(mesh)
        assert links is not None
        record_triangulation(self, links)
        return triangles

    def _whole(self) -> Mesh:
        return Mesh.sound(**{each.name: getattr(self, each.name) for each in fields(Mesh)})

    def __reduce__(self) -> tuple[Any, ...]:
        return self._whole().__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self._whole(), memo)


def triangle_count(mesh: Mesh) -> int:
    """Returns the number of triangles of a mesh, without computing them."""
    return mesh.triangle_count if isinstance(mesh, DeferredMesh) else len(mesh.triangles)


def has_triangles(mesh: Mesh) -> bool:
    """Whether the triangles of a mesh can be read without computing them."""
    return "triangles" in vars(mesh)


def distinct_area_bounds(mesh: Mesh) -> Float | None:
    """Returns the area bounds that triangles of a mesh have, without computing triangles; None if there are none."""
    return mesh.distinct_area_bounds if isinstance(mesh, DeferredMesh) else mesh.area_bounds


def has_area_bounds(mesh: Mesh) -> bool:
    """Whether triangles of a mesh have area bounds, without computing triangles."""
    return distinct_area_bounds(mesh) is not None
