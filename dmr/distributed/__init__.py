"""Meshes larger than a device: tiles, refined as tasks of processes, Dask or MPI."""
