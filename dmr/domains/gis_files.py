"""Domains from files of geographic information systems: GeoJSON, and, by pyogrio, GeoPackage and shapefile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dmr.common.arguments import checks_keywords, shortened
from dmr.common.text import option
from dmr.domains.feature_files import GEOJSON, THROUGH_PYOGRIO, holds_features
from dmr.domains.features import FeatureOptions, Geometry, domain_of_features, unknown_property
from dmr.domains.geojson import from_geojson
from dmr.errors import DmrError, FileContentError, InvalidMeshError, MissingFileError, OptionError, WrongTypeError
from dmr.mesh.arguments import file_path
from dmr.mesh.types import Pslg


@checks_keywords
def from_file(
    path: str | os.PathLike[str],
    *,
    layer: str | None = None,
    attribute: str | None = None,
    area: str | None = None,
    on_conflict: str = "resolve",
    marker: str | None = None,
    project: str | None = None,
) -> Pslg:
    """Reads a file with features as a domain, in the same way as `from_geojson`.

    Args:
        path: `.geojson` or `.json`, optionally compressed (`.geojson.gz`, `.bz2`, `.xz`); `.gpkg` or `.shp`, which
            require pyogrio and shapely, the extra [gis] of this package.
        layer: the layer of a `.gpkg`; may be None if only one layer has geometries.
        attribute, area, on_conflict, marker, project: as for `from_geojson`. `project` projects from the system that
            the file names.

    Raises:
        FileError: the file cannot be read, or contains no domain; the message names feature, part, ring and vertex.
        OptionError: the suffix, layer or coordinate reference system is unknown.
        DmrError: a package is missing.
    """
    options = FeatureOptions(attribute=attribute, area=area, marker=marker, project=project, on_conflict=on_conflict)
    if not (layer is None or isinstance(layer, str)):
        raise WrongTypeError(f"{option('layer')} must be the name of a layer, not {shortened(layer)}")
    path = file_path(path)
    if not holds_features(path):
        known = " ".join((*GEOJSON, *THROUGH_PYOGRIO))
        raise OptionError(f"{path}: features are read from {known}, the first two also with .gz, .bz2 or .xz behind")
    if path.suffix.lower() in THROUGH_PYOGRIO:
        return _through_pyogrio(path, layer, options)
    if layer is not None:
        raise OptionError(f"{path}: GeoJSON has no layers; {option('layer')} is for .gpkg")
    return from_geojson(path, attribute=attribute, area=area, marker=marker, project=project, on_conflict=on_conflict)


def _through_pyogrio(path: Path, layer: str | None, options: FeatureOptions) -> Pslg:
    try:
        import pyogrio
        import shapely
    except ImportError as error:
        raise DmrError(
            f"{path}: {path.suffix} is read with pyogrio and shapely, the extra [gis] of this package: "
            f"pip install pyogrio shapely ({error})"
        ) from error
    if not path.exists():
        raise MissingFileError("does not exist", path)
    try:
        layer = _layer(path, layer, pyogrio.list_layers(path))
        fields = [str(name) for name in pyogrio.read_info(path, layer=layer)["fields"]]
        wanted = [name for name in fields if name in options.properties().values()]
        meta, _, geometries, columns = pyogrio.raw.read(path, layer=layer, columns=wanted, force_2d=True)
        shapes = shapely.from_wkb(geometries)
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, shapely.errors.ShapelyError) as error:
        raise FileContentError(f"cannot be read as {path.suffix}: {error}", path) from error
    missing = [name for name in options.properties().values() if name not in fields]
    if missing:
        raise FileContentError(unknown_property(missing[0], fields), path)
    names = [str(name) for name in meta["fields"]]
    features = _features(shapes, dict(zip(names, columns, strict=True)))
    try:
        return domain_of_features(features, options, system=meta["crs"] or None, what=path.name)
    except InvalidMeshError as error:
        raise FileContentError(f"holds no domain: {error}", path) from error


def _layer(path: Path, layer: str | None, layers: Any) -> str:
    """The layer to read: the requested one, or the only one with geometries."""
    names = [str(name) for name, kind in layers if kind is not None]
    if layer is not None:
        if layer not in names:
            raise OptionError(f"{path} has no layer {layer!r} with geometries; there are: {', '.join(names) or 'none'}")
        return layer
    if len(names) != 1:
        remedy = f"; choose one by {option('layer', names[0])}" if names else ""
        raise FileContentError(f"has {len(names)} layers with geometries: {', '.join(names)}{remedy}", path)
    return names[0]


def _features(shapes: Any, columns: dict[str, Any]) -> Iterator[tuple[Geometry, str]]:
    """Yields GeoJSON features from geometries and from columns of properties; a missing value is None."""
    values = {name: _plain(column) for name, column in columns.items()}
    for k, shape in enumerate(shapes):
        geometry = None if shape is None or shape.is_empty else shape.__geo_interface__
        properties = {name: column[k] for name, column in values.items()}
        yield {"type": "Feature", "geometry": geometry, "properties": properties}, f"feature {k}: "


def _plain(column: Any) -> list[Any]:
    """The Python values of a column; integers with missing values arrive as floats, the missing values as NaN."""
    if column.dtype.kind == "f":
        return [None if np.isnan(value) else value for value in column.tolist()]
    return list(column.tolist())
