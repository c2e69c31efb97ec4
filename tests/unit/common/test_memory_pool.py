"""The pool of GPU memory, with a driver that counts."""

from __future__ import annotations

import pytest

from dmr.common.errors import OutOfMemoryError
from dmr.memory.cuda import pool as pools

MEBIBYTE = 2**20


class Driver:
    """Hands out addresses, and knows which of them are in use."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.calls = 0

    def allocate(self, nbytes: int) -> int:
        self.calls += 1
        self.sizes[self.calls] = nbytes
        return self.calls

    def free(self, name: str, pointer) -> None:
        assert name == "cuMemFree_v2"
        del self.sizes[pointer.value]


@pytest.fixture
def driver(monkeypatch):
    made = Driver()
    monkeypatch.setattr(pools, "_allocate", made.allocate)
    monkeypatch.setattr(pools, "call", made.free)
    return made


def block(pool, size):
    return pool.allocate(size, lambda: OutOfMemoryError("none"))


def test_a_kept_block_is_reused_for_up_to_an_eighth_less(driver):
    pool = pools.MemoryPool(lambda: None)
    first = block(pool, 16 * MEBIBYTE)
    pointer = first.pointer
    del first
    smaller = block(pool, 15 * MEBIBYTE)
    assert (smaller.pointer, smaller.nbytes, driver.calls) == (pointer, 16 * MEBIBYTE, 1)
    del smaller
    assert block(pool, 12 * MEBIBYTE).pointer != pointer


def test_trimming_keeps_the_blocks_that_were_used_since_the_last_time(driver):
    pool = pools.MemoryPool(lambda: None)
    block(pool, 16 * MEBIBYTE), block(pool, 4 * MEBIBYTE)
    pool.trim()
    assert len(driver.sizes) == 2  # both were used
    again = block(pool, 16 * MEBIBYTE)
    pool.trim()
    assert driver.sizes == {again.pointer: 16 * MEBIBYTE} and pool.reserved == 16 * MEBIBYTE
    pool.trim()  # a block in use stays
    assert again.pointer in driver.sizes
    del again
    pool.trim()
    assert not driver.sizes and pool.reserved == 0
