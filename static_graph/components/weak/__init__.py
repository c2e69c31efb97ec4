"""Methods for weak components."""
