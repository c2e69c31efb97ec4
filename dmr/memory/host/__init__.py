"""The CPU backend: kernels in a native library, whose threads share the index range."""
