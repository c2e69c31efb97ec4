"""Type checks for public arguments: meshes, graphs and file names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from dmr.common.arguments import as_path, kind_of
from dmr.common.text import option
from dmr.errors import OptionError, WrongTypeError
from dmr.mesh.types import Mesh, Pslg, check_indices

# The conversion of triangulations of other packages, by the attributes that they have.
_TRIANGULATIONS = {
    ("points", "simplices"): "d.points, d.simplices",  # scipy.spatial.Delaunay
    ("x", "y", "triangles"): "numpy.column_stack([t.x, t.y]), t.triangles",  # matplotlib.tri.Triangulation
    ("p", "t", "facets"): "m.p.T, m.t.T",  # skfem.MeshTri
}


def check_kind(
    item: Any,
    *kinds: type[Mesh] | type[Pslg],
    name: str = "mesh",
    indices: bool = True,
    others: tuple[str, ...] = (),
) -> None:
    """Checks that an argument has one of the types `kinds` (`Mesh`, `Pslg`), and that its indices are in range.

    Args:
        item: the argument; name: its name.
        indices: whether to check its indices again, since they may have been changed; False if a kernel checks them.
        others: what else the caller accepts, and has converted to one of the types; for messages.

    Raises:
        WrongTypeError: names the actual and the required type, and how to convert one to the other.
        InvalidMeshError: an index is out of range.
    """
    if isinstance(item, kinds):
        if indices:
            check_indices(item)
        return
    *several, last = (*(f"a {kind.__name__}" for kind in kinds), *others)
    wanted = f"{', '.join(several)} or {last}" if several else last
    raise WrongTypeError(f"{option(name)} must be {wanted}, not {_described(item, kinds)}")


def are_geometries(item: Any) -> bool:
    """Whether an item is a list or a one-dimensional array that begins with a geometry of another package."""
    if not (isinstance(item, list | tuple) or getattr(item, "ndim", None) == 1):
        return False
    return hasattr(next(iter(item), None), "__geo_interface__")


def file_path(path: Any, name: str = "path") -> Path:
    """Converts a file name, the argument `name`, to a path.

    Raises:
        WrongTypeError: it is not a name. OptionError: it contains a null character.
    """
    found = as_path(path, name)
    if "\0" in str(found):
        raise OptionError(f"{option(name)} must be the name of a file, without null characters: {str(found)!r}")
    return found


def _described(item: Any, kinds: tuple[type[Mesh] | type[Pslg], ...]) -> str:
    """Describes an item, and what to do with it."""
    if isinstance(item, str | Path):
        return f"the name of a file ({os.fspath(item)!r}): dmr.read it first"
    what = kind_of(item)
    if isinstance(getattr(item, "mesh", None), Mesh):
        return f"{what}: pass its .mesh"
    if isinstance(item, Pslg):
        return f"{what}, which has no triangles: dmr.triangulate or dmr.refine it first"
    if type(item).__module__.partition(".")[0] == "meshio":
        return f"{what} from meshio: convert it with dmr.io.from_meshio"
    if hasattr(item, "__geo_interface__") or are_geometries(item):
        return f"{what}: make a Pslg of it by dmr.domains.from_shapely"
    if Mesh in kinds:
        for names, arguments in _TRIANGULATIONS.items():
            if all(hasattr(item, name) for name in names):
                return f"{what}: make one by dmr.Mesh({arguments})"
    if isinstance(item, np.ndarray | list | tuple | dict):
        makers: dict[type[Mesh] | type[Pslg], str] = {
            Mesh: "dmr.Mesh(vertices, triangles)",
            Pslg: "dmr.Pslg(vertices, segments)",
        }
        return f"{what}: make one by {' or '.join(makers[kind] for kind in kinds)}"
    return what
