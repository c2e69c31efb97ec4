"""Argument parsers of the commands. Kept light: nothing here imports numpy."""
