"""A mesh in parts as dask arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dmr.distributed.output.part import Part
from dmr.errors import DmrError

if TYPE_CHECKING:
    import dask.array


@dataclass(frozen=True, eq=False)
class LazyMesh:
    """The arrays of a mesh in parts, as dask arrays with one chunk per part.

    Attributes:
        numbers: (n,) int64, the numbers of the vertices, part by part: each once, in the part that owns it.
        vertices: (n, 2) float64, their coordinates.
        triangles: (m, 3) int64, the numbers of the corners; triangles are in the order of their numbers.
        triangle_attributes: (m, c) float64.
    """

    numbers: dask.array.Array
    vertices: dask.array.Array
    triangles: dask.array.Array
    triangle_attributes: dask.array.Array


def lazy_mesh(read_part: Callable[[int], Part], sizes: Sequence[Mapping[str, int]]) -> LazyMesh:
    """Makes the arrays of parts that are read when they are computed.

    Args:
        read_part: reads the part with an index; sizes: for each part, its `own_vertices` and `triangles`.

    Raises:
        DmrError: dask is missing.
    """
    try:
        import dask.array
        from dask.delayed import delayed
    except ImportError as error:
        raise DmrError(
            f"lazy arrays need dask, the extra [distributed] of this package: pip install 'dask[array]' ({error})"
        ) from error
    columns = read_part(0).mesh.triangle_attributes
    assert columns is not None

    make: Any = dask.array  # it has no types

    def array(read: Callable[[Part], NDArray[Any]], count: str, width: tuple[int, ...], dtype: type) -> Any:
        get = delayed(partial(_read, read, read_part), pure=True)
        chunks = [make.from_delayed(get(index), (entry[count], *width), dtype) for index, entry in enumerate(sizes)]
        return make.concatenate(chunks)

    return LazyMesh(
        array(_numbers, "own_vertices", (), np.int64),
        array(_vertices, "own_vertices", (2,), np.float64),
        array(_triangles, "triangles", (3,), np.int64),
        array(_attributes, "triangles", columns.shape[1:], np.float64),
    )


def _read(column: Callable[[Part], NDArray[Any]], read_part: Callable[[int], Part], index: int) -> NDArray[Any]:
    return column(read_part(index))


def _numbers(part: Part) -> NDArray[Any]:
    numbers: NDArray[Any] = part.numbers[part.vertex_owners == part.index]
    return numbers


def _vertices(part: Part) -> NDArray[Any]:
    vertices: NDArray[Any] = part.mesh.vertices[part.vertex_owners == part.index]
    return vertices


def _triangles(part: Part) -> NDArray[Any]:
    corners: NDArray[Any] = part.numbers[part.mesh.triangles[: part.own]]
    return corners


def _attributes(part: Part) -> NDArray[Any]:
    assert part.mesh.triangle_attributes is not None
    values: NDArray[Any] = part.mesh.triangle_attributes[: part.own]
    return values
