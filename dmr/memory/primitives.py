"""Scan, reduction, compaction and sorting on device arrays: deterministic on every backend.

Integer sums do not depend on their order, so any tiling gives the same bits. Float sums run in one fixed tree
(`cuda_src/primitives/scan.cu`), which no thread count changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory.arguments import Number, bound_of
from dmr.memory.arrays import Device, DeviceArray
from dmr.memory.declarations import constant

FEW_TO_SORT = 16  # tiles: a CPU thread sorts them faster in one launch than in three per digit; on a GPU, one tile
FEW_TILES = 8  # one team scans these faster than three launches (dmr/memory/cuda: 10 us of Python per launch)
SCANNED = {np.dtype(np.int32): "int32", np.dtype(np.int64): "int64"}  # `dtype.name` takes longer than a small scan


def scan_tile() -> int:
    """Returns the number of values that a team scans or sums."""
    return constant("TILE", "primitives/scan.cu")


def sort_tile() -> int:
    """Returns the number of keys that a team sorts by one digit."""
    return constant("TILE", "primitives/sorting.cu")


def scan(
    values: DeviceArray, count: Number | None = None, out: DeviceArray | None = None, tiles: Number | None = None
) -> DeviceArray:
    """Computes the exclusive prefix sums of int32 or int64 values.

    Args:
        values: the numbers; they are not changed.
        count: number of values to sum (default: all).
        out: receives the result (at least count + 1 elements); by default a new array.
        tiles: number of tiles of `scan_tile` values in `count`, if the device knows both and `count` is far from its
            bound; by default the number for the bound.

    Returns:
        An array whose element i is the sum of the values before i, and whose element `count` is the total.
    """
    device = values.device
    count = values.size if count is None else count
    kind = SCANNED.get(values.dtype) or values.dtype.name
    bound = bound_of(count)
    offsets = device.empty(bound + 1, values.dtype) if out is None else out
    if bound == 0:
        offsets[:1].fill(0)
        return offsets
    tiles = device.tiles(bound, scan_tile()) if tiles is None else tiles
    if kind == "int32" and isinstance(count, int) and isinstance(tiles, int) and 1 < tiles <= FEW_TILES:
        device.launch("scan_few_tiles_int32", 1, values, count, offsets)
        return offsets
    tile_offsets = None
    if bound_of(tiles) > 1:
        sums = device.empty(bound_of(tiles), values.dtype)
        device.launch(f"sum_tiles_{kind}", tiles, values, count, sums)
        tile_offsets = scan(sums, tiles)
    device.launch(f"scan_tiles_{kind}", tiles, values, count, tile_offsets, offsets)
    return offsets


def total(offsets: DeviceArray, count: int) -> int:
    """Returns the sum at the end of a scan over `count` values; waits for it.

    Args:
        offsets: what `scan` returned; count: how many values it summed.
    """
    return int(offsets[count : count + 1].download()[0])


def sum_float64(values: DeviceArray) -> float:
    """Returns the sum of float64 values, in one fixed tree; waits for it."""
    device = values.device
    while values.size > 1:
        tiles = device.tiles(values.size, scan_tile())
        sums = device.empty(tiles, np.float64)
        device.launch("sum_tiles_float64", tiles, values, values.size, sums)
        values = sums
    return float(values.download()[0]) if values.size else 0.0


def minmax_float64(low: DeviceArray, high: DeviceArray | None = None) -> tuple[float, float]:
    """Returns the minimum of `low` and the maximum of `high` (default: `low`), float64 values; waits for them.

    There must be at least one value, no NaN, and equal numbers in `high` and `low`.
    """
    device = low.device
    high = low if high is None else high
    while low.size > 1:
        tiles = device.tiles(low.size, scan_tile())
        tile_low, tile_high = device.empty(tiles, np.float64), device.empty(tiles, np.float64)
        device.launch("minmax_tiles_float64", tiles, low, high, low.size, tile_low, tile_high)
        low, high = tile_low, tile_high
    return float(low.download()[0]), float(high.download()[0])


def compact(values: DeviceArray, flags: DeviceArray, count: int | None = None) -> tuple[DeviceArray, int]:
    """Returns the values whose flag is 1, in order, and their number; waits for the number.

    Args:
        values: int32; flags: int32, 0 or 1; count: how many of both are looked at, None for all.
    """
    return _flagged("scatter_flagged", flags, values.size if count is None else count, values)


def flagged_indices(flags: DeviceArray, count: int | None = None) -> tuple[DeviceArray, int]:
    """Returns the indices whose flag is 1, in order, and their number; waits for the number.

    Args:
        flags: int32, 0 or 1; count: how many are looked at, None for all.
    """
    return _flagged("scatter_indices", flags, flags.size if count is None else count)


def _flagged(kernel: str, flags: DeviceArray, count: int, *values: DeviceArray) -> tuple[DeviceArray, int]:
    """Scatters what belongs to each flag to the place given by the sum of the flags before it."""
    device = flags.device
    offsets = scan(flags, count)
    kept = total(offsets, count)
    result = device.empty(kept, np.int32)
    if kept:
        device.launch(kernel, count, *values, flags, offsets, result)
    return result, kept


def argsort(keys: DeviceArray, bits: int = 32) -> DeviceArray:
    """Returns the stable order of uint32 keys below 2^bits: int32 indices, ties by index."""
    return sort_pairs(keys, bits=bits)[1]


def sort_pairs(keys: DeviceArray, values: DeviceArray | None = None, bits: int = 32) -> tuple[DeviceArray, DeviceArray]:
    """Sorts keys and their values in the stable order of the keys. The arguments are not changed.

    A least-significant-digit radix sort, eight bits per pass; bits above the last digit are ignored.

    Args:
        keys: uint32, below 2^bits.
        values: int32, one per key; by default the indices of the keys.
        bits: at least 1.
    """
    device: Device = keys.device
    count = keys.size
    tiles, digits = device.tiles(count, sort_tile()), constant("DIGITS")
    digit_bits = digits.bit_length() - 1
    if 0 < tiles <= (FEW_TO_SORT if device.threads == 1 else 1):
        passes = -(-bits // digit_bits)
        key_buffer, value_buffer = device.empty(2 * count, np.uint32), device.empty(2 * count, np.int32)
        device.launch("sort_few_tiles", 1, keys, values, count, passes, key_buffer, value_buffer)
        last = slice(0, count) if passes % 2 else slice(count, 2 * count)
        return key_buffer[last], value_buffer[last]
    counts = device.empty(digits * tiles, np.int32)
    places = device.empty(digits * tiles + 1, np.int32)
    sorted_values = [device.empty(count, np.int32) for _ in range(2)]
    sorted_keys = [device.empty(count, np.uint32) for _ in range(2)]
    for turn, shift in enumerate(range(0, bits, digit_bits)):
        device.launch("count_digits", tiles, keys, count, shift, tiles, counts)
        scan(counts, out=places)
        target, target_keys = sorted_values[turn % 2], sorted_keys[turn % 2]
        device.launch("scatter_digits", tiles, keys, values, count, shift, tiles, places, target_keys, target)
        keys, values = target_keys, target
    assert values is not None
    return keys, values


def values_at(values: DeviceArray, places: NDArray[Any]) -> NDArray[np.int32]:
    """Returns int32 values at some places, in the shape of these."""
    device = values.device
    found = device.empty(places.size, np.uint32)
    listed = device.array(np.ascontiguousarray(places, np.int32).reshape(-1))
    device.launch("gather_uint32", places.size, values.view(np.uint32), listed, found)
    return found.detach().view(np.int32).reshape(places.shape)


def set_values(array: DeviceArray, places: NDArray[Any], values: NDArray[Any]) -> None:
    """Stores values at some places of an array.

    Args:
        array: int32 or float64; places: no two are the same; values: one for each place.
    """
    device, listed = array.device, array.device.array(np.ascontiguousarray(places, np.int32))
    if array.dtype == np.float64:
        device.launch("scatter_float64", listed.size, device.array(values, np.float64), listed, array)
    else:
        given = device.array(np.ascontiguousarray(values, np.int32), np.uint32)
        device.launch("scatter_uint32", listed.size, given, listed, array.view(np.uint32))
