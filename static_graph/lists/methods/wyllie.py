"""Wyllie's algorithm: pointer jumping doubles distances (`cuda_src/lists/pointer_jumping.cu`)."""

from __future__ import annotations

import numpy as np

from dmr.common.arguments import shortened, whole_option
from dmr.common.text import option
from dmr.memory import DeviceArray, constant
from static_graph.errors import OptionError
from static_graph.lists.methods.jumping import jump_words, ranked
from static_graph.lists.methods.ranked import Ranked

SHORT_LISTS = 1 << constant("SHORT_BITS")  # with 32-bit packing, the total number of elements must be less


def run(successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None, *, packing: int = 64) -> Ranked:
    """Ranks lists; see `Ranked`.

    Args:
        successors, heads, lists: see `Ranked`.
        packing: the number of bits that rank and successor share: 64, or 32 for fewer than 2^16 elements.

    Raises:
        OptionError: the packing is invalid, or there are too many elements for it.
    """
    device, size = successors.device, successors.size
    packing = whole_option("packing", packing)
    if packing not in (32, 64):
        raise OptionError(
            f"{option('packing')} = {shortened(packing)}: rank and successor are packed in 64 bits, or in 32"
        )
    words = device.empty(size, np.uint64)
    if packing == 64:
        device.launch("link_words", size, successors, words)
        rounds = jump_words(words)
    else:
        if size >= SHORT_LISTS:
            raise OptionError(f"{option('packing')} = 32: it is for fewer than {SHORT_LISTS} elements, not {size}")
        short = device.empty(size, np.uint32)
        device.launch("link_short_words", size, successors, short)
        rounds = jump_words(short, "jump_short_words")
        device.launch("widen_words", size, short, words)
    return ranked(words, heads, lists, successors, rounds)
