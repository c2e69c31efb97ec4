"""Readers and writers of graphs and arrays, and writers of results; the file suffix selects the format."""

from static_graph.io.arrays import check_array_target, read_array, write_array
from static_graph.io.columns import check_columns_target, write_columns
from static_graph.io.formats import check_graph_target, read, write
from static_graph.io.parquet import write_partitioned

__all__ = [
    "check_array_target",
    "check_columns_target",
    "check_graph_target",
    "read",
    "read_array",
    "write",
    "write_array",
    "write_columns",
    "write_partitioned",
]
