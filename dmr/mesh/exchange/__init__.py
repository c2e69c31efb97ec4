"""Meshes and graphs in the forms of other packages: scikit-fem, and the dictionaries of the `triangle` package."""
