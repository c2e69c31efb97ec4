"""Old names of modules that have moved, so that pickles of earlier versions load and old imports work.

A pickle contains the module of each class, such as `dmr.meshes`. The packages themselves use the new names only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Loader, MetaPathFinder
else:
    Loader = MetaPathFinder = object  # every start would wait for the many modules that importlib.abc imports

SUCCESSORS = {
    "dmr.adjacency": "dmr.mesh.adjacency",
    "dmr.background": "dmr.sizing",
    "dmr.background.edges": "dmr.sizing.earlier",
    "dmr.background.grid": "dmr.sizing.earlier",
    "dmr.background.location": "dmr.sizing.earlier",
    "dmr.checks": "dmr.validation",
    "dmr.checks.report": "dmr.validation.report",
    "dmr.dual": "dmr.mesh.voronoi_dual",
    "dmr.edges": "dmr.mesh.edges",
    "dmr.generation": "dmr.domains.generation",
    "dmr.memory.frozen": "dmr.common.frozen",
    "dmr.meshes": "dmr.mesh.types",
    "dmr.options": "dmr.refinement.options",
    "dmr.quadratic": "dmr.mesh.quadratic",
    "dmr.quality": "dmr.mesh.statistics",
    "dmr.refinement.optimization.results": "dmr.refinement.results",
    "dmr.results": "dmr.refinement.results",
    "dmr.triangle_switches": "dmr.triangle.switches",
    "static_graph.degree_plots": "static_graph.graph.degree_plots",
    "static_graph.degrees": "static_graph.graph.degrees",
    "static_graph.device_graph": "static_graph.graph.device_graph",
    "static_graph.generation": "static_graph.graph.generation",
    "static_graph.graphs": "static_graph.graph.csr",
    "static_graph.holding": "static_graph.common.results",
    "static_graph.labels": "static_graph.graph.labels",
    "static_graph.ranking": "static_graph.lists.ranking",
    "static_graph.results": "static_graph.traversal.results",
    "static_graph.tree_generation": "static_graph.trees.generation",
}

# Names that `dmr.memory` exported, by the module that has them now.
NAMES_OF_MEMORY = {
    name: module
    for module, names in {
        "dmr.common.arguments": ("TooLargeError", "kind_of", "real", "shortened", "whole"),
        "dmr.common.cached": ("cached_property",),
        "dmr.common.errors": (
            "ExistingFileError",
            "FileContentError",
            "FileError",
            "FileSystemError",
            "FolderError",
            "MissingFileError",
            "file_error",
            "printable",
            "system_reason",
        ),
        "dmr.common.frozen": ("HoldsFrozen", "freeze", "freeze_fields", "frozen", "is_frozen"),
        "dmr.common.native": ("interruptible",),
    }.items()
    for name in names
}


class _Successor(Loader):
    """Gives the module of the new name for an old one."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(SUCCESSORS[spec.name])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has replaced it by the spec of the old name


class _Finder(MetaPathFinder):
    """Finds the old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, _Successor()) if fullname in SUCCESSORS else None


def keep_old_names() -> None:
    """Makes the old names importable."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the finder of files: dmr.checks has the files of dmr.validation
