"""Domains from GeoJSON (RFC 7946), and from geometries of shapely and of other packages with `__geo_interface__`.

Polygons cover the domain, lines are cracks or borders in it, points are vertices of the mesh. Coordinates are used
unchanged, as coordinates of the plane, unless a projection is requested.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dmr.common.arguments import checks_keywords, shortened
from dmr.common.files.compressed import read_unpacked
from dmr.domains.features import FeatureOptions, Geometry, domain_of_features, kind_of, list_in
from dmr.domains.projecting import LONGITUDE_LATITUDE
from dmr.errors import DmrError, FileContentError, InvalidMeshError, OptionError, WrongTypeError, file_error
from dmr.mesh.arguments import are_geometries, file_path
from dmr.mesh.types import Pslg

BYTES_PER_BYTE = 5  # memory per byte of JSON, parsed to Python's lists and numbers


@checks_keywords
def from_geojson(
    source: str | os.PathLike[str] | Geometry,
    *,
    attribute: str | None = None,
    area: str | None = None,
    marker: str | None = None,
    project: str | None = None,
    on_conflict: str = "resolve",
) -> Pslg:
    """Converts a GeoJSON file or object to a domain.

    The domain is the union of the polygons, as for `polygons`: neighbours may share borders, islands may lie in lakes,
    and where polygons overlap, the last one determines attribute and area. Lines become segments, points become
    vertices. Third coordinates, points that repeat the previous one, and rings that enclose nothing are omitted, which
    the log reports.

    Args:
        source: a file, or the result of `json.load`: a geometry, a Feature or a FeatureCollection. A file whose name
            ends with .gz, .bz2 or .xz is decompressed.
        attribute: the property with a polygon's region attribute, a number, or a text: then the regions are numbered
            from 1 on, and named. A feature without it gets 0, which the log reports.
        area: the property with the maximum area of its triangles, in the units of the result; <= 0 for none.
        marker: the property with the marker of the segments of its polygons and lines, and of its points: a number,
            or a text; then the markers are numbered from 2 on, and named. A border that features share takes the
            first nonzero marker; those of lines come before those of polygons.
        project: the coordinate reference system to project the coordinates to, such as "EPSG:3857", by pyproj. They
            are longitude and latitude, unless a member "crs" of the object names another system.
        on_conflict: "resolve" omits rings that enclose nothing (fewer than three distinct corners, all corners
            collinear, or edges that run back along each other) with a warning; "error" rejects them.

    Raises:
        FileError: the file cannot be read, is not JSON (the message names the line), or its geometry is invalid.
        InvalidMeshError: the geometry of an object is invalid; the message names feature, part, ring and vertex.
        OptionError: the coordinate reference system is unknown.
        DmrError: pyproj is missing.
    """
    options = FeatureOptions(attribute=attribute, area=area, marker=marker, project=project, on_conflict=on_conflict)
    if isinstance(source, Mapping):
        return _domain(source, options, _system(source))
    if not isinstance(source, str | os.PathLike):
        raise OptionError(f"GeoJSON is a file or a mapping, not {type(source).__name__}; see also from_shapely")
    path = file_path(source)
    form = _parsed(path)
    try:
        return _domain(form, options, _system(form))
    except InvalidMeshError as error:
        raise FileContentError(f"holds no domain: {error}", path) from error


@checks_keywords
def from_shapely(
    geometry: Any,
    *,
    attribute: str | None = None,
    area: str | None = None,
    marker: str | None = None,
    crs: str | None = None,
    project: str | None = None,
    on_conflict: str = "resolve",
) -> Pslg:
    """Converts a geometry of shapely to a domain, in the same way as `from_geojson`.

    Args:
        geometry: a Polygon, MultiPolygon, LineString, Point, GeometryCollection, ... of shapely; any other object
            with a `__geo_interface__` (tables of geopandas, features of fiona); a list or array of such objects; or
            well-known text, which requires shapely.
        attribute, area, marker: properties of features, such as the columns of a table of geopandas, as for
            `from_geojson`.
        crs: the coordinate reference system of the coordinates, such as "OGC:CRS84" for longitudes and latitudes; by
            default that of the geometry, if it knows it, as a table of geopandas may.
        project: the coordinate reference system to project to, by pyproj.
        on_conflict: as for `from_geojson`.

    Raises:
        DmrError: the geometry is well-known text, and shapely is missing; or pyproj is.
        OptionError: the argument is not a geometry, or a coordinate reference system is unknown.
        InvalidMeshError: the geometry is invalid, or has no system to project from; the message names part, ring and
            vertex.
    """
    options = FeatureOptions(attribute=attribute, area=area, marker=marker, project=project, on_conflict=on_conflict)
    if not (crs is None or isinstance(crs, str)):
        raise WrongTypeError(f"crs must be the name of a coordinate reference system, not {shortened(crs)}")
    known = getattr(geometry, "crs", None)
    system = str(known) if crs is None and known is not None else crs
    if isinstance(geometry, str):
        geometry = _parsed_text(geometry)
    if isinstance(geometry, list | tuple) or are_geometries(geometry):
        features = [_as_feature(_interface(each)) for each in geometry]
        return _domain({"type": "FeatureCollection", "features": features}, options, system)
    return _domain(_interface(geometry), options, system)


def _interface(geometry: Any) -> Geometry:
    """Returns the GeoJSON object that a geometry of another package gives of itself."""
    form = getattr(geometry, "__geo_interface__", None)
    if not isinstance(form, Mapping):
        raise OptionError(
            f"a geometry has a __geo_interface__, as shapely's have; this is {type(geometry).__name__!r} without one"
        )
    return form


def _as_feature(form: Geometry) -> Geometry:
    """Returns a feature unchanged, and a geometry as a feature without properties."""
    return form if form.get("type") == "Feature" else {"type": "Feature", "geometry": form, "properties": None}


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
        raise InvalidMeshError(f"this is not well-known text: {error}") from error


def _parsed(path: Path) -> Any:
    data = read_unpacked(path, BYTES_PER_BYTE)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except MemoryError as error:
        raise file_error(error, path, "cannot be read") from error
    except json.JSONDecodeError as error:
        wrong = error.msg.removesuffix(" at")
        raise FileContentError(f"is not JSON: {wrong} at column {error.colno}", path, error.lineno) from error
    except UnicodeDecodeError as error:
        raise FileContentError(f"is not JSON: it is not encoded in UTF-8 (byte {error.start})", path) from error
    except (RecursionError, ValueError) as error:
        raise FileContentError(f"cannot be read as JSON: {error}", path) from error


def _domain(form: Any, options: FeatureOptions, system: str | None) -> Pslg:
    try:
        return domain_of_features(_features(form), options, system=system, what="GeoJSON")
    except RecursionError:
        raise InvalidMeshError("its collections are nested too deeply") from None


def _system(form: Any) -> str:
    """The coordinate reference system: degrees by the standard, unless the older standard's "crs" names another."""
    crs = form.get("crs") if isinstance(form, Mapping) else None
    properties = crs.get("properties") if isinstance(crs, Mapping) else None
    name = properties.get("name") if isinstance(properties, Mapping) else None
    return name if isinstance(name, str) else LONGITUDE_LATITUDE


def _features(form: Any) -> Iterator[tuple[Geometry, str]]:
    """Yields each feature and its name prefix for messages; a bare geometry becomes a feature without properties."""
    kind = kind_of(form, "")
    if kind == "FeatureCollection":
        for k, feature in enumerate(list_in(form, "features", "")):
            if kind_of(feature, f"feature {k}: ") != "Feature":
                raise InvalidMeshError(f"feature {k}: its type is {feature['type']!r}, not 'Feature'")
            yield feature, f"feature {k}: "
    else:
        yield _as_feature(form), ""
