"""Sequential ranking (`cuda_src/lists/sequential_ranking.cu`): one CPU thread follows the successors."""

from __future__ import annotations

import numpy as np

from dmr.memory import DeviceArray
from static_graph.lists.methods.ranked import Ranked


def run(successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None) -> Ranked:
    """Ranks lists; see `Ranked`. The successors are not overwritten."""
    device = successors.device
    ranks, lengths = device.empty(successors.size, np.int32), device.empty(heads.size, np.int32)
    device.launch("rank_in_sequence", 1, successors, successors.size, heads, heads.size, ranks, lists, lengths)
    return Ranked(ranks, lengths)
