"""Quantities of triangles that pictures show."""

from __future__ import annotations

import numpy as np

from dmr.errors import OptionError
from dmr.mesh.statistics import min_angles, triangle_areas
from dmr.mesh.types import Float, Mesh

QUANTITIES = ("min_angle", "area", "region")


def measured(mesh: Mesh, quantity: str) -> Float:
    """(m,) float64: one of `QUANTITIES` for each triangle.

    Raises:
        OptionError: the quantity is "region", and the mesh has no triangle attributes.
    """
    if quantity == "min_angle":
        return min_angles(mesh)
    if quantity == "area":
        return np.abs(triangle_areas(mesh))
    attributes = mesh.triangle_attributes
    if attributes is None or not attributes.shape[1]:
        raise OptionError("the colour 'region' needs a mesh with a region attribute for each triangle")
    return attributes[:, 0].copy()
