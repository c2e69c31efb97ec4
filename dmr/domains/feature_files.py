"""File names of features: GeoJSON, which may be compressed, GeoPackage and shapefile."""

from __future__ import annotations

from pathlib import Path

from dmr.common.files.compressed import without_packing

GEOJSON = (".geojson", ".json")
THROUGH_PYOGRIO = (".gpkg", ".shp")


def holds_features(path: Path) -> bool:
    """Whether a file with this name is read as features; only GeoJSON may be compressed."""
    return path.suffix.lower() in THROUGH_PYOGRIO or without_packing(path).suffix.lower() in GEOJSON
