"""Detects longitudes and latitudes, and projects them to a plane by pyproj."""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np

from dmr.common.arguments import shortened
from dmr.common.text import option, remedy
from dmr.errors import DmrError, InvalidMeshError, OptionError
from dmr.mesh.types import Float

log = logging.getLogger("dmr.io")

# The coordinate reference system of GeoJSON (RFC 7946): longitude and latitude in degrees, in this order.
LONGITUDE_LATITUDE = "OGC:CRS84"

# Names of the common systems in degrees, and the prefix of the well-known text of all others.
_GEOGRAPHIC = re.compile(r"GEOG|(urn:ogc:def:crs:)?(OGC:.*CRS8[43]|EPSG:.*:?(4326|4269|4258|4267))$", re.IGNORECASE)
_REMEDY = "the extra [gis] of this package: pip install pyproj"


class Projection:
    """A map from one coordinate reference system to another, by pyproj.

    Args:
        source: the system of the coordinates, in any form that pyproj accepts: "EPSG:3857", well-known text, a PROJ
            string.
        target: the system to project to, likewise.

    Raises:
        DmrError: pyproj is missing.
        OptionError: pyproj does not know a system.
    """

    def __init__(self, source: str, target: str) -> None:
        try:
            import pyproj
        except ImportError as error:
            raise DmrError(f"coordinates are projected with pyproj, {_REMEDY} ({error})") from error
        systems = []
        for name, what in ((source, "the system of the coordinates"), (target, option("project"))):
            try:
                systems.append(pyproj.CRS.from_user_input(name))
            except pyproj.exceptions.ProjError as error:
                raise OptionError(
                    f"{what} must be a coordinate reference system, such as EPSG:3857, not {shortened(name)} ({error})"
                ) from error
        self._degrees = bool(systems[0].is_geographic)
        self._target = target
        self._transform: Any = pyproj.Transformer.from_crs(systems[0], systems[1], always_xy=True).transform

    def __call__(self, points: Float, name: str) -> Float:
        """The projected points, (n, 2).

        Raises:
            InvalidMeshError: a point cannot be projected; the message names the vertex.
        """
        if self._degrees and not (np.abs(points) <= (360, 90)).all():
            k = int(np.flatnonzero(~(np.abs(points) <= (360, 90)).all(axis=1))[0])
            raise InvalidMeshError(
                f"{name}: vertex {k} at {_place(points[k])} is not a longitude and latitude in degrees: coordinates "
                "that are projected already must not be projected again"
            )
        projected = np.column_stack(self._transform(points[:, 0], points[:, 1]))
        lost = np.flatnonzero(~np.isfinite(projected).all(axis=1))
        if lost.size:
            k = int(lost[0])
            raise InvalidMeshError(f"{name}: vertex {k} at {_place(points[k])} cannot be projected to {self._target}")
        return projected


def is_geographic(system: str) -> bool:
    """Whether a coordinate reference system has longitudes and latitudes; False if that is unknown."""
    if _GEOGRAPHIC.match(system):
        return True
    try:
        import pyproj

        return bool(pyproj.CRS.from_user_input(system).is_geographic)
    except Exception:  # pyproj is missing, or does not know the system; only the log note depends on the result
        return False


def note_degrees(low: Float, high: Float, what: str) -> None:
    """Logs that the coordinates are taken as degrees, if they are in range."""
    if (np.maximum(np.abs(low), np.abs(high)) <= (360, 90)).all():
        log.info(
            "%s: the coordinates are taken as longitude and latitude in degrees, and lengths, areas and angles as "
            "those of the plane of degrees%s",
            what,
            remedy("project", "EPSG:3857", ", or another system, projects them first"),
        )


def _place(point: Float) -> str:
    return f"({float(point[0])!r}, {float(point[1])!r})"
