"""Numbers and arrays of numbers from what a user gives, whatever it is."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LONGEST = 40


def given_array(values: ArrayLike) -> NDArray[Any]:
    """Values as a plain array.

    Raises:
        ValueError: rows of different lengths, or an array whose masked elements would count.
    """
    if np.ma.is_masked(values):
        raise ValueError("some are masked")
    try:
        return np.asarray(values)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def real_array(values: ArrayLike, kinds: str = "biuf") -> NDArray[np.float64]:
    """Real numbers of any type as float64; the array that is given, if it is one already.

    Args:
        values: an array, or what makes one; of Python's objects, too.
        kinds: numpy's letters for the kinds of numbers that are taken.

    Raises:
        ValueError: something that is no real number, or beyond the range of float64.
    """
    array = given_array(values)
    if array.dtype.kind == "O":  # numpy would make a NaN of None
        return np.array([real(value) for value in array.flat], np.float64).reshape(array.shape)
    if array.dtype.kind not in kinds:
        raise ValueError(f"not {array.dtype}")
    with np.errstate(over="ignore"):  # long doubles may be beyond the range: infinite
        return array.astype(np.float64, copy=False)


def real(value: Any) -> float:
    """One real number.

    Raises:
        ValueError: it is none, or beyond the range of float64.
    """
    if isinstance(value, str | bytes | bytearray):
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


def shortened(value: Any) -> str:
    """A value in a sentence: as Python writes it, or where that is long, its beginning."""
    if isinstance(value, int) and value.bit_length() > 256:  # of very long ones Python makes no text
        return f"a number of about {int(value.bit_length() * 0.30103) + 1} digits"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
