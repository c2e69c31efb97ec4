"""The kinds of generated lists (`generation.py`). Imports nothing heavy: the command line names them."""

from __future__ import annotations

KINDS = ("ordered", "ordered-unbalanced", "random-balanced", "random")
