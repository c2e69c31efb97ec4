"""Sizes as a function of position, evaluated at many points at once by kernels on a device.

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
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import real_option
from dmr.common.number_arrays import real_array
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, Number, open_device, record
from dmr.mesh.types import Float

# Lowers the sizes at the first `count` of the points: (points, count, sizes).
Step: TypeAlias = Callable[[DeviceArray, Number, DeviceArray], None]


@dataclass(frozen=True)
class Scaling:
    """A step that multiplies the sizes."""

    factor: float

    def __call__(self, points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
        """Launches the kernel; arguments are those of a step."""
        points.device.launch("scale_sizes", count, self.factor, sizes)


@dataclass(frozen=True)
class DeviceSizes:
    """A source of sizes with its data on a device.

    Attributes:
        steps: lower sizes to those of the source, one after another, on the device of the points.
    """

    steps: tuple[Step, ...]

    def evaluate(self, points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
        """Evaluates the source; if it is `by_kernels`, without a transfer, an allocation or a wait.

        Args:
            points: records of the type Point.
            count: how many of them; a function on the host needs a number that the host knows.
            sizes: float64, receives the size at each point: above 0, infinity for no bound.
        """
        points.device.launch("fill_sizes", count, math.inf, sizes)
        skipped = int(bool(self.steps) and isinstance(self.steps[0], Scaling))  # infinity stays what it is
        for step in self.steps[skipped:]:
            step(points, count, sizes)


class SizeSource(ABC):
    """Sizes in the plane: lengths above 0, or infinity where there is no bound.

    Attributes:
        number: the size, if it is the same everywhere.
    """

    number: float | None = None

    @property
    def by_kernels(self) -> bool:
        """Whether kernels evaluate it.

        If not, the host does: the points are downloaded, and what a function returns for all of them is uploaded.
        """
        return True

    def on(self, device: Device) -> DeviceSizes:
        """Returns the source with the data that the evaluation needs on a device; in main memory they are kept."""
        if not device.threads:
            return self._upload(device)
        kept = _in_main_memory.get(self)
        if kept is None:
            kept = _in_main_memory[self] = self._upload(device)
        return kept

    @abstractmethod
    def _upload(self, device: Device) -> DeviceSizes:
        """Uploads the data."""

    @abstractmethod
    def limited(self, gradient: float) -> SizeSource:
        """Sizes that are nowhere above these, and grow by at most `gradient` per unit of length.

        Raises:
            OptionError: the gradient is not a finite number >= 0, or the growth of these sizes cannot be limited.
        """

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
        return self.at(places, open_device("cpu"))

    def at(self, points: Float, device: Device) -> Float:
        """Returns the size at each point, (n,) float64, by the kernels of a device.

        Args:
            points: (n, 2), finite.
        """
        if self.number is not None:
            return np.full(len(points), self.number)
        found = device.empty(len(points), np.float64)
        self.on(device).evaluate(device.array(points, record("Point")), len(points), found)
        return found.detach()


_in_main_memory: WeakKeyDictionary[SizeSource, DeviceSizes] = WeakKeyDictionary()


def checked_gradient(gradient: float) -> float:
    """Checks the argument of `SizeSource.limited`.

    Raises:
        OptionError: it is not a finite number >= 0.
    """
    gradient = real_option("gradient", gradient)
    if not (math.isfinite(gradient) and gradient >= 0):
        raise OptionError(f"{option('gradient')} must be finite and at least 0, not {gradient:g}")
    return gradient


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
