"""Rings, features and collections for the tests of domains."""

from __future__ import annotations

from typing import Any


def square(x: float, y: float, size: float) -> list[tuple[float, float]]:
    """Corners of a square, counter-clockwise from its lower left corner (x, y)."""
    return [(x, y), (x + size, y), (x + size, y + size), (x, y + size)]


def closed(ring: Any) -> list[list[float]]:
    """Ring that ends with its first point, as GeoJSON wants it."""
    return [list(point) for point in [*ring, ring[0]]]


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    """Feature with a geometry of some type."""
    return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}


def collection(*features: Any) -> dict[str, Any]:
    """Collection of features."""
    return {"type": "FeatureCollection", "features": list(features)}
