"""Mesh readers and writers, selected by file suffix ("File formats" in the documentation has what each stores)."""

from dmr.io.formats import read, read_edges, read_neighbours, read_values, write
from dmr.io.meshio_files.objects import from_meshio, to_meshio
from dmr.io.source_lines import locate, numbering_base, numbers_in, vertex_file
from dmr.triangle.names import next_name

__all__ = [
    "from_meshio",
    "locate",
    "next_name",
    "numbering_base",
    "numbers_in",
    "read",
    "read_edges",
    "read_neighbours",
    "read_values",
    "to_meshio",
    "vertex_file",
    "write",
]
