"""Methods for strong components."""
