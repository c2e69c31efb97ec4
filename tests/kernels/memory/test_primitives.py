"""Scan, reduction, compaction and sorting against numpy, on every device and near tile boundaries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmr.memory import (
    DeviceCount,
    argsort,
    compact,
    flagged_indices,
    minmax_float64,
    open_device,
    scan,
    sort_pairs,
    sum_float64,
    total,
)
from dmr.memory.primitives import scan_tile, sort_tile

TILE, SORT_TILE = scan_tile(), sort_tile()
BORDERS = [0, 1, TILE - 1, TILE, TILE + 1, TILE * TILE + 1]  # the last needs three levels of tiles
SORT_BORDERS = [0, 1, SORT_TILE - 1, SORT_TILE, SORT_TILE + 1, 300_001]
MANY_BUT_QUICK = settings(max_examples=40)

sizes = st.integers(0, 3 * TILE)
seeds = st.integers(0, 2**32 - 1)


def exclusive(values):
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def whole(seed, size, dtype, low=-100, high=100):
    return np.random.default_rng(seed).integers(low, high, size).astype(dtype)


def flags_of(seed, size, share):
    return (np.random.default_rng(seed).random(size) < share).astype(np.int32)


def real(seed, size):
    """Values of either sign over forty binary orders, which a sum in another order would round differently."""
    random = np.random.default_rng(seed)
    return np.ldexp(random.random(size) - 0.5, random.integers(-20, 20, size))


# Scan


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("size", BORDERS)
def test_scan_is_an_exclusive_prefix_sum(device, size, dtype):
    values = whole(1, size, dtype)
    offsets = scan(device.array(values))
    assert offsets.dtype == dtype
    assert np.array_equal(offsets.download(), exclusive(values))
    assert total(offsets, size) == values.sum()


@MANY_BUT_QUICK
@given(size=sizes, seed=seeds)
def test_scan_of_any_size(device, size, seed):
    values = whole(seed, size, np.int32)
    assert np.array_equal(scan(device.array(values)).download(), exclusive(values))


@MANY_BUT_QUICK
@given(values=st.lists(st.integers(-(2**40), 2**40), max_size=30))
def test_scan_of_large_int64_values(device, values):
    assert np.array_equal(scan(device.array(np.array(values, np.int64))).download(), exclusive(values))


def test_scan_reaches_the_largest_numbers(device):
    for dtype in (np.int32, np.int64):
        largest = np.iinfo(dtype).max
        assert scan(device.array(np.array([largest - 1, 1, -1], dtype))).download().tolist() == [
            0, largest - 1, largest, largest - 1,
        ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, TILE, TILE + 1, 2 * TILE])
def test_scan_of_the_first_values(device, count):
    values = whole(2, 2 * TILE, np.int32)
    array = device.array(values)
    offsets = scan(array, count)
    assert np.array_equal(offsets.download(), exclusive(values[:count]))
    assert np.array_equal(array.download(), values)


@pytest.mark.parametrize("count", [1, TILE, TILE + 1, 5 * TILE])
def test_scan_of_a_device_count_of_tiles(device, count):
    """Far fewer values than the bound; memory beyond them is not written."""
    values = whole(2, 9 * TILE, np.int64)
    known = device.array(np.array([count, -(-count // TILE)], np.int32))
    offsets = device.array(np.full(9 * TILE + 1, -7))
    scan(device.array(values), DeviceCount(known[:1], 9 * TILE), offsets, DeviceCount(known[1:], 9))
    found = offsets.download()
    assert np.array_equal(found[: count + 1], exclusive(values[:count]))
    assert (found[count + 1 :] == -7).all()


@pytest.mark.parametrize("count", [0, 1, TILE, TILE + 1])
def test_scan_writes_count_and_one_places(device, count):
    values = whole(3, count, np.int32)
    out = device.array(np.full(count + 3, -7, np.int32))
    assert scan(device.array(values), out=out) is out
    assert np.array_equal(out.download(), [*exclusive(values), -7, -7])


@pytest.mark.parametrize("count", [0, 1, 8, 9, TILE - 1, TILE, TILE + 9, 3 * TILE + 17, 4 * TILE])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_scan_of_a_device_count_of_values(device, count, dtype):
    """Tiles beyond the count, and members of a team beyond it, add nothing and write nothing."""
    values = whole(5, 4 * TILE, dtype)
    known = DeviceCount(device.array(np.array([count], np.int32)), len(values))
    out = device.array(np.full(len(values) + 1, -7, dtype))
    scan(device.array(values), known, out=out)
    assert np.array_equal(out.download(), [*exclusive(values[:count]), *[-7] * (len(values) - count)])


@pytest.mark.parametrize("count", [1, TILE, TILE + 1, 3 * TILE])
def test_scan_in_place(device, count):
    values = whole(4, count + 1, np.int32)
    array = device.array(values)
    scan(array, count, out=array)
    assert np.array_equal(array.download(), exclusive(values[:count]))


# Compaction


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [*BORDERS[:-1], 100_000])
def test_compact_keeps_the_flagged_values_in_order(device, size, share):
    values, flags = whole(5, size, np.int32), flags_of(6, size, share)
    kept, number = compact(device.array(values), device.array(flags))
    assert number == kept.size == flags.sum()
    assert np.array_equal(kept.download(), values[flags == 1])


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [*BORDERS[:-1], 100_000])
def test_flagged_indices_agree_with_numpy(device, size, share):
    flags = flags_of(7, size, share)
    kept, number = flagged_indices(device.array(flags))
    assert number == flags.sum()
    assert np.array_equal(kept.download(), np.flatnonzero(flags))


@MANY_BUT_QUICK
@given(size=sizes, seed=seeds, share=st.floats(0, 1), part=st.floats(0, 1))
def test_compaction_of_the_first_part(device, size, seed, share, part):
    count = int(part * size)
    values, flags = whole(seed, size, np.int32), flags_of(seed, size, share)
    kept, number = compact(device.array(values), device.array(flags), count)
    indices, same_number = flagged_indices(device.array(flags), count)
    expected = np.flatnonzero(flags[:count])
    assert number == same_number == len(expected)
    assert np.array_equal(kept.download(), values[expected])
    assert np.array_equal(indices.download(), expected)


# Sorting


def assert_sorted_like_numpy(device, keys, bits):
    array = device.array(keys)
    order = argsort(array, bits)
    assert order.dtype == np.int32
    assert np.array_equal(order.download(), np.argsort(keys, kind="stable"))
    assert np.array_equal(array.download(), keys)  # the keys are left as they were


@pytest.mark.parametrize("bits", [1, 8, 9, 16, 24, 31, 32])
def test_argsort_is_stable_for_any_number_of_bits(device, bits):
    keys = np.random.default_rng(8).integers(0, 2**bits, 5000).astype(np.uint32)
    keys[::3] = keys[0]
    assert_sorted_like_numpy(device, keys, bits)


@pytest.mark.parametrize("size", SORT_BORDERS)
def test_argsort_of_many_equal_keys_goes_by_index(device, size):
    assert_sorted_like_numpy(device, np.random.default_rng(9).integers(0, 3, size).astype(np.uint32), 8)


@pytest.mark.parametrize("size", SORT_BORDERS)
def test_argsort_of_full_keys(device, size):
    assert_sorted_like_numpy(device, np.random.default_rng(10).integers(0, 2**32, size).astype(np.uint32), 32)


@MANY_BUT_QUICK
@given(keys=st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 3), max_size=80))
def test_argsort_of_any_keys(device, keys):
    assert_sorted_like_numpy(device, np.array(keys, np.uint32), 32)


@pytest.mark.parametrize("size", [0, 1, 4097])
def test_pairs_are_sorted_by_their_keys(device, size):
    random = np.random.default_rng(11)
    keys, values = random.integers(0, 900, size).astype(np.uint32), random.integers(-9, 9, size).astype(np.int32)
    given = device.array(keys), device.array(values)
    sorted_keys, sorted_values = sort_pairs(*given, bits=10)
    order = np.argsort(keys, kind="stable")
    assert np.array_equal(sorted_keys.download(), keys[order])
    assert np.array_equal(sorted_values.download(), values[order])
    assert np.array_equal(given[0].download(), keys) and np.array_equal(given[1].download(), values)


def test_argsort_uses_only_the_lowest_bits(device):
    keys = np.array([0x301, 0x200, 0x101, 0x100], np.uint32)
    assert argsort(device.array(keys), bits=8).download().tolist() == [1, 3, 0, 2]


# Float reductions


def tree_sum(values):
    """The sum in the order of `sum_tiles_float64`: eight items per member in turn, members by halves, tiles again."""
    while len(values) > 1:
        tiles = -(-len(values) // TILE)
        items = np.zeros(tiles * TILE)
        items[: len(values)] = values
        items = items.reshape(tiles, 256, 8)
        members = np.zeros((tiles, 256))
        for item in range(8):
            members += items[:, :, item]
        while members.shape[1] > 1:
            half = members.shape[1] // 2
            members = members[:, :half] + members[:, half:]
        values = members[:, 0]
    return float(values[0]) if len(values) else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("size", BORDERS)
def test_float_sums_have_the_bits_of_one_fixed_tree(device, size):
    values = real(11, size)
    found = sum_float64(device.array(values))
    assert found == tree_sum(values)
    assert abs(found - math.fsum(values)) <= 2.0**-48 * math.fsum(np.abs(values))


@MANY_BUT_QUICK
@given(size=sizes, seed=seeds)
def test_float_sums_of_any_size(device, size, seed):
    values = real(seed, size)
    assert sum_float64(device.array(values)) == tree_sum(values)


def test_float_sums_do_not_depend_on_the_number_of_threads():
    values = real(12, 1_000_003)
    assert len({sum_float64(open_device("cpu", threads).array(values)) for threads in (1, 2, 3, 5, 16)}) == 1


@pytest.mark.parametrize("size", BORDERS[1:])
def test_minmax_agrees_with_numpy(device, size):
    values = real(13, size)
    assert minmax_float64(device.array(values)) == (values.min(), values.max())


@MANY_BUT_QUICK
@given(size=st.integers(1, 3 * TILE), seed=seeds)
def test_minmax_of_two_arrays(device, size, seed):
    low, high = real(seed, size), real(seed + 1, size)
    assert minmax_float64(device.array(low), device.array(high)) == (low.min(), high.max())


@pytest.mark.parametrize("place", [0, 1, TILE - 1, TILE, 2 * TILE])
def test_minmax_finds_extremes_at_every_position(device, place):
    values = np.full(2 * TILE + 1, 3.0)
    values[place] = -5.0
    assert minmax_float64(device.array(values)) == (-5.0, 3.0)
    assert minmax_float64(device.array(-values)) == (-3.0, 5.0)


def test_minmax_with_infinities(device):
    values = np.array([np.inf, 1.0, -np.inf])
    assert minmax_float64(device.array(values)) == (-np.inf, np.inf)
