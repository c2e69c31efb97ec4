"""Read-only arrays whose flag cannot be reset, and objects that hold them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.common.native import address_of

# Native libraries read the coordinates of a point as a record of 16 bytes. numpy's own memory begins at multiples of
# that; the buffers of a pickle may begin at any byte.
ALIGNMENT = 16

_Held = TypeVar("_Held", bound="HoldsFrozen")


class _ReadOnly:
    """Exposes the data of an array to numpy as read-only.

    A memoryview does not suffice, because its public attribute `obj` is the writable array.
    """

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array  # keeps the memory alive
        interface = array.__array_interface__
        self.__array_interface__ = {
            "version": 3,
            "shape": interface["shape"],
            "strides": interface["strides"],
            "typestr": interface["typestr"],
            "data": (interface["data"][0], True),
        }


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Returns a read-only array over the same data, whose flag cannot be reset.

    numpy allows the flag of a view to be reset if the underlying array is writable. This array views a read-only object
    instead of another array. The caller's own array is unchanged.

    Args:
        array: numbers, truth values, or records of them, with any strides.
    """
    if is_frozen(array):
        return array
    plain = np.asarray(array)
    if not plain.size:  # no data to share
        return np.ndarray(plain.shape, plain.dtype, b"")
    return np.asarray(_ReadOnly(plain)).view(plain.dtype)


def is_frozen(array: Any) -> bool:
    """Whether an array is read-only, and cannot be set writable."""
    if type(array) is not np.ndarray or array.flags.writeable:
        return False
    below: object = array.base
    while isinstance(below, np.ndarray):  # views of an array over read-only data are read-only, too
        below = below.base
    return isinstance(below, bytes | _ReadOnly)


class HoldsFrozen:
    """Base of objects whose arrays stay read-only, also in copies and after pickling.

    A shallow copy shares the arrays; a deep copy copies them.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), dict(vars(self)))

    def __deepcopy__(self: _Held, memo: dict[int, Any]) -> _Held:
        state = {name: _own(value, memo) for name, value in vars(self).items()}
        memo[id(self)] = made = _restored(type(self), state)
        return made


def freeze(item: object, arrays: Mapping[str, NDArray[Any] | None]) -> None:
    """Sets attributes of a frozen dataclass: read-only arrays, or None."""
    for name, array in arrays.items():
        object.__setattr__(item, name, None if array is None else frozen(array))


def freeze_fields(item: object) -> None:
    """Makes all arrays among an object's attributes read-only, including those in dictionaries."""
    for name, value in vars(item).items():
        if isinstance(value, np.ndarray | dict):
            object.__setattr__(item, name, _read_only(value))


def _read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return frozen(value if address_of(value) % ALIGNMENT == 0 else value.copy(order="K"))
    if type(value) is dict:
        return {key: each if isinstance(each, int | float) else _read_only(each) for key, each in value.items()}
    return value


def _own(value: Any, memo: dict[int, Any]) -> Any:
    """Returns a deep copy; arrays keep their memory order."""
    return value.copy(order="K") if isinstance(value, np.ndarray) else copy.deepcopy(value, memo)


def _restored(cls: type[_Held], state: Mapping[str, Any]) -> _Held:
    """Makes an object with these attributes, which its original has already checked."""
    made = cls.__new__(cls)
    for name, value in state.items():
        object.__setattr__(made, name, _read_only(value))
    declared: tuple[Field[Any], ...] = fields(cls) if is_dataclass(cls) else ()
    for each in declared:
        if each.name not in state and each.default_factory is not MISSING:  # a pickle from before there was this field
            object.__setattr__(made, each.name, _read_only(each.default_factory()))
    return made
