"""The kinds of generated trees (`generation.py`). Imports nothing heavy: the command line names them."""

from __future__ import annotations

KINDS = ("random-binary", "path", "star", "caterpillar")
