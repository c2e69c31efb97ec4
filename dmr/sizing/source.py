"""Sizes as a function of the place, evaluated at many points at once by kernels on a device.

    sizes = source.on(device)
    sizes.evaluate(points, count, found)        # launches only: a recorded sequence may contain it

Every source is built from steps that lower the sizes found so far (`cuda_src/sizing/sizes.cu`), so that the smallest of
several sources needs no other code. Only +, -, *, / and square roots are used, for each point separately and in a fixed
order: the results have the same bits on every device.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.number_arrays import real_array
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, Number, open_device, record
from dmr.mesh.types import Float

# Lowers the sizes at the first `count` of the points: (points, count, sizes).
Step: TypeAlias = Callable[[DeviceArray, Number, DeviceArray], None]


@dataclass(frozen=True)
class DeviceSizes:
    """A source of sizes with its data on a device.

    Attributes:
        device: where the data are; steps: lower sizes to those of the source, one after the other.
    """

    device: Device
    steps: tuple[Step, ...]

    def evaluate(self, points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
        """Evaluates the source; if it is `by_kernels`, without a transfer, an allocation or a wait.

        Args:
            points: records of the type Point.
            count: how many of them; a function on the host needs a number that the host knows.
            sizes: float64, receives the size at each point: above 0, infinity for no bound.
        """
        self.device.launch("fill_sizes", count, math.inf, sizes)
        for step in self.steps:
            step(points, count, sizes)


class SizeSource(ABC):
    """Sizes in the plane: lengths above 0, or infinity where there is no bound.

    Attributes:
        number: the size, if it is the same everywhere.
        by_kernels: whether kernels evaluate it. If not, the host does: the points are downloaded, and what a function
            returns for all of them is uploaded.
    """

    number: float | None = None
    by_kernels = True

    @abstractmethod
    def on(self, device: Device) -> DeviceSizes:
        """Uploads the data that the evaluation needs."""

    def __call__(self, points: ArrayLike) -> Float:
        """The size at each point, (n,) float64, evaluated by the kernels on all cores of the CPU.

        Args:
            points: (n, 2).

        Raises:
            OptionError: the shape is wrong, or a coordinate is not finite.
        """
        places = numbers(points, "points")
        if places.ndim != 2 or places.shape[1] != 2:
            raise OptionError(f"points must have shape (n, 2), not {places.shape}")
        wrong = np.flatnonzero(~np.isfinite(places).all(axis=1))
        if wrong.size:
            raise OptionError(f"point {wrong[0]}: coordinates {place_text(places[wrong[0]])} are not finite")
        device = open_device("cpu")
        found = device.empty(len(places), np.float64)
        self.on(device).evaluate(device.array(places, record("Point")), len(places), found)
        return found.detach()


def numbers(values: ArrayLike, name: str) -> Float:
    """Converts real numbers of any type to float64.

    Raises:
        OptionError: they are of another type.
    """
    try:
        array = real_array(values, "iuf", none=None)
        return np.ascontiguousarray(array).reshape(array.shape)
    except ValueError as error:
        raise OptionError(f"{name} must be real numbers ({error})") from None


def place_text(point: Float) -> str:
    """Returns the coordinates of a point, for messages."""
    return f"({point[0]:.17g}, {point[1]:.17g})"
