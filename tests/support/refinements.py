"""Refinements that are compared on several devices, and the sizes of work that each kind of round takes."""

from __future__ import annotations

# Name: (kind and number of points for `dmr.generate`, options of `dmr.refine`).
CASES = {
    "random": ("random", 2000, {}),
    "area": ("plate", 800, {"max_area": 2e-3}),
    "conforming": ("plate", 800, {"conforming": True}),
    "kept": ("plate", 800, {"keep_segments": "all"}),
    "33 degrees": ("clustered", 600, {"min_angle": 33}),
    "circumcenter": ("random", 600, {"steiner": "circumcenter", "min_angle": 25}),
    "large cavities": ("wheel", 700, {}),
    "more steps than epochs": ("graded", 1000, {"min_angle": 34, "steiner": "off-center"}),
    "off-centers": ("random", 900, {"steiner": "off-center"}),
    "tiny": ("random", 40, {}),
}

_ALL = {"candidates": 10**6, "listed": 10**6, "subsegments": 10**6}
_NONE = {"candidates": 0, "listed": 0, "subsegments": -1}
_FEW = {"candidates": 9, "listed": 60, "subsegments": 10**6}

# Name: (limits of single-block rounds, limits of persistent rounds): everything, nothing, or so little that rounds by
# one team, by some teams and by many teams follow each other.
TEAMS = {
    "one team": (_ALL, None),
    "many teams": (_NONE, None),
    "in turn": (_FEW, None),
    "some teams": (_NONE, {"listed": 10**6, "candidates": -1, "few_listed": 0}),
    "all in turn": (_FEW, {"listed": 300, "candidates": 5, "few_listed": 50}),
}
