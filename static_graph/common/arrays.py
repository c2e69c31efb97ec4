"""Converts arguments to arrays; errors name the argument."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.available import require_memory
from dmr.common.number_arrays import given_array
from static_graph.errors import GraphError, OutOfMemoryError

BYTES_PER_ITEM = 8  # of the array to which numpy converts a sequence of numbers


def as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    """Converts values to an array, which may be the caller's own; messages call the values `what`.

    Raises:
        GraphError: rows of different lengths, an object that cannot be converted, or masked values.
        OutOfMemoryError: the array would not fit.
    """
    if type(values) is np.ndarray:  # nothing below that could take an exception of a signal handler for its own
        return values
    if isinstance(values, Sized) and not isinstance(values, np.ndarray):
        require_memory(BYTES_PER_ITEM * _length(values), f"an array of {what}")
    try:
        return given_array(values)
    except MemoryError:
        raise OutOfMemoryError(f"there is too little memory for an array of {what}") from None
    except Exception as error:  # including errors of a foreign object's __array__
        raise GraphError(f"{what} cannot be read as an array: {error}") from None


def as_whole(values: ArrayLike, what: str) -> NDArray[np.integer[Any]]:
    """Converts values to a one-dimensional integer array of any width; messages call them `what`.

    Raises:
        GraphError: the values are not integers in one dimension.
    """
    array = as_array(values, what)
    if array.size == 0 and array.ndim == 1 and array.dtype.kind == "f":
        array = array.astype(np.int32)  # an empty list
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise GraphError(f"{what} must be a list of whole numbers, not an array of {described(array)}")
    return array


def described(array: NDArray[Any]) -> str:
    """Formats the dtype and shape of an array for a message."""
    kind = "Python objects (or whole numbers beyond 64 bits)" if array.dtype.kind == "O" else str(array.dtype)
    return f"{kind} of shape {array.shape}"


def _length(values: Sized) -> int:
    try:
        return len(values)
    except Exception:  # a 0-d or sparse array, or an object with more items than an index can count
        return 0
