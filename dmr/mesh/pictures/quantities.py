"""Quantities of triangles that pictures show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.errors import OptionError
from dmr.mesh.arrays import Float, MeshArrays
from dmr.mesh.shapes import min_angles, triangle_areas

QUANTITIES = ("min_angle", "area", "region")

LARGEST_MIN_ANGLE = 60.0  # degrees, of an equilateral triangle

# Colours of smallest angles in degrees: good triangles are pale, those below the default bound, 30, stand out, and
# worse ones are darker, also in greyscale and for colour-blind readers.
_QUALITY: dict[float, tuple[int, int, int]] = {
    0: (110, 16, 40), 10: (176, 36, 48), 20: (229, 106, 60), 29.9: (247, 190, 120), 30: (232, 234, 230),
    33: (226, 234, 237), 45: (208, 225, 236), 60: (178, 206, 226),
}  # fmt: skip


# Nine pale colours, distinguishable also for colour-blind readers and under dark edges (Paul Tol's "light" set).
REGION_COLOURS = np.array(
    [
        (119, 170, 221), (238, 136, 102), (238, 221, 136), (68, 187, 153), (255, 170, 187),
        (187, 204, 51), (153, 221, 255), (170, 170, 0), (221, 221, 221),
    ],
    np.uint8,
)  # fmt: skip


def quality_colours() -> NDArray[np.uint8]:
    """(256, 3): the colours of smallest angles from 0 to 60 degrees."""
    degrees = np.linspace(0.0, LARGEST_MIN_ANGLE, 256)
    channels = np.array(list(_QUALITY.values()), float).T
    colours = np.stack([np.interp(degrees, list(_QUALITY), each) for each in channels], axis=1)
    return np.asarray(np.rint(colours), np.uint8)


def measured(mesh: MeshArrays, quantity: str) -> Float:
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
