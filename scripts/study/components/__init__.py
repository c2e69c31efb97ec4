"""Study of the graph engine and of components; the command is in `__main__.py`."""
