"""Graphs and sources of the traversal measurements."""
