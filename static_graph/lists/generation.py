"""Generator of lists of the slides' four kinds; a seed gives the same lists on every device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dmr.common.arguments import checks_keywords, chosen, shortened, whole_option
from dmr.common.available import require_memory
from dmr.common.text import counted, option
from dmr.memory import Device, DeviceArray, argsort, compact, open_device, scan
from static_graph.common.memory_estimates import list_bytes
from static_graph.errors import GraphError, OptionError
from static_graph.lists.checks import MOST
from static_graph.lists.gpu_modules import GENERATION
from static_graph.lists.kinds import KINDS


@checks_keywords
def generate_list(
    kind: str,
    size: int,
    *,
    lists: int = 1,
    interval: int = 32,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
) -> NDArray[np.int32]:
    """Generates an array of successors.

    Two things make lists hard to rank in parallel: memory access and load imbalance (slides, performance analysis). The
    kinds separate them. The multiples of `interval` are the splitters of Helman and JaJa's algorithm at equal
    intervals::

        "ordered"             element i + 1 follows element i: sublists of equal lengths, sequential memory access
        "ordered-unbalanced"  the multiples are spaced as unevenly as in a random list, but the multiples, and the
                              elements between them, are in ascending order
        "random-balanced"     every `interval`-th element of the list is a multiple; multiples and other elements are
                              in random order
        "random"              random order

    Args:
        kind: one of these; size: number of elements.
        lists: number of lists into which the order is cut; their lengths differ by at most one.
        interval: distance between splitters, for "ordered-unbalanced" and "random-balanced".
        seed: seed of the random numbers.
        device, threads: where the lists are generated, as for `rank`.

    Returns:
        (size,) int32, -1 at the end of each list.

    Raises:
        GraphError: the size is invalid. OptionError: another option is invalid.
        DeviceUnavailableError, OutOfMemoryError: the device is not available, or too small.
    """
    size, lists, interval = whole_option("size", size), whole_option("lists", lists), whole_option("interval", interval)
    chosen("kind", kind, KINDS)
    if not 0 <= size <= MOST:
        raise GraphError(f"there are 0 to {MOST} elements, not {shortened(size)}")
    if not min(size, 1) <= lists <= max(size, 1):
        most = "1 list" if size <= 1 else f"1 to {size} lists"
        raise OptionError(f"{option('lists')} = {shortened(lists)}: {counted(size, 'element')} can make {most}")
    if interval < 1:
        raise OptionError(f"{option('interval')} = {shortened(interval)}: it must be at least 1")
    interval = min(interval, MOST)  # beyond the size, only element 0 is a multiple
    if size == 0:
        return np.empty(0, np.int32)
    where = open_device(device, threads)
    if where.threads:
        require_memory(list_bytes(size), f"a list of {counted(size, 'element')}")
    where.prepare(*GENERATION)
    with where.lock, where.current:
        return _generate(where, kind, size, lists, interval, seed)


def _generate(where: Device, kind: str, size: int, lists: int, interval: int, seed: int) -> NDArray[np.int32]:
    order = random_order(where, size, seed) if kind.startswith("random") else _ascending(where, size)
    if kind in ("ordered-unbalanced", "random-balanced"):
        pattern = _ascending(where, size) if kind == "random-balanced" else random_order(where, size, seed)
        order = _merged(order, pattern, interval)
    successors = where.empty(size, np.int32)
    where.launch("link_in_order", size, order, size, lists, successors)
    return successors.detach()


def random_order(device: Device, size: int, seed: int) -> DeviceArray:
    """Returns a random permutation of 0 to size - 1, (size,) int32, which depends on the seed alone.

    Raises:
        OptionError: the seed is invalid.
    """
    seed = whole_option("seed", seed)
    if not 0 <= seed < 2**64:
        raise OptionError(f"{option('seed')} must be from 0 to 2^64 - 1, not {shortened(seed)}")
    keys = device.empty(size, np.uint32)
    device.launch("draw_keys", size, seed, keys)
    return argsort(keys)


def _ascending(device: Device, size: int) -> DeviceArray:
    order = device.empty(size, np.int32)
    device.launch("fill_indices", size, order)
    return order


def _merged(order: DeviceArray, pattern: DeviceArray, interval: int) -> DeviceArray:
    """Returns the order, with the multiples of `interval` at the positions of those in the pattern."""
    device, size = order.device, order.size
    flags = device.empty(size, np.int32)
    device.launch("flag_multiples", size, order, interval, flags)
    multiples, _ = compact(order, flags)
    device.launch("invert_flags", size, flags)
    others, _ = compact(order, flags)
    device.launch("flag_multiples", size, pattern, interval, flags)
    merged = device.empty(size, np.int32)
    device.launch("merge_orders", size, scan(flags), multiples, others, merged)
    return merged
