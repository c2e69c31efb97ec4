"""Attributes that are computed on first access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_Value = TypeVar("_Value")


class cached_property(Generic[_Value]):
    """A method whose result becomes an attribute.

    functools.cached_property holds a lock for the whole class during the computation, until Python 3.12: threads wait
    for those that compute the attribute of other objects, and a child of `fork` waits forever if another thread held
    the lock. Here threads that access the attribute at the same time may each compute a value; all get the first one.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, item: None, owner: type | None = None) -> cached_property[_Value]: ...

    @overload
    def __get__(self, item: object, owner: type | None = None) -> _Value: ...

    def __get__(self, item: object | None, owner: type | None = None) -> cached_property[_Value] | _Value:
        if item is None:
            return self
        return set_once(item, self._name, self._compute(item))


def set_once(item: object, name: str, value: _Value) -> _Value:
    """Sets an attribute unless it is set, also of a frozen object, and returns its value.

    This is the only place that writes to the dictionary of an object that other threads may have: `setdefault` is
    atomic, and a test followed by `object.__setattr__` is not.
    """
    found: _Value = vars(item).setdefault(name, value)
    return found
