"""Base class of results: frozen objects with read-only arrays, also in copies and pickles; checks of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import shortened, whole_option
from dmr.common.cached import set_once
from dmr.common.frozen import frozen
from dmr.memory import Device, DeviceArray
from static_graph.errors import WrongTypeError

_Result = TypeVar("_Result", bound="Result")


class Result:
    """Base of dataclasses whose constructor checks and copies its arguments.

    Attributes:
        on_device: arrays by the names of fields, if the caller has asked to keep them on the device; such a field is
            downloaded when it is first read.

    Copies and unpickled objects go through the constructor, so that they are checked, too. `found` makes an object from
    the package's own results, without checks.
    """

    on_device: ClassVar[Mapping[str, DeviceArray]] = MappingProxyType({})

    @classmethod
    def found(cls: type[_Result], **values: Any) -> _Result:
        """Makes a result of values that are known to be valid; its arrays are frozen, not copied.

        An array is frozen when it is first read, because that takes as long as the search of a small graph.
        """
        unread: dict[str, NDArray[Any]] = {}
        attributes: dict[str, Any] = {}
        for name, value in values.items():
            if type(value) is not np.ndarray:
                attributes[name] = value
            elif hasattr(cls, name):  # a class's default would hide the array
                attributes[name] = frozen(value)
            else:
                unread[name] = value
        return cls.unread(unread, attributes)

    @classmethod
    def unread(cls: type[_Result], arrays: Mapping[str, NDArray[Any]], attributes: Mapping[str, Any]) -> _Result:
        """Makes a result of fields that are known to be valid; quick.

        Args:
            arrays: fields that are frozen when they are first read, and that have no default in the class.
            attributes: the other fields; their arrays are frozen already.
        """
        result = cls.__new__(cls)
        held = vars(result)  # the dataclasses are frozen; no other code has the object yet
        held.update(attributes)
        held["_unread"] = arrays
        return result

    def __getattr__(self, name: str) -> Any:
        # Called for an attribute that is missing: an array that has not been read, or that was left on the device. It
        # is frozen or downloaded once.
        unread: Mapping[str, NDArray[Any]] = vars(self).get("_unread", {})
        if name in unread:
            return set_once(self, name, frozen(unread[name]))
        left: Mapping[str, DeviceArray] = vars(self).get("on_device", {})
        if name not in left:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return set_once(self, name, frozen(left[name].download()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def _set(self, **values: Any) -> None:
        """Sets attributes of a frozen dataclass; arrays become read-only."""
        for name, value in values.items():
            object.__setattr__(self, name, frozen(value) if isinstance(value, np.ndarray) else value)


def computed(device: Device, seconds: dict[str, float]) -> dict[str, Any]:
    """Returns the fields that all results have: the device, its CPU threads, and the seconds per phase."""
    return {"device": device.name, "threads": device.threads, "seconds": seconds}


def checked_name(name: str, value: Any) -> str:
    """Checks and returns a string.

    Raises:
        WrongTypeError: the value is not a string.
    """
    if not isinstance(value, str):
        raise WrongTypeError(f"{name} must be a string, not {shortened(value)}")
    return value


def checked_mapping(name: str, value: Any) -> dict[str, Any]:
    """Checks and copies a dictionary.

    Raises:
        WrongTypeError: the value is not a mapping.
    """
    if not isinstance(value, Mapping):
        raise WrongTypeError(f"{name} must be a dictionary, not {shortened(value)}")
    return dict(value)


def checked_count(name: str, value: Any) -> int:
    """Checks and returns a non-negative integer.

    Raises:
        WrongTypeError: the value is not a non-negative integer.
    """
    number = whole_option(name, value)
    if number < 0:
        raise WrongTypeError(f"{name} must be a non-negative whole number, not {shortened(value)}")
    return number
