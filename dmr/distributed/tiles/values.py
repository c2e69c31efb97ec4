"""Values of a few elements of arrays on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray
from dmr.mesh.types import Float, Int


def values_at(values: DeviceArray, places: NDArray[Any]) -> Int:
    """Returns int32 values at some places, in the shape of these."""
    device = values.device
    found = device.empty(places.size, np.uint32)
    listed = device.array(np.ascontiguousarray(places, np.int32).reshape(-1))
    device.launch("gather_uint32", places.size, values.view(np.uint32), listed, found)
    return found.detach().view(np.int32).reshape(places.shape)


def set_values(array: DeviceArray, places: NDArray[Any], values: Int | Float) -> None:
    """Stores int32 or float64 values at some places, no two at the same one."""
    device, listed = array.device, array.device.array(np.ascontiguousarray(places, np.int32))
    if array.dtype == np.float64:
        device.launch("scatter_float64", listed.size, device.array(values, np.float64), listed, array)
    else:
        given = device.array(np.ascontiguousarray(values, np.int32), np.uint32)
        device.launch("scatter_uint32", listed.size, given, listed, array.view(np.uint32))
