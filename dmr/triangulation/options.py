"""The words that choose how an outline is triangulated; the first of each is the default."""

from __future__ import annotations

CONFLICT_POLICIES = ("resolve", "error")
MESHERS = ("dmr", "triangle")
METHODS = ("auto", "serial", "rounds")
