"""Parallel Delaunay mesh refinement on GPUs and CPUs: the same provably correct mesh on each.

mesh = dmr.read("input.ele")
fine = dmr.refine(mesh, min_angle=30)        # a Refinement: fine.mesh, and a report of the run
dmr.write("fine.vtu", fine.mesh)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dmr._version import __version__
from dmr.common.lazy import set_up_package

if TYPE_CHECKING:
    from dmr import domains, errors, io, memory, sizing
    from dmr.domains.generation import generate
    from dmr.errors import DmrError
    from dmr.io import read, write
    from dmr.mesh.location import Locator, interpolate, locate
    from dmr.mesh.quadratic import SecondOrder, second_order
    from dmr.mesh.statistics import measure
    from dmr.mesh.types import Mesh, Pslg
    from dmr.mesh.voronoi_dual import Voronoi, voronoi
    from dmr.meshing.plain import triangulate
    from dmr.meshing.point_sets import Delaunay, delaunay
    from dmr.refinement import refine
    from dmr.refinement.adaptation import adapt, outline
    from dmr.refinement.optimization.pipeline import optimize
    from dmr.refinement.results import Optimization, Refinement, Smoothing
    from dmr.sizing.size_field import SizeField
    from dmr.validation.checker import Report, validate
    from dmr.viewing.viewer import view

# The module of each public name. They are imported on first use, so that `import dmr` is fast.
_HOMES = {
    "Delaunay": "dmr.meshing.point_sets",
    "DmrError": "dmr.errors",
    "Locator": "dmr.mesh.location",
    "Mesh": "dmr.mesh.types",
    "Optimization": "dmr.refinement.results",
    "Pslg": "dmr.mesh.types",
    "Refinement": "dmr.refinement.results",
    "Report": "dmr.validation",
    "SizeField": "dmr.sizing",
    "Smoothing": "dmr.refinement.results",
    "SecondOrder": "dmr.mesh.quadratic",
    "Voronoi": "dmr.mesh.voronoi_dual",
    "adapt": "dmr.refinement.adaptation",
    "delaunay": "dmr.meshing.point_sets",
    "generate": "dmr.domains.generation",
    "interpolate": "dmr.mesh.location",
    "locate": "dmr.mesh.location",
    "measure": "dmr.mesh.statistics",
    "optimize": "dmr.refinement.optimization.pipeline",
    "outline": "dmr.refinement.adaptation",
    "read": "dmr.io",
    "refine": "dmr.refinement",
    "triangulate": "dmr.meshing.plain",
    "second_order": "dmr.mesh.quadratic",
    "validate": "dmr.validation",
    "view": "dmr.viewing",
    "voronoi": "dmr.mesh.voronoi_dual",
    "write": "dmr.io",
}

# Modules whose contents are also public, imported on first use like the names above.
_MODULES = ("distributed", "domains", "errors", "io", "memory", "sizing")

__all__ = [
    "Delaunay",
    "DmrError",
    "Locator",
    "Mesh",
    "Optimization",
    "Pslg",
    "Refinement",
    "Report",
    "SecondOrder",
    "SizeField",
    "Smoothing",
    "Voronoi",
    "__version__",
    "adapt",
    "delaunay",
    "distributed",
    "domains",
    "errors",
    "generate",
    "interpolate",
    "io",
    "locate",
    "measure",
    "memory",
    "optimize",
    "outline",
    "read",
    "refine",
    "second_order",
    "sizing",
    "triangulate",
    "validate",
    "view",
    "voronoi",
    "write",
]


__getattr__, __dir__ = set_up_package(__name__, _HOMES, _MODULES)
