"""Checks of arguments: numbers, words, switches, sequences, keywords; and formatting of values in error messages.

Does not import numpy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from dmr.common.errors import OptionError, WrongTypeError
from dmr.common.text import nearest, option

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LONGEST = 60  # characters of a value in a message
_LONGEST_NUMBER = 256  # bits


class TooLargeError(ValueError):
    """A number is beyond the range of float64."""


def real(value: Any) -> float:
    """Converts a real number to a float.

    Raises:
        ValueError: `value` is not a real number; a TooLargeError if it is beyond the range of float64.
    """
    if isinstance(value, str | bytes | bytearray) or type(value).__name__ == "MaskedConstant":
        raise ValueError(f"not {shortened(value)}")
    try:
        return float(value)
    except OverflowError:
        raise TooLargeError(f"{shortened(value)} is too large") from None
    except Exception:  # including one from a foreign object's __float__
        raise ValueError(f"not {shortened(value)}") from None


def whole(value: Any) -> int:
    """Converts a whole number to an int.

    Raises:
        ValueError: `value` is not a whole number.
    """
    try:
        return operator.index(value)
    except Exception:  # including one from a foreign object's __index__
        raise ValueError(f"not {shortened(value)}") from None


def real_option(name: str, value: Any) -> float:
    """Checks an option that is a real number.

    Raises:
        WrongTypeError: `value` is not a real number, but a string or an array, for example; names the option.
        OptionError: it is beyond the range of float64.
    """
    try:
        if getattr(value, "shape", ()) != ():
            raise ValueError
        return real(value)
    except TooLargeError as error:
        raise OptionError(f"{option(name)} must be a number: {error}") from None
    except ValueError:
        raise WrongTypeError(f"{option(name)} must be a number, not {shortened(value)}") from None


def whole_option(name: str, value: Any, kind: str = "a whole number") -> int:
    """Checks an option that is a whole number; messages call what is required `kind`.

    Raises:
        WrongTypeError: `value` is not a whole number; names the option.
    """
    try:
        return whole(value)
    except ValueError:
        raise WrongTypeError(f"{option(name)} must be {kind}, not {shortened(value)}") from None


def chosen(name: str, value: Any, known: Iterable[str]) -> str:
    """Checks an option that is one of several words.

    Raises:
        OptionError: `value` is not among the known words, a WrongTypeError if it is not a string; names the option.
    """
    if isinstance(value, str) and value in (words := tuple(known)):
        return words[words.index(value)]
    error = OptionError if isinstance(value, str) else WrongTypeError
    raise error(f"{option(name)} must be one of {', '.join(known)}, not {shortened(value)}")


def one_of(name: str, value: Any, known: tuple[int, int]) -> int:
    """Checks an option that is one of two whole numbers.

    Raises:
        OptionError: `value` is neither; names the option.
    """
    number = value if isinstance(value, int) else None
    if number not in known:
        raise OptionError(f"{option(name)} must be {known[0]} or {known[1]}, not {shortened(value)}")
    return int(number)


def listed(name: str, values: Any) -> list[Any]:
    """Lists the elements of a sequence.

    Raises:
        WrongTypeError: `values` is not a sequence; names the argument.
    """
    if isinstance(values, str | bytes | bytearray | Mapping):
        raise WrongTypeError(f"{option(name)} must be a sequence, not {shortened(values)}")
    try:
        return list(values)
    except (TypeError, ValueError, OverflowError):  # the last one for impossible lengths
        raise WrongTypeError(f"{option(name)} must be a sequence, not {shortened(values)}") from None


def words(name: str, values: Any) -> frozenset[str]:
    """Checks a collection of words; a single word counts as a collection of one.

    Raises:
        WrongTypeError: `values` is not a collection of words; names the argument.
    """
    found = [values] if isinstance(values, str) else listed(name, values)
    if not all(isinstance(each, str) for each in found):
        raise WrongTypeError(f"{option(name)} must be a collection of words, not {shortened(values)}")
    return frozenset(found)


def as_path(path: Any, name: str = "path") -> Path:
    """Converts a file name to a path; messages call it `name`.

    Raises:
        WrongTypeError: it is not the name of a file.
    """
    try:
        return Path(path)
    except Exception:  # bytes, or one from a foreign object's __fspath__
        raise WrongTypeError(f"{option(name)} must be the name of a file, not {kind_of(path)}") from None


def switch(name: str, value: Any) -> bool:
    """Checks an option that is on or off.

    Raises:
        WrongTypeError: `value` is neither true nor false, such as an array; names the option.
    """
    if value is True or value is False:
        return value
    try:
        # operator.index refuses numpy's truth values
        plain = value.item() if type(value).__name__ in ("bool", "bool_") and hasattr(value, "item") else value
        return bool(operator.index(plain))
    except Exception:  # including one from a foreign object's __index__
        raise WrongTypeError(f"{option(name)} must be True or False, not {shortened(value)}") from None


def shortened(value: Any) -> str:
    """Formats a value for a message: its representation on one line, truncated if it is long.

    Python refuses to write out integers of thousands of digits, and the `repr` of a foreign object may fail: such
    values are described. Control characters in strings are escaped.
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number of about {int(value.bit_length() * 0.30103) + 1} digits"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # it contains such a number, or is a foreign object
        return kind_of(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def kind_of(value: object) -> str:
    """Formats the type of a value with its article: "a str", "an array", "None"."""
    if value is None:
        return "None"
    noun = {"ndarray": "array"}.get(type(value).__name__, type(value).__name__)
    return f"{'an' if noun[:1] in tuple('aeiouAEIOU') else 'a'} {noun}"


def checks_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Makes a function refuse unknown keyword arguments, and options without their names, by a `WrongTypeError`.

    This is also a TypeError.

    Its signature, docstring and name stay visible.
    """
    plain: Any = function
    name, code = plain.__name__, plain.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    are_known = frozenset(known).issuperset
    takes = code.co_argcount

    @wraps(function)
    def checked(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        if len(args) > takes and len(known) > takes:
            raise WrongTypeError(
                f"{name} takes its options by name, such as {known[takes]}=...: {shortened(args[takes])} has none"
            )
        if not are_known(kwargs):
            unknown = next(each for each in kwargs if each not in known)
            near = nearest(unknown, known)
            hint = f"did you mean {near}?" if near else f"help({name}) lists its options"
            raise WrongTypeError(f"{name} has no option {unknown}: {hint}")
        return function(*args, **kwargs)

    return checked
