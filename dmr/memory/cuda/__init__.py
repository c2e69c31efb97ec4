"""The GPU backend: the kernels as CUDA modules, launched through PyCUDA in the primary context."""
