"""Tiles: a mesh is cut, its pieces are refined apart, and what had to wait at the cuts is refined afterwards."""
