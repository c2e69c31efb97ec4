"""Conversion of arguments to arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.memory.host.available import require_memory
from dmr.numeric import real, shortened


def given_array(values: ArrayLike) -> NDArray[Any]:
    """Values as a plain array.

    Raises:
        ValueError: rows of different lengths, or an array whose masked elements would count.
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError("some are masked")
    try:
        return np.asarray(values)
    except (TypeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None


def real_array(values: ArrayLike, kinds: str = "biuf", *, none: float | None = np.nan) -> NDArray[np.float64]:
    """Real numbers of any type as float64; the array that is given, if it is one already.

    Args:
        values: an array, or a sequence; also of Python objects.
        kinds: numpy's letters for the kinds of numbers that are taken.
        none: what stands for None in an array of objects, as in tables with gaps; None refuses it.

    Raises:
        ValueError: something that is no real number, or beyond the range of float64.
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
    with np.errstate(over="ignore"):  # long doubles may be beyond the range: infinite
        return array.astype(np.float64, copy=False)


def _kind_of(array: NDArray[Any]) -> str:
    """What an array holds, in a sentence."""
    if array.ndim == 0:
        return shortened(array[()])
    return {"c": "complex numbers", "U": "text", "S": "text"}.get(array.dtype.kind, str(array.dtype))
