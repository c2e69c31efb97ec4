"""Recursive Helman-JaJa: ranks sublists between splitters, then a list of sublists (`cuda_src/lists/ruling_set.cu`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dmr.common.arguments import chosen, shortened, whole_option
from dmr.common.text import option
from dmr.memory import Device, DeviceArray, Packed, open_device, pack
from static_graph.errors import OptionError
from static_graph.lists.methods.jumping import jump_words, rank_words
from static_graph.lists.methods.ranked import Ranked
from static_graph.lists.methods.table import FINISHES, RULES, SPACINGS

# Default number of elements per splitter, and size at which the recursion ends, on a GPU and on a CPU. A CPU follows a
# list in its caches about as fast as it could cut the list; a GPU does not.
GPU_SUBLIST, CPU_SUBLIST = 24, 64
GPU_SHORT, GPU_SHORT_SUBLIST = 2**18, 16  # up to this length of the first level, the longest sublist decides
GPU_DEEPER = 4  # the same on deeper levels of a GPU: such a level takes as long as its longest sublist
GPU_FINISH, CPU_FINISH = 32, 2**15
# A GPU finishes lists of at least GPU_LONG elements by Wyllie's algorithm: its launches do not wait for a longest
# sublist, and there are fewer of them than levels. Up to GPU_ONE_LEVEL elements it follows the first level.
GPU_LONG, GPU_WYLLIE = 2**18, 2**16
GPU_ONE_LEVEL, GPU_WYLLIE_AT_ONCE = 2**22, 2**18
GPU_LANES = (
    4096  # most threads per multiprocessor; each walks sublists in sequence, and short walks make room for others
)
CPU_LANES = 16  # shares of work per thread, for load balance
SALT = 0x5EED


@dataclass(frozen=True)
class Plan:
    """Parameters of the cutting of lists.

    Attributes:
        splitters: a rule for their number (`RULES`), their number on the first level, or None.
        spacing: "random": at a position in each block of elements drawn by a hash; "equal": at equal intervals.
        finish: what ranks the last list: "one" thread per list, the "cpu" likewise, or "wyllie".
        finish_size: the recursion continues while more elements than this can be splitters.
    """

    splitters: str | int | None
    spacing: str
    finish: str
    finish_size: int

    def blocks(self, size: int, first: int, device: Device) -> int:
        """Number of blocks into which `size` elements are cut; the first level has `first` elements."""
        if self.splitters == RULES[0]:
            wanted = size / max(math.log2(size), 1)
        elif self.splitters == RULES[1]:
            wanted = size / max(2 * math.log2(size) ** 2, 1)
        elif self.splitters is None:
            wanted = size / (CPU_SUBLIST if device.threads else gpu_sublist(size, first))
        else:
            wanted = int(self.splitters) * size / first
        return max(min(int(wanted), size // 2), 1)

    def packed(self, size: int, first: int, device: Device) -> tuple[Packed, int]:
        """Returns `Splitters` of ruling_set.cu, and the number of blocks."""
        scale = (self.blocks(size, first, device) << 32) // size
        blocks = ((size - 1) * scale >> 32) + 1
        hashed = int(self.spacing == "random")
        return pack("Splitters", among=size, blocks=blocks, scale=scale, hashed=hashed, salt=SALT + size), blocks


def gpu_sublist(size: int, first: int) -> int:
    """Returns the default number of elements per splitter on a GPU; the first level has `first` elements."""
    if size < first:
        return GPU_DEEPER
    return GPU_SHORT_SUBLIST if size <= GPU_SHORT else GPU_SUBLIST


def run(
    successors: DeviceArray,
    heads: DeviceArray,
    lists: DeviceArray | None,
    *,
    splitters: str | int | None = None,
    spacing: str = "random",
    finish: str | None = None,
    finish_size: int | None = None,
) -> Ranked:
    """Ranks lists; see `Ranked`.

    Args:
        successors, heads, lists: see `Ranked`.
        splitters: "n / log n", "n / (2 log^2 n)", or the number on the first level; deeper levels follow the rule, or
            keep the proportion.
        spacing: "random" or "equal" (intervals).
        finish: what ranks the last level: "one", "cpu" or "wyllie"; the default depends on size and device.
        finish_size: most elements of the last level that could be splitters; 1: one element, and the heads.

    Raises:
        OptionError: an option is invalid.
    """
    device, size = successors.device, successors.size
    plan = _checked(splitters, spacing, finish, finish_size, size, device)
    if size <= plan.finish_size:
        return _wide(plan, successors, heads, lists)
    cut, blocks = plan.packed(size, size, device)
    walkers = blocks + heads.size
    bits = _step_bits(size, walkers)
    if 2**bits * blocks < 2 * size:  # too many lists leave too few bits for steps beside the number
        return _wide(plan, successors, heads, lists)
    reduced = device.empty(walkers + (size >> bits), np.uint64)
    if plan.finish == "wyllie" and size >> bits:  # pointer jumping processes all numbers, including unused ones
        reduced[walkers:].fill(255)  # no successor
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
    """Ranks with words of 64 bits from the first level on."""
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
    """Replaces words (weight, successor) by (rank, list), in place.

    Args:
        plan: the parameters.
        words: of the list; splittable: how many of the first words may be splitters.
        first: number of elements of the first level; heads: the first elements.

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
    """Ranks the last level; returns the lengths of the lists."""
    device = words.device
    if finish == "wyllie":
        linked = device.empty(words.size, np.uint64)
        device.launch("link_weighed_words", words.size, words, words.size, linked)
        jump_words(linked, asking=False)
        lengths = rank_words(linked, heads, words)
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
    """Returns how many of 32 bits remain for steps beside a walker's number; 0 if none remain.

    A walker whose steps no longer fit takes a further number, which serves at least 2^bits elements.
    """
    return next((bits for bits in range(31, 0, -1) if walkers + (size >> bits) <= 2 ** (32 - bits)), 0)


def _lanes(device: Device, walkers: int) -> int:
    """Returns the number of threads, or shares of a thread's work, among which the walkers are distributed."""
    return min(walkers, CPU_LANES * device.threads if device.threads else GPU_LANES * device.multiprocessors)


def _checked(
    splitters: str | int | None, spacing: str, finish: str | None, finish_size: int | None, size: int, device: Device
) -> Plan:
    if isinstance(splitters, str) and splitters not in RULES:
        raise OptionError(
            f"{option('splitters')} = {shortened(splitters)}: it is one of "
            f"{', '.join(map(repr, RULES))}, or their number"
        )
    if splitters is not None and not isinstance(splitters, str):
        splitters = whole_option("splitters", splitters)
        if splitters < 1:
            raise OptionError(f"{option('splitters')} = {shortened(splitters)}: at least one is needed")
        splitters = min(splitters, size)
    chosen("spacing", spacing, SPACINGS)
    if finish is None and finish_size is None and not device.threads and size >= GPU_LONG:
        finish, finish_size = "wyllie", GPU_WYLLIE_AT_ONCE if size <= GPU_ONE_LEVEL else GPU_WYLLIE
    finish = "one" if finish is None else chosen("finish", finish, FINISHES)
    if finish_size is None:
        finish_size = CPU_FINISH if device.threads else GPU_FINISH
    finish_size = whole_option("finish_size", finish_size)
    if finish_size < 1:
        raise OptionError(f"{option('finish_size')} = {shortened(finish_size)}: the last list has at least one element")
    return Plan(splitters, spacing, finish, finish_size)
