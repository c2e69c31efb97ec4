"""Graphs in compressed sparse rows: construction, checks, generation, degrees, device memory."""
