"""numpy dtypes of the structs in `cuda_src`."""

from __future__ import annotations

import numpy as np

from dmr.memory import register_record

POINT = np.dtype([("x", "f8"), ("y", "f8")])
TRIANGLE = np.dtype([("vertex", "i4", 3), ("link", "i4", 3), ("owner", "u8")])
SUBSEGMENT = np.dtype([("from", "i4"), ("to", "i4"), ("left", "i4"), ("right", "i4")])
BOUNDARY_EDGE = np.dtype([("vertex", "i4"), ("across", "i4")])
EXTENT = np.dtype([("members", "i4"), ("edges", "i4"), ("left_edges", "i4")])
BOX = np.dtype([("low_x", "f8"), ("low_y", "f8"), ("high_x", "f8"), ("high_y", "f8")])

for _name, _dtype in (
    ("Point", POINT),
    ("Triangle", TRIANGLE),
    ("Subsegment", SUBSEGMENT),
    ("BoundaryEdge", BOUNDARY_EDGE),
    ("Extent", EXTENT),
    ("Box", BOX),
):
    register_record(_name, _dtype)
