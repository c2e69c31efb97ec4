"""Converts features with geometries and properties, as in GeoJSON, to one domain."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dmr.common.arguments import chosen, real, shortened
from dmr.common.text import counted, option, remedy
from dmr.domains.composing import with_names
from dmr.domains.coverage import Patch, cover
from dmr.domains.projecting import Projection, is_geographic, note_degrees
from dmr.domains.rings import checked_chain, checked_points, why_empty, without_repetitions
from dmr.domains.shapes import polyline
from dmr.errors import InvalidMeshError, WrongTypeError, printable
from dmr.mesh.names import is_name
from dmr.mesh.types import Float, Pslg
from dmr.triangulation.options import CONFLICT_POLICIES

log = logging.getLogger("dmr")

Geometry = Mapping[str, Any]
# Single geometries, and multi-part geometries with the type of their parts. shapely also has single rings (LinearRing).
_SINGLE = {"Polygon": "Polygon", "LineString": "LineString", "LinearRing": "LineString", "Point": "Point"}
_MULTIPLE = {"MultiPolygon": "Polygon", "MultiLineString": "LineString", "MultiPoint": "Point"}


# The number of the first name. Boundary segments without a marker get 1 when the domain is triangulated.
_FIRST = {"attribute": 1, "marker": 2}


@dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """Options for converting features to a domain.

    Attributes:
        attribute, area, marker: names of the properties with the region attribute, the maximum area and the marker.
            Attribute and marker may be texts, which become names.
        project: the coordinate reference system to project to.
        on_conflict: "resolve" omits rings that enclose nothing, "error" rejects them.

    Raises:
        OptionError: a value is invalid; the message names it.
    """

    attribute: str | None = None
    area: str | None = None
    marker: str | None = None
    project: str | None = None
    on_conflict: str = CONFLICT_POLICIES[0]

    def __post_init__(self) -> None:
        for name, what in (
            ("attribute", "the name of a property"),
            ("area", "the name of a property"),
            ("marker", "the name of a property"),
            ("project", "the name of a coordinate reference system"),
        ):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise WrongTypeError(f"{option(name)} must be {what}, not {shortened(value)}")
        chosen("on_conflict", self.on_conflict, CONFLICT_POLICIES)

    def properties(self) -> dict[str, str]:
        """Maps each option that is set to the name of its property."""
        named = {"attribute": self.attribute, "area": self.area, "marker": self.marker}
        return {what: name for what, name in named.items() if name is not None}


@dataclass
class _Content:
    """The features collected so far.

    Attributes:
        first_empty: the name of the first ring that encloses nothing, and the reason.
        empty_rings: the number of such rings.
        missing: by property, the number of features without it, and the first of them.
        numeric: the options whose properties have numbers.
        named: the numbers given to names, by option.
        low, high: corners of the bounding box, before projection.
    """

    options: FeatureOptions
    projection: Projection | None
    patches: list[Patch] = field(default_factory=list)
    others: list[Pslg] = field(default_factory=list)
    properties: set[str] = field(default_factory=set)
    repeated: int = 0
    heights: int = 0
    empty: int = 0
    empty_rings: int = 0
    first_empty: str = ""
    missing: dict[str, tuple[int, str]] = field(default_factory=dict)
    numeric: set[str] = field(default_factory=set)
    named: dict[str, dict[str, int]] = field(default_factory=lambda: {what: {} for what in _FIRST})
    low: Float = field(default_factory=lambda: np.full(2, np.inf))
    high: Float = field(default_factory=lambda: np.full(2, -np.inf))


def domain_of_features(
    features: Iterable[tuple[Geometry, str]], options: FeatureOptions, *, system: str | None, what: str
) -> Pslg:
    """Converts features to a domain.

    Args:
        features: GeoJSON features, each with the prefix of its name in messages ("feature 3: ").
        options: options for the conversion.
        system: the coordinate reference system of the coordinates; None if it is unknown.
        what: the source of the features, for the log.

    Raises:
        InvalidMeshError: a geometry or property is invalid; the message names feature, part, ring and vertex.
        OptionError, DmrError: the coordinates cannot be projected as requested.
    """
    projection = None
    if options.project is not None:
        if system is None:
            raise InvalidMeshError(
                "it names no coordinate reference system to project from (a .shp has it in a .prj beside it; "
                "from_shapely takes crs=)"
            )
        projection = Projection(system, options.project)
    content = _Content(options, projection)
    for feature, where in features:
        _collect(content, feature, where)
    for name in options.properties().values():
        if name not in content.properties:
            raise InvalidMeshError(unknown_property(name, map(printable, content.properties)))
    _warn(content, what)
    if not content.patches and not content.others:
        none = f" that encloses anything: {content.first_empty}" if content.empty_rings else ", line or point"
        raise InvalidMeshError(f"it holds no polygon{none}")
    if projection is None and system is not None and is_geographic(system):
        note_degrees(content.low, content.high, what)
    regions, markers = ({number: name for name, number in content.named[what].items()} for what in _FIRST)
    return with_names(cover(content.patches, content.others), regions=regions, markers=markers)


def unknown_property(name: str, known: Iterable[str]) -> str:
    """Formats the error about a property that no feature has; `known` are those that there are."""
    names = ", ".join(sorted(known))
    return f"no feature has the property {name!r}; {f'there are: {names}' if names else 'the features have none'}"


def _warn(content: _Content, what: str) -> None:
    """Logs what was left out."""
    for count, *left_out in (
        (
            content.repeated,
            "point that repeats the one before was left out",
            "points that repeat the one before were left out",
        ),
        (
            content.heights,
            "third coordinate was left out: the domain lies in the plane",
            "third coordinates were left out: the domain lies in the plane",
        ),
        (
            content.empty,
            "feature or part of one is empty and was left out",
            "features or parts of them are empty and were left out",
        ),
    ):
        if count:
            log.warning("%s: %s", what, counted(count, *left_out))
    if content.empty_rings:
        log.warning(
            "%s: %s left out (the first: %s)%s",
            what,
            counted(content.empty_rings, "ring encloses nothing and is", "rings enclose nothing and are"),
            content.first_empty,
            remedy("on_conflict", "error", " refuses them"),
        )
    for name, (count, first) in content.missing.items():
        log.warning(
            "%s: %s no property %r and %s 0 for it (the first: %s)",
            what,
            counted(count, "feature has", "features have"),
            printable(name),
            "gets" if count == 1 else "get",
            first,
        )


def _collect(content: _Content, feature: Geometry, where: str) -> None:
    geometry = feature.get("geometry")
    if geometry is None:
        content.empty += 1
        return
    properties = feature.get("properties")
    properties = {} if properties is None else properties
    if not isinstance(properties, Mapping):
        raise InvalidMeshError(f"{where}its properties are not an object")
    content.properties.update(str(name) for name in properties)
    options = content.options
    attribute = _number_or_name(content, "attribute", properties, options.attribute, where)
    area = _number(properties, options.area, where)
    marker = _number_or_name(content, "marker", properties, options.marker, where)
    if marker != int(marker) or abs(marker) >= 2**31:
        raise InvalidMeshError(
            f"{where}the property {options.marker!r} must be a whole number of 32 bits, not {marker:g}"
        )
    parts = list(_parts(geometry, where))
    covers = any(kind == "Polygon" for kind, _, _ in parts)
    _count_missing(content, properties, where, [options.marker, *([options.attribute, options.area] if covers else [])])
    for kind, coordinates, part in parts:
        if not isinstance(coordinates, list | tuple):
            raise InvalidMeshError(f"{part}the coordinates of a {kind} must be a list")
        if not coordinates:
            content.empty += 1
        elif kind == "Polygon":
            rings = _rings(content, coordinates, part)
            if rings:
                attributed = None if options.attribute is None else attribute
                patch = Patch(rings=rings, attribute=attributed, area=max(area, 0.0), marker=int(marker))
                content.patches.append(patch)
        elif kind == "LineString":
            chain = checked_chain(_positions(content, coordinates, f"{part}the line"), f"{part}the line")
            content.others.append(polyline(chain, markers=int(marker)))
        else:
            point = _positions(content, [coordinates], f"{part}the point")
            markers = np.array([int(marker)]) if marker else None
            content.others.append(Pslg(point, np.empty((0, 2), np.int32), vertex_markers=markers))


def _count_missing(content: _Content, properties: Mapping[str, Any], where: str, names: Iterable[str | None]) -> None:
    """Counts the feature under each of these properties that it lacks."""
    for name in dict.fromkeys(names):
        if name is not None and _value(properties, name) is None:
            count, first = content.missing.get(name, (0, where.removesuffix(": ") or "the only one"))
            content.missing[name] = (count + 1, first)


def _rings(content: _Content, coordinates: Any, part: str) -> tuple[Float, ...]:
    """The rings of a polygon that enclose something, the outline first; empty if the outline encloses nothing."""
    rings: list[Float] = []
    for k, each in enumerate(coordinates):
        name = f"{part}{_ring_name(k)}"
        ring = _positions(content, each, name)
        if len(ring) > 1 and (ring[0] == ring[-1]).all():
            ring = ring[:-1]
        reason = why_empty(ring)
        if reason is None:
            rings.append(ring)
            continue
        if content.options.on_conflict == "error":
            raise InvalidMeshError(
                f"{name} encloses nothing: {reason}; {option('on_conflict', 'resolve')} leaves it out"
            )
        content.empty_rings += 1
        content.first_empty = content.first_empty or f"{name}, since {reason}"
        if k == 0:
            return ()
    return tuple(rings)


def _parts(geometry: Any, where: str) -> Iterator[tuple[str, Any, str]]:
    """Yields the single polygons, lines and points of a geometry: kind, coordinates, name."""
    kind = kind_of(geometry, where)
    if kind in _SINGLE:
        yield _SINGLE[kind], list_in(geometry, "coordinates", where), where
    elif kind in _MULTIPLE:
        for k, coordinates in enumerate(list_in(geometry, "coordinates", where)):
            yield _MULTIPLE[kind], coordinates, f"{where}part {k}: "
    elif kind == "GeometryCollection":
        for k, part in enumerate(list_in(geometry, "geometries", where)):
            yield from _parts(part, f"{where}geometry {k}: ")
    else:
        known = ", ".join([*_SINGLE, *_MULTIPLE, "GeometryCollection", "Feature", "FeatureCollection"])
        raise InvalidMeshError(f"{where}the type {kind!r} is not known; known are {known}")


def _positions(content: _Content, coordinates: Any, name: str) -> Float:
    """Converts a list of positions to (n, 2), without third coordinates and consecutive duplicates."""
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
    if len(kept):
        content.low = np.minimum(content.low, kept.min(axis=0))
        content.high = np.maximum(content.high, kept.max(axis=0))
        if content.projection is not None:
            kept = without_repetitions(content.projection(kept, name))
    return kept


def _ring_name(k: int) -> str:
    return f"hole {k - 1}" if k else "the outline"


def kind_of(form: Any, where: str) -> str:
    """The type of a GeoJSON object; raises InvalidMeshError if it has none."""
    if not isinstance(form, Mapping) or not isinstance(form.get("type"), str):
        raise InvalidMeshError(f"{where}this is not a GeoJSON object: it has no type")
    return str(form["type"])


def list_in(form: Geometry, name: str, where: str) -> Any:
    """The named list of a GeoJSON object; raises InvalidMeshError if there is none."""
    found = form.get(name)
    if not isinstance(found, list | tuple):
        raise InvalidMeshError(f"{where}the {form['type']} has no list of {name}")
    return found


def _value(properties: Mapping[str, Any], name: str | None) -> Any:
    """The property; None if it is missing or a blank text, which tables of attributes have where nothing is known."""
    value = properties.get(name) if name is not None else None
    return None if isinstance(value, str) and not value.strip() else value


def _number_or_name(content: _Content, what: str, properties: Mapping[str, Any], name: str | None, where: str) -> float:
    """The number in a property; texts are names, which are numbered in the order in which they appear first."""
    value = _value(properties, name)
    if value is None:
        return 0.0
    numbers = content.named[what]
    if not isinstance(value, str):
        content.numeric.add(what)
        number = _number(properties, name, where)
    elif is_name(value):
        number = numbers.setdefault(value, _FIRST[what] + len(numbers))
    else:
        raise InvalidMeshError(
            f"{where}the property {name!r} must be a number, or a printable name without quotation marks and "
            f"backslashes, not {shortened(value)}"
        )
    if numbers and what in content.numeric:
        raise InvalidMeshError(f"{where}the property {name!r} is {shortened(value)}: use only numbers or only names")
    return number


def _number(properties: Mapping[str, Any], name: str | None, where: str) -> float:
    value = _value(properties, name)
    if value is None:
        return 0.0
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else real(value)
    except ValueError as error:
        raise InvalidMeshError(f"{where}the property {name!r} must be a number: {error}") from None
    if not math.isfinite(number):
        raise InvalidMeshError(f"{where}the property {name!r} must be a number, not {shortened(value)}")
    return number
