"""Arguments of kernel launches: arrays, numbers that only the device knows, and packed structs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class ArrayArgument(Protocol):
    """An array in a device's memory, as launches use it (`DeviceArray`)."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an element."""

    @property
    def pointer(self) -> int:
        """The address of the first element."""

    def download(self) -> NDArray[Any]:
        """Returns the content; waits for the work launched before."""


@dataclass(frozen=True)
class DeviceCount:
    """A number in a device's memory, written by kernels, on which kernels launched later can depend.

    Attributes:
        place: (1,) int32; bound: an upper bound of the number that the host knows.
    """

    place: ArrayArgument
    bound: int

    def read(self) -> int:
        """Returns the number; waits for the work launched before."""
        return int(self.place.download()[0])


Number: TypeAlias = int | DeviceCount


def bound_of(number: Number) -> int:
    """Returns an upper bound of a number."""
    return number.bound if isinstance(number, DeviceCount) else number


@dataclass(frozen=True)
class Packed:
    """The argument for a KERNEL_STRUCT parameter: its type, and the values of its fields (`pack`)."""

    type: str
    values: tuple[int | float, ...]


Argument: TypeAlias = ArrayArgument | DeviceCount | Packed | float | None
