"""Placement of points by size: divided outlines, an advancing front, and smoothing."""
