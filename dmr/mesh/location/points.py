"""Checks of points that are to be located."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.number_arrays import real_array
from dmr.errors import OptionError
from dmr.mesh.types import Float


def checked_points(points: ArrayLike) -> Float:
    """Converts points to (n, 2) float64. Whether they are finite is checked on the device.

    Raises:
        OptionError: they have another shape, or are not real numbers.
    """
    try:
        places = real_array(points, "iuf", none=None)
    except ValueError as error:
        raise OptionError(f"points must be real numbers ({error})") from None
    if places.size == 0 and places.ndim < 2:
        places = places.reshape(0, 2)
    if places.ndim != 2 or places.shape[1] != 2:
        raise OptionError(f"points must have shape (n, 2), not {places.shape}")
    return np.ascontiguousarray(places)


def not_finite(points: Float, index: int) -> OptionError:
    """Returns the error for a point with a coordinate that is infinite or not a number."""
    x, y = points[index]
    return OptionError(f"point {index}: coordinates ({x:.17g}, {y:.17g}) are not finite")
