"""The checks of `dmr.validation`, one module per check: exact, and independent of the kernels."""
