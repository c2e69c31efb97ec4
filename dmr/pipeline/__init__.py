"""The parts of `dmr.refinement`: admission, the mesh on a device, cavities, marking, statistics."""
