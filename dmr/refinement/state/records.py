"""Records of meshes and cavities, as the C++ source declares them."""

from __future__ import annotations

from dmr.memory import record

POINT = record("Point")
TRIANGLE = record("Triangle")
SUBSEGMENT = record("Subsegment")
BOUNDARY_EDGE = record("BoundaryEdge")
EXTENT = record("Extent")
