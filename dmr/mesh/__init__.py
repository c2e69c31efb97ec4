"""The mesh and the planar straight-line graph as values, and what is derived from them."""
