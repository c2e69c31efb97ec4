"""Wyllie's algorithm in lock-step: one jump per launch, and a check by the host after each (slides, Algorithm 4)."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.lists.methods.jumping import jump_until_done, ranked
from static_graph.lists.methods.ranked import Ranked


def run(successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None) -> Ranked:
    """Ranks lists; see `Ranked`. All elements read the results of the previous launch."""
    device, size = successors.device, successors.size
    words = [device.empty(size, np.uint64) for _ in range(2)]
    device.launch("link_words", size, successors, words[0])

    def jump(unfinished: DeviceArray) -> None:
        device.launch("jump_once", size, words[0], words[1], unfinished)
        words.reverse()

    rounds = jump_until_done(device, size, 2, jump)
    return ranked(words[0], heads, lists, successors, rounds)
