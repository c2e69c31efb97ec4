"""Checks of a mesh against the mesh or the outline that it was made from."""
