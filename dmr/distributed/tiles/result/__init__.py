"""Refined tiles as pieces of the result."""
