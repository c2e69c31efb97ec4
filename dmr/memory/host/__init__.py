"""The CPU backend: the kernels as a native library, its threads over the index range."""
