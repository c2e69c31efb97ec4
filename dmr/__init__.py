"""Parallel Delaunay mesh refinement, on GPUs and CPUs: the same provably right mesh on each.

mesh = dmr.read("input.ele")
fine = dmr.refine(mesh, min_angle=30)        # a Refinement: fine.mesh, and what happened
dmr.write("fine.vtu", fine.mesh)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dmr._version import __version__

if TYPE_CHECKING:
    from dmr.errors import DmrError
    from dmr.generation import generate
    from dmr.io import read, write
    from dmr.meshes import Mesh, Pslg
    from dmr.quality import measure
    from dmr.refinement import refine
    from dmr.results import Refinement
    from dmr.validation import Report, validate
    from dmr.viewing import view

# Where each public name lives. They are imported when first used, so that `import dmr` costs next to nothing.
_HOMES = {
    "DmrError": "dmr.errors",
    "Mesh": "dmr.meshes",
    "Pslg": "dmr.meshes",
    "Refinement": "dmr.results",
    "Report": "dmr.validation",
    "generate": "dmr.generation",
    "measure": "dmr.quality",
    "read": "dmr.io",
    "refine": "dmr.refinement",
    "validate": "dmr.validation",
    "view": "dmr.viewing",
    "write": "dmr.io",
}

__all__ = [
    "DmrError",
    "Mesh",
    "Pslg",
    "Refinement",
    "Report",
    "__version__",
    "generate",
    "measure",
    "read",
    "refine",
    "validate",
    "view",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dmr' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
