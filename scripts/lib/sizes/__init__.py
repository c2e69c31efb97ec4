"""Domains with sizes, and Gmsh's meshes of them."""
