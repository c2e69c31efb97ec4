"""Helpers of the scripts: inputs, timing, machines, processes, records."""
