"""Weakly and strongly connected components, and the graph of the strong ones."""
