"""The arrays of meshes and graphs: what code below `Mesh` and `Pslg` reads of them, and checks of their shapes.

`Mesh` offers edges, areas, pictures and conversions as attributes and methods. The modules that compute these take any
object with the arrays that they need, a `MeshArrays`, so that they need not import `Mesh`.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmr.common.available import require_memory
from dmr.common.number_arrays import given_array, real_array
from dmr.errors import InvalidMeshError
from dmr.mesh.names import Names

Float = NDArray[np.float64]
Int = NDArray[np.int32]

_FLOAT64, _INT32 = np.dtype(np.float64), np.dtype(np.int32)


class OutlineArrays(Protocol):
    """The arrays that meshes and graphs share; shapes and meanings are those of `Pslg`."""

    @property
    def vertices(self) -> Float:
        """(n, 2) float64."""

    @property
    def segments(self) -> Int:
        """(s, 2) int32 vertex indices."""

    @property
    def segment_markers(self) -> Int | None:
        """(s,) int32; None only before a mesh is checked."""

    @property
    def names(self) -> Names:
        """The names of regions and markers."""


class MeshArrays(OutlineArrays, Protocol):
    """The further arrays of meshes; shapes and meanings are those of `Mesh`."""

    @property
    def triangles(self) -> Int:
        """(m, 3) int32 vertex indices, counter-clockwise."""

    @property
    def triangle_attributes(self) -> Float | None:
        """(m, c) float64, column 0 the region; None only before a mesh is checked."""

    @property
    def neighbours(self) -> Int:
        """(m, 3) int32: the triangle across from each corner, -1 outside."""

    @property
    def boundary(self) -> Int:
        """(b, 2) int32: the edges of one triangle only, with the mesh on their left."""


class GraphArrays(OutlineArrays, Protocol):
    """The further arrays of graphs; shapes and meanings are those of `Pslg`."""

    @property
    def holes(self) -> Float:
        """(h, 2) float64, one point inside each hole."""

    @property
    def regions(self) -> Float:
        """(r, 4) float64: x, y, attribute, area bound."""


def real_table(values: ArrayLike, shape: tuple[int | None, ...], name: str) -> Float:
    """Converts real numbers to a contiguous float64 array of a shape, in which None stands for any length.

    Raises:
        InvalidMeshError: the values do not fit; the message uses `name`.
    """
    if _is_table(values, _FLOAT64, shape):
        return cast("Float", values)
    try:
        array = real_array(values)
    except ValueError as error:
        raise InvalidMeshError(f"{name} must be a table of real numbers ({error})") from None
    array = _emptied(array, shape)
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        raise InvalidMeshError(f"{name} must have shape {_shape_text(shape)}, not {array.shape}")
    if not array.flags.c_contiguous:
        require_memory(8 * array.size, f"a copy of {name}")
    return np.ascontiguousarray(array)


def whole_table(values: ArrayLike, shape: tuple[int | None, ...], name: str) -> Int:
    """Converts whole numbers to a contiguous int32 array of a shape, in which None stands for any length.

    Raises:
        InvalidMeshError: the values do not fit, or exceed 32 bits; the message uses `name`.
    """
    if _is_table(values, _INT32, shape):
        return cast("Int", values)
    try:
        array = given_array(values)
    except ValueError as error:
        raise InvalidMeshError(f"{name} must be a table of whole numbers ({error})") from None
    if array.size == 0:
        array = _emptied(array, shape).astype(np.int32)
    if array.dtype.kind not in "iu":
        kind = "text" if array.dtype.kind in "SU" else array.dtype
        raise InvalidMeshError(f"{name} must hold whole numbers, not {kind}")
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        raise InvalidMeshError(f"{name} must have shape {_shape_text(shape)}, not {array.shape}")
    if array.dtype != np.int32 or not array.flags.c_contiguous:
        require_memory(4 * array.size, f"a copy of {name}")
    if array.dtype != np.int32 and array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
        raise InvalidMeshError(f"{name} does not fit in 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)


def _is_table(values: ArrayLike, dtype: np.dtype[Any], shape: tuple[int | None, ...]) -> bool:
    """Whether values are a contiguous array of a dtype and a shape already."""
    if type(values) is not np.ndarray or values.dtype is not dtype or not values.flags.c_contiguous:
        return False
    found = values.shape
    return len(found) == len(shape) and all(n is None or n == m for n, m in zip(shape, found, strict=True))


def _emptied(array: NDArray[Any], shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Returns the array; if it is empty, in the wanted shape, provided that shape can be empty."""
    wanted = [0 if n is None else n for n in shape]
    return array.reshape(wanted) if array.size == 0 and 0 in wanted else array


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"


def check_table(array: Int, limit: int, element: str) -> None:
    """Checks a table of vertex indices.

    Raises:
        InvalidMeshError: an index is negative, or not below `limit`; names the row as an `element`.
    """
    if array.size == 0 or (array.min() >= 0 and array.max() < limit):
        return
    index = int(np.flatnonzero(((array < 0) | (array >= limit)).any(axis=1))[0])
    row = array[index]
    bad = int(row[(row < 0) | (row >= limit)][0])
    from_one = "; they are counted from 0, not from 1" if array.min() == 1 and array.max() == limit else ""
    raise InvalidMeshError(f"names vertex {bad}, but there are {limit} vertices{from_one}", element, index)
