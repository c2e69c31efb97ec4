"""Optional output of `write`, and checks that the chosen format supports it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dmr.errors import OptionError
from dmr.io.meshio_files.formats import FORMATS


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Options for output beyond corners, segments and attributes.

    Attributes:
        order: 2 for second-order elements (with edge midpoints).
        neighbours: whether to write a .neigh file.
        edges: whether to write a .edge file.
        voronoi: whether to write the dual to a .v.node and a .v.edge file.
        markers: whether Triangle's files contain markers.
        leave_out: suffixes of Triangle's files that are not written; existing files of these names are kept.
    """

    order: int = 1
    neighbours: bool = False
    edges: bool = False
    voronoi: bool = False
    markers: bool = True
    leave_out: frozenset[str] = frozenset()

    def check(self, path: Path) -> None:
        """Raises OptionError if the format of `path` cannot store what is requested."""
        suffix = path.suffix.lower()
        if not self.leave_out <= {".node", ".ele", ".poly", ".area"}:
            raise OptionError(f"only .node, .ele, .poly and .area can be left out, not {' '.join(self.leave_out)}")
        if suffix in (".ele", ".node"):
            return
        for wanted, what in (
            (self.neighbours, "neighbours are"),
            (self.edges, "edges are"),
            (self.voronoi, "the Voronoi dual is"),
            (not self.markers, "markers are left out of files"),
            (bool(self.leave_out), "files are left out of those"),
        ):
            if wanted:
                raise OptionError(f"{path}: {what} written beside an .ele file, not with {suffix or 'no suffix'}")
        if self.order == 2 and not (suffix in FORMATS and FORMATS[suffix].second_order):
            known = " ".join([".ele", *(each for each, form in FORMATS.items() if form.second_order)])
            raise OptionError(f"{path}: second order cannot be written as {suffix or 'no suffix'}, only as {known}")
