"""What `write` adds to the bare mesh or leaves out on request, and which formats take it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dmr.errors import OptionError
from dmr.io.meshio_formats import FORMATS


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What is written besides corners, segments and attributes.

    Attributes:
        order: 2 for elements with midpoints.
        neighbours: a .neigh file; edges: a .edge file; voronoi: the dual in a .v.node and a .v.edge file.
        markers: whether Triangle's files hold markers.
        leave_out: suffixes of Triangle's files that are neither written nor, where they are there, removed.
    """

    order: int = 1
    neighbours: bool = False
    edges: bool = False
    voronoi: bool = False
    markers: bool = True
    leave_out: frozenset[str] = frozenset()

    def check(self, path: Path) -> None:
        """Raises OptionError where the format of `path` cannot hold what is asked for."""
        suffix = path.suffix.lower()
        if not self.leave_out <= {".node", ".ele", ".poly", ".area"}:
            raise OptionError(f"only .node, .ele, .poly and .area can be left out, not {' '.join(self.leave_out)}")
        if suffix in (".ele", ".node"):
            return
        for wanted, what in (
            (self.neighbours, "neighbours are"),
            (self.edges, "edges are"),
            (self.voronoi, "the Voronoi dual is"),
            (not self.markers, "markers are left out of what is"),
            (bool(self.leave_out), "files are left out of what is"),
        ):
            if wanted:
                raise OptionError(f"{path}: {what} written beside an .ele file, not with {suffix or 'no suffix'}")
        if self.order == 2 and not (suffix in FORMATS and FORMATS[suffix].second_order):
            known = " ".join([".ele", *(each for each, form in FORMATS.items() if form.second_order)])
            raise OptionError(f"{path}: second order cannot be written as {suffix or 'no suffix'}, only as {known}")
