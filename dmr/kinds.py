"""What is said at the library's doors of an argument that is of another kind than they need."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from dmr.errors import KindError, OptionError
from dmr.meshes import Mesh, Pslg, check_indices


def check_kind(item: Any, *kinds: type[Mesh] | type[Pslg], name: str = "mesh", indices: bool = True) -> None:
    """Refuses what is none of `kinds`, which are among `Mesh` and `Pslg`, and indices that were changed since.

    Args:
        item: an argument; name: what it is called.
        indices: whether its indices are checked again; not where a kernel checks them.

    Raises:
        KindError: says what it is, what is needed, and how to come from one to the other.
        InvalidMeshError: an index is out of range by now.
    """
    if isinstance(item, kinds):
        if indices:
            check_indices(item)
        return
    wanted = " or ".join(f"a {kind.__name__}" for kind in kinds)
    raise KindError(f"{name} must be {wanted}, not {_described(item, kinds)}")


def file_path(path: Any) -> Path:
    """The path that a name means.

    Raises:
        KindError: it is no name. OptionError: it holds a null character.
    """
    name = path.__fspath__() if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise KindError(f"path must be the name of a file, not {_article(type(name).__name__)}")
    if "\0" in name:
        raise OptionError(f"path must be the name of a file, and a name holds no null character: {name!r}")
    return Path(name)


def _described(item: Any, kinds: tuple[type[Mesh] | type[Pslg], ...]) -> str:
    """What an item is, and what to do with it."""
    if isinstance(item, str | Path):
        return f"the name of a file ({os.fspath(item)!r}): dmr.read it first"
    what = _article(type(item).__name__)
    if isinstance(getattr(item, "mesh", None), Mesh):
        return f"{what}: pass its .mesh"
    if isinstance(item, Pslg):
        return f"{what}, which has no triangles: dmr.triangulate or dmr.refine it first"
    if type(item).__module__.partition(".")[0] == "meshio":
        return f"{what} of meshio's: dmr.io.from_meshio makes one of it"
    if isinstance(item, np.ndarray | list | tuple | dict):
        makers: dict[type[Mesh] | type[Pslg], str] = {
            Mesh: "dmr.Mesh(vertices, triangles)",
            Pslg: "dmr.Pslg(vertices, segments)",
        }
        return f"{what}: make one by {' or '.join(makers[kind] for kind in kinds)}"
    return what


def described(item: object) -> str:
    """The type of an item, with its article: "an array", "None"."""
    return _article(type(item).__name__)


def _article(noun: str) -> str:
    noun = {"ndarray": "array"}.get(noun, noun)
    if noun == "NoneType":
        return "None"
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
