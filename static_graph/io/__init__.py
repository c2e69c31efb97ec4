"""Readers and writers of graphs, chosen by suffix; readers of arrays, and writers of results."""

from static_graph.io.arrays import read_array
from static_graph.io.columns import check_columns_target, write_columns
from static_graph.io.formats import check_graph_target, read, write

__all__ = ["check_columns_target", "check_graph_target", "read", "read_array", "write", "write_columns"]
