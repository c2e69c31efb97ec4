"""The checks of `dmr.validation`, a module each: exact, and independent of every kernel."""
