"""Wyllie's algorithm with loads on demand: finished elements do not load their successor (slides, optimization II)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.lists.methods.jumping import jump_until_done, ranked
from static_graph.lists.methods.ranked import Ranked

TEAM_SIZE = 256  # TEAM_SIZE of cuda_src/portable/words.cuh


def run(successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None) -> Ranked:
    """Ranks lists; see `Ranked`."""
    device, size = successors.device, successors.size
    words, teams = device.empty(size, np.uint64), device.tiles(size, TEAM_SIZE)
    device.launch("link_marked_words", size, successors, words)
    rounds = jump_until_done(
        device, size, 2, lambda unfinished: device.launch("jump_on_demand", teams, size, words, unfinished)
    )
    device.launch("unmark_words", size, words)
    return ranked(words, heads, lists, successors, rounds)
