"""A mesh of the same domain with other sizes, finer and coarser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dmr.errors import OptionError
from dmr.memory import open_device
from dmr.mesh.arguments import check_kind
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.location.parents import find_parents
from dmr.mesh.provenance import record_refinement
from dmr.mesh.types import Mesh, Pslg
from dmr.refinement import refine
from dmr.refinement.adaptation.outlines import outline as outline_of
from dmr.refinement.results import Refinement
from dmr.sizing.functions import Size
from dmr.sizing.size_field import SizeField

NOT_OPTIONS = ("convex_hull", "strict")  # of `refine`, which mean nothing here
BOUNDS = ("max_edge", "area", "max_area")  # of which one suffices instead of a size


def adapt(
    mesh: Mesh | Refinement,
    size: Size | ArrayLike | None = None,
    *,
    on: str | None = None,
    outline: Pslg | None = None,
    **options: Any,
) -> Refinement:
    """Makes a mesh of the same domain with other sizes: finer where they are small, and coarser where they are large.

    The outline of the mesh is triangulated and refined again, so no point of the old mesh is left inside. The
    result is that of `dmr.refine` for the outline: deterministic, a constrained Delaunay triangulation, in its bounds.
    The vertices of the outline come first, in the order of the mesh, bit for bit. Vertex attributes are interpolated in
    the old mesh, and so are triangle attributes (a new triangle takes those of the old one that contains its centroid),
    except attribute 0: that is the region, and an edge between two regions is part of the outline. Area bounds of the
    mesh are not kept: the sizes replace them.

    Args:
        mesh: the mesh, or the refinement that made it.
        size: the target edge lengths, as for `refine`: (n,) one per vertex of the mesh, or (m,) one
            per triangle; or a number, a `SizeField`, or a function of (n, 2) points. It may be omitted if `max_edge`,
            `area` or `max_area` is given.
        on: "vertices" or "triangles", for sizes of a mesh with equally many of both.
        outline: the domain, if it is not `dmr.outline(mesh)`: for a mesh from a file, all of whose points on the
            boundary are otherwise kept, `dmr.outline(mesh, merge_collinear=True)`, or the graph that it was made from.
        options: those of `refine`, such as `min_angle`, `max_edge` and `device`.

    Returns:
        The new mesh, and a report of the run; `dmr.validate(result.mesh, input=dmr.outline(mesh))` proves it.

    Raises:
        OptionError: sizes that do not fit the mesh or are not above 0, or an invalid option.
        WrongTypeError, InvalidMeshError, DeviceUnavailableError, OutOfMemoryError: as for `refine`.
    """
    old = mesh.mesh if isinstance(mesh, Refinement) else mesh
    check_kind(old, Mesh)
    for name in NOT_OPTIONS:
        if name in options:
            raise OptionError(f"{name} is not an option of adapt: see dmr.refine")
    if size is None and all(options.get(name) is None for name in BOUNDS):
        raise OptionError(f"adapt needs sizes: give size, {', '.join(BOUNDS[:-1])} or {BOUNDS[-1]}")
    field: Any = size if callable(size) or not np.iterable(size) else SizeField(old, size, on=on)
    graph = outline_of(old) if outline is None else outline
    result = refine(graph, size=field, **options)
    adapted = _with_attributes(result.mesh, old)
    assert result.input_mesh is not None
    record_refinement(adapted, result.input_mesh)
    return replace(result, mesh=adapted)


def _with_attributes(mesh: Mesh, old: Mesh) -> Mesh:
    """Transfers the attributes of vertices and triangles from the old mesh."""
    found: dict[str, Any] = {}
    assert old.vertex_attributes is not None and old.triangle_attributes is not None
    assert mesh.triangle_attributes is not None
    if old.vertex_attributes.shape[1]:
        places = DeviceBackground(old, open_device("cpu")).places(mesh.vertices)
        weights, given = places.weights[:, :, None], old.vertex_attributes[places.corners]
        with np.errstate(invalid="ignore"):  # attributes may be infinite, or NaN, at corners that have no weight, too
            parts = np.where((weights == 0) & ~np.isfinite(given), 0.0, weights * given)
            found["vertex_attributes"] = (parts[:, 0] + parts[:, 1]) + parts[:, 2]
    if old.triangle_attributes.shape[1]:
        attributes = old.triangle_attributes[find_parents(mesh, old)]
        if mesh.triangle_attributes.shape[1]:
            attributes[:, 0] = mesh.triangle_attributes[:, 0]
        found["triangle_attributes"] = attributes
    return replace(mesh, area_bounds=None, **found)
