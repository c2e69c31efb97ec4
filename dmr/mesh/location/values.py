"""Values on the triangles, the vertices, or the vertices and edge midpoints of a mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import shortened
from dmr.common.number_arrays import real_array
from dmr.errors import OptionError
from dmr.mesh.types import Float, Mesh

NAMES = ("triangles", "vertices", "vertices and edge midpoints")  # by order


def checked_values(
    mesh: Mesh, values: ArrayLike, order: int | None, edge_count: Callable[[], int]
) -> tuple[Float, int]:
    """Converts values to a float64 array, and finds the order of the elements that they belong to.

    Args:
        mesh: the mesh; values: (m, ...), (n, ...) or (n + e, ...) for m triangles, n vertices and e edges.
        order: 0, 1 or 2; None to infer it from the number of rows.
        edge_count: returns the number of edges; called if the order may be 2.

    Raises:
        OptionError: values that are not real numbers, or whose number fits no order, or several; an unknown order.
    """
    try:
        array = real_array(values, "biuf", none=None)
    except ValueError as error:
        raise OptionError(f"values must be real numbers ({error})") from None
    if array.ndim == 0:
        raise OptionError("values must be an array with one row per triangle or vertex, not a number")
    if order not in (None, 0, 1, 2) or isinstance(order, bool):
        raise OptionError(f"order must be 0, 1, 2 or None, not {shortened(order)}")
    counts = {0: len(mesh.triangles), 1: len(mesh.vertices)}
    if order == 2 or (order is None and len(array) not in counts.values()):
        counts[2] = len(mesh.vertices) + edge_count()
    fitting = [k for k, count in counts.items() if count == len(array) and order in (None, k)]
    if len(fitting) > 1:
        raise OptionError(
            f"the mesh has {len(array)} triangles and as many vertices: choose one of them by order=0 or 1"
        )
    if not fitting:
        wanted = ", or ".join(f"{counts[k]} ({NAMES[k]})" for k in counts if order in (None, k))
        raise OptionError(f"values must have {wanted} rows, not {len(array)}")
    return np.ascontiguousarray(array).reshape(array.shape), fitting[0]
