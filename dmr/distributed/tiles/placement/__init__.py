"""Placement of points by size in tiles."""
