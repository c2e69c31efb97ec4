"""Comparisons of devices, sizes and hard inputs."""
