"""Builds domains (`dmr.Pslg`) from common shapes, and from geometries of other programs and files.

plate = dmr.domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], holes=[dmr.domains.circle_points(0.5, 32, (1, 1))])
fine = dmr.refine(plate, min_angle=30, max_area=0.01)

    rings       checks of closed outlines and open chains
    interior    exact point-in-polygon test; a point strictly inside, far from the boundary
    shapes      polygon, rectangle, circle, regular_polygon, polyline
    composing   merge, with_regions, with_holes, with_markers, with_names
    faces       the faces that segments enclose, by a triangulation
    coverage    several polygons at once: neighbours that share borders, islands in lakes, gaps
    features    GeoJSON features: geometries, and properties that give regions, sizes and markers
    geojson     GeoJSON, and geometries of shapely and of other packages with `__geo_interface__`
    gis_files   files with features, by suffix: GeoJSON, GeoPackage, shapefile
    projecting  projection of longitudes and latitudes to a plane, by pyproj

Coordinates are never changed unless a projection is requested: each vertex of a result has exactly the doubles that
were given. The builders need only numpy; `polygons` and the readers of features also use our own triangulation.
"""

from dmr.domains.composing import merge, with_holes, with_markers, with_names, with_regions
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
    "with_markers",
    "with_names",
    "with_regions",
]
