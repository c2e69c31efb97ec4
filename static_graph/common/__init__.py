"""Modules that graphs, traversals, lists and trees share."""
