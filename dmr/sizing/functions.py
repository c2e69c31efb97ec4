"""Sizes that are the same everywhere, and those of a user's function of lengths or areas."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import kind_of, real_option
from dmr.common.frozen import frozen
from dmr.common.text import option
from dmr.errors import OptionError
from dmr.memory import Device, DeviceArray, Number
from dmr.mesh.types import Float
from dmr.sizing.source import DeviceSizes, SizeSource, checked_gradient, numbers, place_text

Size = Callable[[Float], ArrayLike]


@dataclass(frozen=True, eq=False)
class EqualSizes(SizeSource):
    """The same size everywhere."""

    number: float

    def _upload(self, device: Device) -> DeviceSizes:
        return DeviceSizes((lambda points, count, sizes: points.device.launch("lower_to", count, self.number, sizes),))

    def limited(self, gradient: float) -> EqualSizes:
        """Implements `SizeSource.limited`: equal sizes do not grow."""
        checked_gradient(gradient)
        return self


@dataclass(frozen=True, eq=False)
class FunctionSizes(SizeSource):
    """The sizes that a function of the user returns. The host calls it, once per evaluation.

    Attributes:
        function: as for `evaluate`; name: the option that it was given for, which messages name.
        power: 1 for lengths; 2 for areas, whose square roots are the sizes.
    """

    function: Size
    name: str
    power: int = 1

    def __post_init__(self) -> None:
        _check_parameters(self.function, self.name)

    @property
    def by_kernels(self) -> bool:
        """False: the host calls the function."""
        return False

    def limited(self, gradient: float) -> SizeSource:
        """Implements `SizeSource.limited`, for no function.

        Raises:
            OptionError: only samples of it can be limited.
        """
        raise OptionError("the gradient of a function cannot be limited: limit dmr.sizing.sampled(function, domain)")

    def evaluate(self, points: Float) -> Float:
        """Calls the function for many points, and checks the result.

        Raises:
            OptionError: a value is not above 0; names the first such point.
        """
        return self.as_lengths(evaluate(self.function, points, self.name))

    def as_lengths(self, values: Float) -> Float:
        """Converts what the function returned to sizes."""
        return values if self.power == 1 else np.sqrt(values)

    def _upload(self, device: Device) -> DeviceSizes:
        def call(points: DeviceArray, count: Number, sizes: DeviceArray) -> None:
            assert isinstance(count, int)  # the host calls the function, so it knows the number
            places = points[:count].download().view(np.float64).reshape(-1, 2)
            with points.device.set_aside():
                found = self.evaluate(places)
            points.device.launch("lower_to_given", count, points.device.array(found), sizes)

        return DeviceSizes((call,))


def size_source(size: SizeSource | Size | float, name: str = "size") -> SizeSource:
    """Converts the value of the option `name`: a number is the size everywhere.

    Raises:
        OptionError: `size` is neither a source, nor a function, nor a finite number > 0.
    """
    if isinstance(size, SizeSource):
        return size
    if callable(size):
        return FunctionSizes(size, name)
    if isinstance(size, bool) or not isinstance(size, Real):
        array = isinstance(size, (list, tuple)) or getattr(size, "shape", ()) != ()
        remedy = ": dmr.SizeField(mesh, values) and .from_grid take arrays" if array else ""
        raise OptionError(
            f"{option(name)} must be a number, a function of points or a SizeField, not {kind_of(size)}{remedy}"
        )
    length = real_option(name, size)
    if not (np.isfinite(length) and length > 0):
        raise OptionError(f"{option(name)} must be a finite number above 0, not {length:g}")
    return EqualSizes(length)


def _check_parameters(function: Size, name: str) -> None:
    """Raises OptionError for a function that cannot be called with points alone, such as one of x and y."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        raise OptionError(
            f"{option(name)} must be a function of one argument, an array (n, 2) of points, that returns (n,) numbers: "
            "points[:, 0] are x, points[:, 1] are y"
        ) from None
    except ValueError:  # some functions written in C do not tell
        return


def evaluate(size: Size, points: Float, name: str = "size") -> Float:
    """Calls a function of the user for many points, and checks the result.

    Args:
        size: a function of (n, 2) float64, read-only, that returns (n,) numbers > 0 (inf for no bound), or one number
            for all points. Exceptions that it raises are not caught.
        points: (n, 2) float64. If it is empty, the function is not called.
        name: what messages call the function.

    Returns:
        (n,) float64.

    Raises:
        OptionError: `size` is not a function, or its result is invalid; the message names the first such point and its
            value.
    """
    if not callable(size):
        raise OptionError(f"{option(name)} must be a function of points or a SizeField, not {type(size).__name__}")
    if not len(points):
        return np.empty(0)
    sizes = called(size, points, name)
    wrong = np.flatnonzero(~(sizes > 0))
    if wrong.size:
        raise not_above_0(name, sizes, points, int(wrong[0]))
    return sizes


def not_above_0(name: str, values: Float, points: Float, k: int) -> OptionError:
    """Returns the error about the value of a function at point k."""
    return OptionError(f"{option(name)} is {values[k]:g} at {place_text(points[k])}: it must be above 0 everywhere")


def called(size: Size, points: Float, name: str) -> Float:
    """Returns what a function gives for points, (n,) float64; numbers of any value.

    Raises:
        OptionError: it returns something else than one number, or a number for each point.
    """
    sizes = numbers(size(frozen(points)), f"what {name} returns")
    if sizes.ndim == 0:
        sizes = np.full(len(points), sizes)
    if sizes.shape != (len(points),):
        raise OptionError(
            f"{option(name)} must return one number for each of {len(points)} points, not shape {sizes.shape}"
        )
    return sizes
