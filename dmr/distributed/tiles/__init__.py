"""Tiles: a mesh is cut, its pieces are refined apart, and triangles deferred at the cuts are refined afterwards."""
