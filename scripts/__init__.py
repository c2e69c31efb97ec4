"""Benchmarks, studies, comparisons and generators of pages; run from the root as `python -m scripts.NAME`."""
