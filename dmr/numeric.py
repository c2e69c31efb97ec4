"""Single numbers, choices and switches from what a user gives, whatever it is. Light: nothing here imports numpy."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from dmr.errors import KindError, OptionError

_LONGEST = 60
_LONGEST_NUMBER = 256  # bits


def real(value: Any) -> float:
    """One real number.

    Raises:
        ValueError: it is none, or beyond the range of float64.
    """
    if isinstance(value, str | bytes | bytearray) or type(value).__name__ == "MaskedConstant":
        raise ValueError(f"not {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{shortened(value)} is too large") from None
    except (TypeError, ValueError):
        raise ValueError(f"not {shortened(value)}") from None


def whole(value: Any) -> int:
    """One whole number.

    Raises:
        ValueError: it is none.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"not {shortened(value)}") from None


def real_option(name: str, value: Any) -> float:
    """A real number that an option is.

    Raises:
        OptionError: it is none, or beyond the range of float64; names the option.
    """
    try:
        return real(value)
    except ValueError as error:
        raise OptionError(f"{name} must be a number: {error}") from None


def whole_option(name: str, value: Any) -> int:
    """A whole number that an option is.

    Raises:
        OptionError: it is none; names the option.
    """
    try:
        return whole(value)
    except ValueError as error:
        raise OptionError(f"{name} must be a whole number: {error}") from None


def chosen(name: str, value: Any, known: Iterable[str]) -> str:
    """One of several words that an option can be.

    Raises:
        OptionError: it is none of them; names the option.
    """
    if isinstance(value, str) and value in (words := tuple(known)):
        return words[words.index(value)]
    raise OptionError(f"{name} must be one of {', '.join(known)}, not {shortened(value)}")


def one_of(name: str, value: Any, known: tuple[int, int]) -> int:
    """One of two whole numbers that an option can be.

    Raises:
        OptionError: it is neither; names the option.
    """
    number = value if isinstance(value, int) else None
    if number not in known:
        raise OptionError(f"{name} must be {known[0]} or {known[1]}, not {shortened(value)}")
    return int(number)


def listed(name: str, values: Any) -> list[Any]:
    """The elements of a sequence.

    Raises:
        KindError: it is none; names the argument.
    """
    if isinstance(values, str | bytes | bytearray | Mapping):
        raise KindError(f"{name} must be a sequence, not {shortened(values)}")
    try:
        return list(values)
    except (TypeError, ValueError, OverflowError):  # the latter for lengths that cannot be
        raise KindError(f"{name} must be a sequence, not {shortened(values)}") from None


def words(name: str, values: Any) -> frozenset[str]:
    """The words in a collection; one alone may stand for itself.

    Raises:
        KindError: it is none, or holds something else; names the argument.
    """
    found = [values] if isinstance(values, str) else listed(name, values)
    if not all(isinstance(each, str) for each in found):
        raise KindError(f"{name} must be a collection of words, not {shortened(values)}")
    return frozenset(found)


def switch(name: str, value: Any) -> bool:
    """An option that is on or off.

    Raises:
        OptionError: something that is neither true nor false, such as an array; names the option.
    """
    try:
        # numpy's truth values are no whole numbers
        plain = value.item() if type(value).__name__ in ("bool", "bool_") and hasattr(value, "item") else value
        return bool(operator.index(plain))
    except TypeError:
        raise OptionError(f"{name} must be True or False, not {shortened(value)}") from None


def shortened(value: Any) -> str:
    """A value in a sentence: as Python writes it, or where that is long, its beginning."""
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:  # of very long ones Python makes no text
        return f"a number of about {int(value.bit_length() * 0.30103) + 1} digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # it holds such a number, or is a foreign object that fails
        return f"this {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
