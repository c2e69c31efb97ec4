"""What `dmr.refinement` is made of: the door, the mesh on a device, cavities, marking, the books."""
