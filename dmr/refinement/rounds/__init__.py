"""Rounds of a refinement: selection, growth, retriangulation, quality check, and the drivers."""
