"""Optimisation of a finished mesh: vertices are moved and edges flipped, so that angles become better."""
