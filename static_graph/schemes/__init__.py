"""The schemes of the papers, one module each: a function `run` that all of them have alike (see `outcome.py`)."""
