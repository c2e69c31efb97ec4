"""Domains from code and from geometries: builders of `dmr.Pslg` for the common shapes.

plate = dmr.domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[dmr.domains.circle_points(0.5, 32, (1, 1))])
fine = dmr.refine(plate, min_angle=30, max_area=0.01)

    rings       what a closed outline is, and what is refused
    interior    which points lie inside one, exactly; a point strictly inside, far from its boundary
    shapes      polygon, rectangle, circle, regular_polygon, polyline
    composing   merge, with_regions, with_holes
    faces       the places that segments enclose, by a triangulation
    coverage    several polygons at once: neighbours that share borders, islands in lakes, gaps
    features    GeoJSON's features: geometries, and properties that give regions, sizes and markers
    geojson     GeoJSON, and geometries of shapely and whatever else speaks its interface
    gis_files   files with features, by their suffixes: GeoJSON, GeoPackages, shapefiles
    projecting  longitudes and latitudes into a plane, by pyproj

Coordinates are never touched, unless a projection is asked for: each vertex of a result has the very doubles that were
given. Only numpy is needed, and our own triangulation for `polygons` and the readers of features.
"""

from dmr.domains.composing import merge, with_holes, with_regions
from dmr.domains.coverage import polygons
from dmr.domains.geojson import from_geojson, from_shapely
from dmr.domains.gis_files import from_file
from dmr.domains.interior import interior_point
from dmr.domains.shapes import circle, circle_points, polygon, polyline, rectangle, regular_polygon

__all__ = [
    "circle",
    "circle_points",
    "from_file",
    "from_geojson",
    "from_shapely",
    "interior_point",
    "merge",
    "polygon",
    "polygons",
    "polyline",
    "rectangle",
    "regular_polygon",
    "with_holes",
    "with_regions",
]
