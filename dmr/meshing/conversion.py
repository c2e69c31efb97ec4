"""Converts what users have to a mesh or a planar straight-line graph: the first argument of `refine` and its like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dmr.common.arguments import switch
from dmr.common.number_arrays import given_array
from dmr.common.text import option
from dmr.errors import OptionError, WrongTypeError
from dmr.mesh.arguments import are_geometries, check_kind
from dmr.mesh.arrays import real_table
from dmr.mesh.types import Mesh, Pslg


class Geometry(Protocol):
    """A geometry, or a table of geometries, of another package."""

    @property
    def __geo_interface__(self) -> Mapping[str, Any]: ...


DomainLike = Pslg | ArrayLike | Geometry | Sequence[Geometry] | Mapping[str, Any]
MeshLike = Mesh | DomainLike

# The forms that `_converted` accepts, for messages.
CONVERTED = (
    "points",
    "a pair of points and segments",
    "a dictionary of the triangle package",
    "a geometry (shapely, geopandas, GeoJSON)",
)

NO_SEGMENTS = np.empty((0, 2), np.int32)


def as_domain(item: Any, name: str, *, convex_hull: bool = False) -> tuple[Pslg, bool]:
    """Converts an argument to a planar straight-line graph.

    Args:
        item: a `Pslg`; (n, 2) points; a pair of points and (s, 2) segments; a dictionary of the `triangle` package, of
            which triangles are not used; a GeoJSON object; a geometry with a `__geo_interface__`, or a list or array of
            them.
        name: the name of the argument, for messages.
        convex_hull: whether the caller asks for the convex hull of the graph.

    Returns:
        The graph, and whether its convex hull is the domain: also if the item is no `Pslg` and has no segments.

    Raises:
        WrongTypeError: the item is none of these. InvalidMeshError: it holds no valid graph.
    """
    found = _converted(item, Pslg)
    check_kind(found, Pslg, name=name, others=CONVERTED)
    return found, _means_hull(item, found, convex_hull)


def as_mesh_or_domain(item: Any, name: str, *, convex_hull: bool = False) -> tuple[Mesh | Pslg, bool]:
    """Converts an argument to a mesh, if it holds triangles, or else as `as_domain` does.

    The indices of a mesh are not checked again: the device checks them.

    Raises:
        WrongTypeError, InvalidMeshError: as for `as_domain`. OptionError: `convex_hull` is set, for a mesh.
    """
    found = _converted(item, Mesh)
    check_kind(found, Mesh, Pslg, name=name, indices=isinstance(found, Pslg), others=CONVERTED)
    if isinstance(found, Mesh):
        if switch("convex_hull", convex_hull):
            raise OptionError(f"{option('convex_hull')} is for outlines: a mesh has its domain already")
        return found, False
    return found, _means_hull(item, found, convex_hull)


def _means_hull(item: Any, found: Pslg, convex_hull: bool) -> bool:
    return switch("convex_hull", convex_hull) or (found is not item and not len(found.segments))


def _converted(item: Any, wanted: type[Mesh] | type[Pslg]) -> Any:
    """Converts an item; a dictionary with triangles becomes a mesh if that is `wanted`. Returns others unchanged."""
    if isinstance(item, Mesh | Pslg):
        return item
    if isinstance(item, Mapping):
        if "type" in item and "vertices" not in item:
            from dmr.domains import from_geojson

            return from_geojson(item)
        kind = Mesh if wanted is Mesh and "triangles" in item else Pslg
        return kind.from_triangle(item)
    sequence = isinstance(item, list | tuple)
    if hasattr(item, "__geo_interface__") or are_geometries(item):
        from dmr.domains import from_shapely

        return from_shapely(item)
    if sequence and item and _dimensions(item[0]) == 2:
        return _of_tables(item)
    if sequence or hasattr(item, "__array__"):
        return Pslg(real_table(item, (None, 2), "points"), NO_SEGMENTS)
    return item


def _of_tables(item: list[Any] | tuple[Any, ...]) -> Pslg:
    """Converts a pair of points and segments."""
    if len(item) != 2:
        raise WrongTypeError(
            f"points and segments are a pair, and this sequence has length {len(item)}: "
            "dmr.Pslg(points, segments, holes=..., regions=...) holds more"
        )
    if getattr(item[1], "shape", (0,))[1:] == (3,):
        raise WrongTypeError("points and triangles are a mesh, dmr.Mesh(points, triangles); segments have two columns")
    return Pslg(real_table(item[0], (None, 2), "points"), item[1])


def _dimensions(item: Any) -> int:
    """Returns the number of dimensions of a table; 0 for anything else."""
    try:
        return given_array(item).ndim
    except ValueError:
        return 0
