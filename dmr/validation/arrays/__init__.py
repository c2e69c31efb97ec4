"""Multithreaded operations on the long arrays of a mesh."""
