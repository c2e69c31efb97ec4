"""Parallel Delaunay mesh refinement on GPUs and CPUs: the same provably correct mesh on each.

mesh = dmr.read("input.ele")
fine = dmr.refine(mesh, min_angle=30)        # a Refinement: fine.mesh, and a report of the run
dmr.write("fine.vtu", fine.mesh)
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from dmr._version import __version__

if TYPE_CHECKING:
    from dmr import domains, errors, io, memory
    from dmr.dual import Voronoi, voronoi
    from dmr.errors import DmrError
    from dmr.generation import generate
    from dmr.io import read, write
    from dmr.meshes import Mesh, Pslg
    from dmr.quadratic import SecondOrder, second_order
    from dmr.quality import measure
    from dmr.refinement import refine
    from dmr.results import Refinement
    from dmr.sizing import SizeField
    from dmr.triangulation import triangulate
    from dmr.validation import Report, validate
    from dmr.viewing import view

# The module of each public name. They are imported on first use, so that `import dmr` is fast.
_HOMES = {
    "DmrError": "dmr.errors",
    "Mesh": "dmr.meshes",
    "Pslg": "dmr.meshes",
    "Refinement": "dmr.results",
    "Report": "dmr.validation",
    "SizeField": "dmr.sizing",
    "SecondOrder": "dmr.quadratic",
    "Voronoi": "dmr.dual",
    "generate": "dmr.generation",
    "measure": "dmr.quality",
    "read": "dmr.io",
    "refine": "dmr.refinement",
    "triangulate": "dmr.triangulation",
    "second_order": "dmr.quadratic",
    "validate": "dmr.validation",
    "view": "dmr.viewing",
    "voronoi": "dmr.dual",
    "write": "dmr.io",
}

# Modules whose contents are also public, imported on first use like the names above.
_MODULES = ("domains", "errors", "io", "memory")

# Without logging set up, a program sees no messages of dmr; its own handlers receive all of them.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "DmrError",
    "Mesh",
    "Pslg",
    "Refinement",
    "Report",
    "SecondOrder",
    "SizeField",
    "Voronoi",
    "__version__",
    "domains",
    "errors",
    "generate",
    "io",
    "measure",
    "memory",
    "read",
    "refine",
    "second_order",
    "triangulate",
    "validate",
    "view",
    "voronoi",
    "write",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"dmr.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dmr' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
