"""Readers and writers of Triangle's files: .node, .ele, .poly, .area, .edge, .neigh."""
