"""Functions that the pointer-jumping methods share (`cuda_src/lists/pointer_jumping.cu`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dmr.memory import Device, DeviceArray, constant
from static_graph.lists.methods.ranked import Ranked

JUMPS = constant("JUMPS")  # per launch


def jump_until_done(
    device: Device, size: int, growth: int, jump: Callable[[DeviceArray], None], *, asking: bool = True
) -> int:
    """Launches jumps until all elements are finished.

    Args:
        device: the device.
        size: number of elements.
        growth: the least factor by which a launch increases distances.
        jump: does one launch; its argument is a flag that the kernel sets if elements are unfinished.
        asking: whether to end as soon as the flag stays clear.

    Returns:
        The number of launches. It is bounded: elements unfinished after the launches that the longest list needs are on
        a cycle.
    """
    unfinished = device.empty(1, np.int32)
    reached, rounds = 1, 0
    while reached < 2 * size:
        if asking or not rounds:
            unfinished.fill(0)
        jump(unfinished)
        rounds += 1
        reached *= growth
        if asking and not unfinished.download()[0]:
            break
    return rounds


def jump_words(words: DeviceArray, kernel: str = "jump_words", *, asking: bool = True) -> int:
    """Runs Wyllie's algorithm on linked words, in place; returns the number of launches.

    Args:
        words: the words; kernel: one launch.
        asking: whether to ask after each launch if elements are unfinished, which waits for the device; otherwise the
            launches that the longest list needs follow each other.
    """
    device = words.device
    return jump_until_done(
        device, words.size, JUMPS + 1, lambda unfinished: device.launch(kernel, words.size, words, unfinished),
        asking=asking,
    )  # fmt: skip


def rank_words(words: DeviceArray, heads: DeviceArray, weighed: DeviceArray | None = None) -> DeviceArray:
    """Replaces (distance to the last element, last element) by (rank, list), in place.

    Args:
        words: the words after all jumps.
        heads: the first elements of the lists.
        weighed: the words before the jumps, if elements have weights.

    Returns:
        (k,) int32: the lengths of the lists.
    """
    device, count = words.device, heads.size
    numbers, spans, lengths = device.empty(words.size, np.int32), device.empty(count, np.int32), None
    numbers.fill(255)
    lengths = device.empty(count, np.int32)
    device.launch("number_tails", count, words, heads, weighed, numbers, spans, lengths)
    device.launch("rank_words", words.size, numbers, spans, words)
    return lengths


def ranked(
    words: DeviceArray, heads: DeviceArray, lists: DeviceArray | None, ranks: DeviceArray, rounds: int
) -> Ranked:
    """Makes the result from words after all jumps; writes the ranks to `ranks`."""
    lengths = rank_words(words, heads)
    words.device.launch("split_words", words.size, words, ranks, lists)
    return Ranked(ranks, lengths, {"rounds": rounds})
