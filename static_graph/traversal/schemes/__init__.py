"""The schemes of the papers, one module each, with a common interface `run` (see `outcome.py`)."""
