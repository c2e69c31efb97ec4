"""Arrays of numbers: converted from arguments, without repetitions, and summed."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.arguments import real, shortened
from dmr.common.available import require_memory

N = TypeVar("N", bound=np.number[Any])


def distinct(*numbers: NDArray[N]) -> NDArray[N]:
    """Returns the different numbers of some arrays, ascending.

    `numpy.unique` (2.4) uses a hash table for whole numbers, which takes thirty times as long as sorting them.
    """
    every = np.sort(np.concatenate([each.reshape(-1) for each in numbers]))
    return every[_begins_run(every)]


def first_of_each(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Returns the different numbers of an array, ascending, and the place of the first of each in the flat array.

    Pairs of a number and a place are sorted; `numpy.unique` sorts the places by their numbers, ten times as long.

    Args:
        numbers: not negative; fewer than 2^32.
    """
    pairs = np.sort(numbers.reshape(-1).astype(np.int64) << 32 | np.arange(numbers.size))
    found = pairs >> 32
    is_first = _begins_run(found)
    return found[is_first].astype(np.int32), pairs[is_first] & 0xFFFFFFFF


def _begins_run(ascending: NDArray[N]) -> NDArray[np.bool_]:
    """Returns which numbers of a sorted array differ from the one before."""
    begins = np.ones(len(ascending), np.bool_)
    begins[1:] = ascending[1:] != ascending[:-1]
    return begins


def sum_in_order(numbers: NDArray[np.float64]) -> float:
    """Returns the sum of float64 numbers, added one after another.

    The bits are the same everywhere. The order in which `numpy.sum` adds may differ between versions and processors.
    """
    return float(np.cumsum(numbers)[-1]) if len(numbers) else 0.0


def given_array(values: ArrayLike) -> NDArray[Any]:
    """Converts values to a plain array.

    Raises:
        ValueError: rows have different lengths, or elements are masked.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError("some are masked: fill them first (numpy.ma.filled)")
    try:
        return np.asarray(values)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def real_array(values: ArrayLike, kinds: str = "biuf", *, none: float | None = np.nan) -> NDArray[np.float64]:
    """Converts real numbers of any type to float64; returns the argument itself if it is a float64 array already.

    Args:
        values: an array or a sequence, possibly of Python objects.
        kinds: numpy's letters for the accepted kinds of numbers.
        none: the replacement for None in an array of objects, as in tables with missing values; None rejects it.

    Raises:
        ValueError: a value is not a real number, or is beyond the range of float64.
    """
    array = given_array(values)
    if array.dtype.kind == "O" and array.ndim:
        gap = none if none is None else float(none)
        numbers = [gap if value is None and gap is not None else real(value) for value in array.flat]
        return np.array(numbers, np.float64).reshape(array.shape)
    if array.dtype.kind == "O":
        return np.array(real(array[()]))
    if array.dtype.kind not in kinds:
        raise ValueError(f"not {_kind_of(array)}")
    if array.dtype != np.float64:
        require_memory(8 * array.size, f"a copy of {array.size:,} numbers")
    with np.errstate(over="ignore"):  # long doubles beyond the range become infinite
        return array.astype(np.float64, copy=False)


def _kind_of(array: NDArray[Any]) -> str:
    """Describes the content of an array, for messages."""
    if array.ndim == 0:
        return shortened(array[()])
    return {"c": "complex numbers", "U": "text", "S": "text"}.get(array.dtype.kind, str(array.dtype))
