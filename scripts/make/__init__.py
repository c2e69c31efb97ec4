"""Generators of pages and pictures of the documentation."""
