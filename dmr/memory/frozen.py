"""Read-only arrays whose flag cannot be reset, and objects that hold them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Held = TypeVar("_Held", bound="HoldsFrozen")


class _ReadOnly:
    """The data of an array for numpy to read.

    A memoryview would do, but its public attribute `obj` is the array that can be written.
    """

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array  # keeps the memory alive
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "data": (array.__array_interface__["data"][0], True),
        }


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only array over the same data, whose flag cannot be reset.

    numpy lets the flag of a view be set again where the array below is writable. This array views an object that is
    read-only, instead of another array. The caller's own array stays as it is.

    Args:
        array: numbers, truth values, or records of them, with any strides.
    """
    if is_frozen(array):
        return array
    plain = np.asarray(array)
    return np.asarray(_ReadOnly(plain)).view(plain.dtype)


def is_frozen(array: Any) -> bool:
    """Whether an array is read-only, and cannot be set writable."""
    if type(array) is not np.ndarray or array.flags.writeable:
        return False
    below: object = array.base
    while isinstance(below, np.ndarray):  # views of an array over read-only data are as read-only as it is
        below = below.base
    return isinstance(below, bytes | _ReadOnly)


class HoldsFrozen:
    """Base of objects whose arrays stay read-only, in copies and after pickling too.

    A shallow copy shares the arrays; a deep copy copies them.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), dict(self.__dict__))

    def __deepcopy__(self: _Held, memo: dict[int, Any]) -> _Held:
        state = {name: _own(value, memo) for name, value in self.__dict__.items()}
        memo[id(self)] = made = _restored(type(self), state)
        return made


def freeze(item: object, arrays: Mapping[str, NDArray[Any] | None]) -> None:
    """Sets attributes of a frozen dataclass: read-only arrays, or None."""
    for name, array in arrays.items():
        object.__setattr__(item, name, None if array is None else frozen(array))


def freeze_fields(item: object) -> None:
    """Makes every array among an object's attributes read-only; mappings of arrays become ones of read-only arrays."""
    for name, value in vars(item).items():
        object.__setattr__(item, name, _read_only(value))


def _read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen(value)
    if type(value) is dict:
        return {key: _read_only(each) for key, each in value.items()}
    return value


def _own(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy; arrays keep their memory order."""
    return value.copy(order="K") if isinstance(value, np.ndarray) else copy.deepcopy(value, memo)


def _restored(kind: type[_Held], state: Mapping[str, Any]) -> _Held:
    """An object with these attributes, which its original has checked."""
    made = kind.__new__(kind)
    made.__dict__.update({name: _read_only(value) for name, value in state.items()})
    return made
