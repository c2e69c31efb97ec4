"""Meshes whose triangles have not been copied from a device."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from dmr.common.frozen import frozen
from dmr.mesh.provenance import links_of, record_triangulation
from dmr.mesh.types import Int, Mesh


class DeferredMesh(Mesh):
    """A triangulation by this project whose triangles are computed when they are first accessed.

    The input of a refinement on a GPU is such a mesh: few users look at it, and nothing of it remains on the device.
    Copies and pickles are plain meshes.

    Attributes:
        triangle_count: the number of triangles.
    """

    triangle_count: int
    _compute: Callable[[], Mesh]

    @classmethod
    def of(cls, triangle_count: int, compute: Callable[[], Mesh], **arrays: Any) -> DeferredMesh:
        """Makes a mesh without triangle attributes.

        Args:
            triangle_count: the number of triangles.
            compute: returns the whole mesh, by this project's triangulation.
            arrays: the fields of the mesh that do not concern triangles; they are trusted.
        """
        known = vars(Mesh.sound(triangles=np.empty((0, 3), np.int32), **arrays))
        known["triangle_attributes"] = frozen(np.empty((triangle_count, 0)))
        del known["triangles"]
        made = cls.__new__(cls)
        vars(made).update(known, triangle_count=triangle_count, _compute=compute)
        return made

    def __getattr__(self, name: str) -> Int:
        if name != "triangles":
            raise AttributeError(f"a mesh has no attribute {name!r}")
        mesh = self._compute()
        triangles: Int = vars(self).setdefault("triangles", mesh.triangles)
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
