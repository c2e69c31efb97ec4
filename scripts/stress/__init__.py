"""Calls from many threads at once."""
