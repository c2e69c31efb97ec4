"""Checks that a mesh is a constrained Delaunay triangulation."""
