"""Recursive Helman-JaJa: sublists between splitters, and the list of the sublists (`cuda_src/graph/ruling_set.cu`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dmr.memory import Device, DeviceArray, Packed, open_device, pack, shortened
from static_graph.errors import OptionError
from static_graph.options import choice, whole
from static_graph.rankers.jumping import jump_words, turn_words
from static_graph.rankers.ranked import Ranked

RULES = ("n / log n", "n / (2 log^2 n)")
SPACINGS = ("random", "equal")
FINISHES = ("one", "cpu", "wyllie")

# Elements a splitter, where nothing is asked for, and where the recursion ends: on a GPU and on a CPU. A CPU follows a
# list that is in its caches about as fast as it could cut it; a GPU never does.
GPU_SUBLIST, CPU_SUBLIST = 32, 64
GPU_FINISH, CPU_FINISH = 128, 2**15
GPU_LANES = 1536  # a multiprocessor: threads that walk, each one way after another, all at the same time
CPU_LANES = 16  # a thread: shares that even out the load
SALT = 0x5EED


@dataclass(frozen=True)
class Plan:
    """How lists are cut.

    Attributes:
        splitters: a rule for their number (`RULES`), their number on the first level, or None.
        spacing: "random": in each block of elements at a place drawn by a hash; "equal": at equal intervals.
        finish: who ranks the last list: "one" thread a list, the "cpu" likewise, or "wyllie".
        finish_size: the recursion goes on while more elements than that can be splitters.
    """

    splitters: str | int | None
    spacing: str
    finish: str
    finish_size: int

    def blocks(self, size: int, first: int, device: Device) -> int:
        """Into how many blocks `size` elements are cut, of `first` on the first level."""
        if self.splitters == RULES[0]:
            wanted = size / max(math.log2(size), 1)
        elif self.splitters == RULES[1]:
            wanted = size / max(2 * math.log2(size) ** 2, 1)
        elif self.splitters is None:
            wanted = size / (CPU_SUBLIST if device.threads else GPU_SUBLIST)
        else:
            wanted = int(self.splitters) * size / first
        return max(min(int(wanted), size // 2), 1)

    def packed(self, size: int, first: int, device: Device) -> tuple[Packed, int]:
        """`Splitters` of ruling_set.cu, and the number of blocks."""
        scale = (self.blocks(size, first, device) << 32) // size
        blocks = ((size - 1) * scale >> 32) + 1
        hashed = int(self.spacing == "random")
        return pack("Splitters", among=size, blocks=blocks, scale=scale, hashed=hashed, salt=SALT + size), blocks


def run(
    successors: DeviceArray,
    heads: DeviceArray,
    lists: DeviceArray | None,
    *,
    splitters: str | int | None = None,
    spacing: str = "random",
    finish: str = "one",
    finish_size: int | None = None,
) -> Ranked:
    """As `Ranked` says.

    Args:
        successors, heads, lists: as there.
        splitters: "n / log n", "n / (2 log^2 n)", or how many the first level has; deeper levels follow the rule, or
            keep the proportion.
        spacing: "random" or "equal" (intervals).
        finish: of the last level: "one", "cpu" or "wyllie".
        finish_size: how many elements that could be splitters it may have; 1: one element, and the heads.

    Raises:
        OptionError: an option that cannot be.
    """
    device, size = successors.device, successors.size
    plan = _checked(splitters, spacing, finish, finish_size, size, device)
    if size <= plan.finish_size:
        return _wide(plan, successors, heads, lists)
    cut, blocks = plan.packed(size, size, device)
    walkers = blocks + heads.size
    bits = _step_bits(size, walkers)
    if 2**bits * blocks < 2 * size:  # too many lists: steps beside the number would be few
        return _wide(plan, successors, heads, lists)
    reduced = device.empty(walkers + (size >> bits), np.uint64)
    if plan.finish == "wyllie" and size >> bits:  # who jumps over all of them, also the numbers that nobody takes
        reduced[walkers:].fill(255)  # with no successor
    reduced_heads, added = device.empty(heads.size, np.int32), device.zeros(1, np.int32)
    lanes = _lanes(device, walkers)
    device.launch(
        "walk_successors",
        lanes, successors, size, cut, heads, walkers, lanes, bits, reduced.size, reduced, reduced_heads, added,
    )  # fmt: skip
    lengths, levels = _rank_words(plan, reduced, blocks, size, reduced_heads)
    device.launch("join_ranks", size, reduced, reduced.size, bits, successors, lists)
    return Ranked(successors, lengths, {"levels": levels + 1, "splitters": blocks, "bits": 32})


def _wide(plan: Plan, successors: DeviceArray, heads: DeviceArray, lists: DeviceArray | None) -> Ranked:
    """The same by words of 64 bits, from the first level on."""
    device, size = successors.device, successors.size
    words = device.empty(size, np.uint64)
    device.launch("weigh_successors", size, successors, words)
    lengths, levels = _rank_words(plan, words, size, size, heads)
    device.launch("split_words", size, words, successors, lists)
    blocks = plan.packed(size, size, device)[1] if levels else 0
    return Ranked(successors, lengths, {"levels": levels, "splitters": blocks, "bits": 64})


def _rank_words(
    plan: Plan, words: DeviceArray, splittable: int, first: int, heads: DeviceArray
) -> tuple[DeviceArray, int]:
    """Makes (rank, list) of words (weight, successor), in place.

    Args:
        plan: how.
        words: the list's; splittable: how many of them, the first ones, may be splitters.
        first: how many elements the first level has; heads: the first elements.

    Returns:
        The lengths of the lists; the number of levels.
    """
    device = words.device
    levels: list[DeviceArray] = []
    while splittable > plan.finish_size:
        cut, blocks = plan.packed(splittable, first, device)
        walkers = blocks + heads.size
        reduced, reduced_heads = device.empty(walkers, np.uint64), device.empty(heads.size, np.int32)
        lanes = _lanes(device, walkers)
        device.launch("walk_words", lanes, words, words.size, cut, heads, walkers, lanes, reduced, reduced_heads)
        levels.append(words)
        words, heads, splittable = reduced, reduced_heads, blocks
    lengths = _finish(plan.finish, words, heads)
    for longer in reversed(levels):
        device.launch("join_words", longer.size, words, words.size, longer)
        words = longer
    return lengths, len(levels)


def _finish(finish: str, words: DeviceArray, heads: DeviceArray) -> DeviceArray:
    """Ranks the last list; returns the lengths."""
    device = words.device
    if finish == "wyllie":
        linked = device.empty(words.size, np.uint64)
        device.launch("link_weighed_words", words.size, words, words.size, linked)
        jump_words(linked)
        lengths = turn_words(linked, heads, words)
        words.copy_from(linked)
        return lengths
    if finish == "cpu" and not device.threads:
        host = open_device("cpu")
        here = host.array(words.download())
        lengths_here = host.empty(heads.size, np.int32)
        host.launch("walk_to_ends", heads.size, here, here.size, host.array(heads.download()), lengths_here)
        words.upload(here.download())
        return device.array(lengths_here.download())
    lengths = device.empty(heads.size, np.int32)
    device.launch("walk_to_ends", heads.size, words, words.size, heads, lengths)
    return lengths


def _step_bits(size: int, walkers: int) -> int:
    """How many bits of 32 are left for steps beside a walker's number; 0 where there are none.

    Walkers whose steps no longer fit take a further number, for at least 2^bits elements each.
    """
    return next((bits for bits in range(31, 0, -1) if walkers + (size >> bits) <= 2 ** (32 - bits)), 0)


def _lanes(device: Device, walkers: int) -> int:
    """How many threads, or shares of a thread's work, the walkers are given to."""
    return min(walkers, CPU_LANES * device.threads if device.threads else GPU_LANES * device.multiprocessors)


def _checked(
    splitters: str | int | None, spacing: str, finish: str, finish_size: int | None, size: int, device: Device
) -> Plan:
    if isinstance(splitters, str) and splitters not in RULES:
        raise OptionError(
            f"splitters = {shortened(splitters)}: it is one of {', '.join(map(repr, RULES))}, or their number"
        )
    if splitters is not None and not isinstance(splitters, str):
        splitters = whole("splitters", splitters)
        if splitters < 1:
            raise OptionError(f"splitters = {shortened(splitters)}: at least one is needed")
        splitters = min(splitters, size)
    choice("spacing", spacing, SPACINGS)
    choice("finish", finish, FINISHES)
    if finish_size is None:
        finish_size = CPU_FINISH if device.threads else GPU_FINISH
    finish_size = whole("finish_size", finish_size)
    if finish_size < 1:
        raise OptionError(f"finish_size = {shortened(finish_size)}: the last list has at least one element")
    return Plan(splitters, spacing, finish, finish_size)
