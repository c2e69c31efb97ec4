"""Kernels under compute-sanitizer on a GPU."""
