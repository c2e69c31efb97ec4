"""Domains from GeoJSON (RFC 7946), and from geometries of shapely and all that speak `__geo_interface__`.

Polygons cover the domain, lines are cracks or borders in it, points are vertices of the mesh. Coordinates are taken
as they are, in the plane: project longitudes and latitudes first where lengths matter.
"""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dmr.domains.coverage import Patch, checked_part, cover
from dmr.domains.rings import checked_chain, checked_points, without_repetitions
from dmr.domains.shapes import polyline
from dmr.errors import (
    DmrError,
    FileContentError,
    InvalidMeshError,
    KindError,
    OptionError,
    OutOfMemoryError,
    file_error,
    printable,
)
from dmr.kinds import file_path
from dmr.memory.host.available import require_memory
from dmr.meshes import Float, Pslg
from dmr.numeric import real, shortened

log = logging.getLogger("dmr")

BYTES_PER_BYTE = 5  # of memory that a byte of JSON takes, as Python's lists and numbers
Geometry = Mapping[str, Any]
# Which geometry is one of a kind, and which holds many of it. shapely has rings of their own.
_SINGLE = {"Polygon": "Polygon", "LineString": "LineString", "LinearRing": "LineString", "Point": "Point"}
_MULTIPLE = {"MultiPolygon": "Polygon", "MultiLineString": "LineString", "MultiPoint": "Point"}


def from_geojson(
    source: str | os.PathLike[str] | Geometry,
    *,
    attribute: str | None = None,
    area: str | None = None,
    marker: str | None = None,
) -> Pslg:
    """The domain that a GeoJSON file or object describes.

    The domain is what the polygons cover, as for `polygons`: neighbours may share borders, islands may lie in lakes.
    Lines become segments, points become vertices. A third coordinate is left out, and so are points that repeat the
    one before; the log says so.

    Args:
        source: a file, or what `json.load` makes of one: a geometry, a Feature or a FeatureCollection.
        attribute: the property that holds a polygon's region attribute, a number; a feature without it has 0.
        area: the property that holds the largest area of its triangles.
        marker: the property that holds the marker of the segments of its polygons and lines, and of its points.

    Raises:
        FileError: the file cannot be read, is no JSON (with the line), or its geometry cannot be used.
        InvalidMeshError: an object whose geometry cannot be used; names feature, part, ring and vertex.
    """
    for what, name in (("attribute", attribute), ("area", area), ("marker", marker)):
        if not (name is None or isinstance(name, str)):
            raise KindError(f"{what} must be the name of a property, not {shortened(name)}")
    names = _Names(attribute=attribute, area=area, marker=marker)
    if isinstance(source, Mapping):
        return _domain(source, names)
    if not isinstance(source, str | os.PathLike):
        raise OptionError(f"GeoJSON is a file or a mapping, not {type(source).__name__}; see also from_shapely")
    path = file_path(source)
    try:
        return _domain(_parsed(path), names)
    except InvalidMeshError as error:
        raise FileContentError(f"holds no domain: {error}", path) from error


def from_shapely(geometry: Any) -> Pslg:
    """The domain that a geometry of shapely describes, as `from_geojson` would read it.

    Args:
        geometry: a Polygon, MultiPolygon, LineString, Point, GeometryCollection, ... of shapely; any other object
            with a `__geo_interface__` (geopandas' tables, fiona's features); or well-known text, for which shapely
            must be installed.

    Raises:
        DmrError: well-known text, and shapely is missing.
        OptionError: something that is no geometry.
        InvalidMeshError: a geometry that cannot be used; names part, ring and vertex.
    """
    if isinstance(geometry, str):
        geometry = _parsed_text(geometry)
    form = getattr(geometry, "__geo_interface__", None)
    if not isinstance(form, Mapping):
        raise OptionError(
            f"a geometry has a __geo_interface__, as shapely's have; this is {type(geometry).__name__!r} without one"
        )
    return _domain(form, _Names())


@dataclass(frozen=True, kw_only=True)
class _Names:
    """The properties of features that say something about the mesh."""

    attribute: str | None = None
    area: str | None = None
    marker: str | None = None


@dataclass
class _Content:
    """What was found so far."""

    names: _Names
    patches: list[Patch] = field(default_factory=list)
    others: list[Pslg] = field(default_factory=list)
    properties: set[str] = field(default_factory=set)
    repeated: int = 0
    heights: int = 0
    empty: int = 0


def _parsed_text(text: str) -> Any:
    try:
        import shapely
    except ImportError as error:
        raise DmrError(
            f"well-known text is read with shapely, the extra [shapely] of this package: pip install shapely ({error})"
        ) from error
    try:
        return shapely.from_wkt(text)
    except shapely.errors.ShapelyError as error:
        raise InvalidMeshError(f"this is no well-known text: {error}") from error


def _parsed(path: Path) -> Any:
    try:
        require_memory(BYTES_PER_BYTE * path.stat().st_size, path.name)
        return json.loads(path.read_bytes().decode("utf-8-sig"))
    except OutOfMemoryError:
        raise
    except (OSError, MemoryError) as error:
        raise file_error(error, path, "cannot be read") from error
    except json.JSONDecodeError as error:
        raise FileContentError(f"is no JSON: {error.msg} at column {error.colno}", path, error.lineno) from error
    except UnicodeDecodeError as error:
        raise FileContentError(f"is no JSON: it is not written in UTF-8 (byte {error.start})", path) from error
    except (RecursionError, ValueError) as error:
        raise FileContentError(f"cannot be read as JSON: {error}", path) from error


def _domain(form: Any, names: _Names) -> Pslg:
    content = _Content(names)
    try:
        for k, (feature, where) in enumerate(_features(form)):
            _collect(content, feature, where, k)
    except RecursionError:
        raise InvalidMeshError("its collections are nested too deeply") from None
    for name in (names.attribute, names.area, names.marker):
        if name is not None and name not in content.properties:
            known = ", ".join(sorted(map(printable, content.properties))) or "none at all"
            raise InvalidMeshError(f"no feature has the property {name!r}; there are: {known}")
    for count, what in (
        (content.repeated, "points that repeat the one before were left out"),
        (content.heights, "third coordinates were left out: the domain lies in the plane"),
        (content.empty, "features or parts of them are empty and were left out"),
    ):
        if count:
            log.warning("GeoJSON: %d %s", count, what)
    if not content.patches and not content.others:
        raise InvalidMeshError("it holds no polygon, line or point")
    return cover(content.patches, content.others)


def _features(form: Any) -> Iterator[tuple[Geometry, str]]:
    """Every feature, a bare geometry as one without properties, and how a message names what is in it."""
    kind = _kind(form, "")
    if kind == "FeatureCollection":
        for k, feature in enumerate(_list(form, "features", "")):
            if _kind(feature, f"feature {k}: ") != "Feature":
                raise InvalidMeshError(f"feature {k}: its type is {feature['type']!r}, not 'Feature'")
            yield feature, f"feature {k}: "
    elif kind == "Feature":
        yield form, ""
    else:
        yield {"type": "Feature", "geometry": form, "properties": None}, ""


def _collect(content: _Content, feature: Geometry, where: str, number: int) -> None:
    geometry = feature.get("geometry")
    if geometry is None:
        content.empty += 1
        return
    properties = feature.get("properties")
    properties = {} if properties is None else properties
    if not isinstance(properties, Mapping):
        raise InvalidMeshError(f"{where}its properties are no object")
    content.properties.update(str(name) for name in properties)
    names = content.names
    attribute = _number(properties, names.attribute, where)
    area = _number(properties, names.area, where)
    marker = _number(properties, names.marker, where)
    if marker != int(marker) or abs(marker) >= 2**31:
        raise InvalidMeshError(
            f"{where}the property {names.marker!r} must be a whole number of 32 bits, not {marker:g}"
        )
    for kind, coordinates, part in _parts(geometry, where):
        if not isinstance(coordinates, list | tuple):
            raise InvalidMeshError(f"{part}the coordinates of a {kind} must be a list")
        if not coordinates:
            content.empty += 1
        elif kind == "Polygon":
            rings = [_positions(content, ring, f"{part}{_ring_name(k)}") for k, ring in enumerate(coordinates)]
            content.patches.append(
                Patch(
                    rings=checked_part(rings[0], rings[1:], part),
                    attribute=None if names.attribute is None else attribute,
                    area=max(area, 0.0),
                    marker=int(marker),
                )
            )
        elif kind == "LineString":
            chain = checked_chain(_positions(content, coordinates, f"{part}the line"), f"{part}the line")
            content.others.append(polyline(chain, markers=int(marker)))
        else:
            point = _positions(content, [coordinates], f"{part}the point")
            markers = np.array([int(marker)]) if marker else None
            content.others.append(Pslg(point, np.empty((0, 2), np.int32), vertex_markers=markers))


def _parts(geometry: Any, where: str) -> Iterator[tuple[str, Any, str]]:
    """The single polygons, lines and points of a geometry: kind, coordinates, name."""
    kind = _kind(geometry, where)
    if kind in _SINGLE:
        yield _SINGLE[kind], _list(geometry, "coordinates", where), where
    elif kind in _MULTIPLE:
        for k, coordinates in enumerate(_list(geometry, "coordinates", where)):
            yield _MULTIPLE[kind], coordinates, f"{where}part {k}: "
    elif kind == "GeometryCollection":
        for k, part in enumerate(_list(geometry, "geometries", where)):
            yield from _parts(part, f"{where}geometry {k}: ")
    else:
        known = ", ".join([*_SINGLE, *_MULTIPLE, "GeometryCollection", "Feature", "FeatureCollection"])
        raise InvalidMeshError(f"{where}the type {kind!r} is not known; known are {known}")


def _positions(content: _Content, coordinates: Any, name: str) -> Float:
    """A list of positions as (n, 2), without the third coordinates and without repetitions."""
    try:
        lengths = {len(position) for position in coordinates}
        len(coordinates)
    except TypeError:
        raise InvalidMeshError(f"{name} must be a list of positions [x, y]") from None
    if not lengths <= {2, 3, 4}:
        raise InvalidMeshError(f"{name} must be a list of positions [x, y], and one has {min(lengths)} numbers")
    if lengths - {2}:
        content.heights += sum(len(position) > 2 for position in coordinates)
        coordinates = [position[:2] for position in coordinates]
    points = checked_points(coordinates if len(coordinates) else np.empty((0, 2)), name)
    kept = without_repetitions(points)
    content.repeated += len(points) - len(kept)
    return kept


def _ring_name(k: int) -> str:
    return f"hole {k - 1}" if k else "the outline"


def _kind(form: Any, where: str) -> str:
    if not isinstance(form, Mapping) or not isinstance(form.get("type"), str):
        raise InvalidMeshError(f"{where}this is no GeoJSON object: it has no type")
    return str(form["type"])


def _list(form: Geometry, name: str, where: str) -> Any:
    found = form.get(name)
    if not isinstance(found, list | tuple):
        raise InvalidMeshError(f"{where}the {form['type']} has no list of {name}")
    return found


def _number(properties: Mapping[str, Any], name: str | None, where: str) -> float:
    value = properties.get(name) if name is not None else None
    if value is None:
        return 0.0
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else real(value)
    except ValueError as error:
        raise InvalidMeshError(f"{where}the property {name!r} must be a number: {error}") from None
    if not math.isfinite(number):
        raise InvalidMeshError(f"{where}the property {name!r} must be a number, not {shortened(value)}")
    return number
