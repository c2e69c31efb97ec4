"""State of a refinement: the mesh on its device, work lists, records, statistics."""
