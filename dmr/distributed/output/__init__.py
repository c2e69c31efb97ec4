"""Results in parts: files with ghost layers, what reads and converts them, and partitions of meshes for solvers."""
