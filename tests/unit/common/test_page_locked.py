"""The pool of page-locked memory, with the driver's calls recorded; and downloads into it on a GPU."""

from __future__ import annotations

import os

import numpy as np
import pytest

from dmr.memory.cuda import page_locked

SIZE = 2**20


@pytest.fixture
def calls(monkeypatch):
    """The driver's calls, which do nothing."""
    names: list[str] = []
    monkeypatch.setattr(page_locked, "call", lambda name, *_: names.append(name))
    return names


@pytest.fixture
def pool(calls):
    """A pool that has seen one request of SIZE bytes."""
    made = page_locked.PageLockedPool()
    assert made.array(SIZE) is None and not calls
    return made


def test_memory_is_reused_when_nothing_views_it(pool, calls):
    first = pool.array(SIZE)
    address, view = first.ctypes.data, first.view(np.int32)[5:]
    del first
    other = pool.array(SIZE)
    assert other.ctypes.data != address
    del view
    again = pool.array(SIZE - 5)
    assert (again.ctypes.data, again.size) == (address, SIZE - 5)
    assert calls == ["cuMemHostRegister_v2"] * 2


def test_memory_is_not_reused_after_a_fork(pool, calls):
    array = pool.array(SIZE)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    del array
    assert pool.array(SIZE) is not None
    assert calls == ["cuMemHostRegister_v2", "cuMemHostUnregister", "cuMemHostRegister_v2"]


def test_locked_memory_is_limited(pool, calls, monkeypatch):
    monkeypatch.setattr(page_locked, "MOST_LOCKED", 2 * SIZE)
    kept = [pool.array(SIZE), pool.array(SIZE)]
    assert pool.array(SIZE) is None
    kept.pop()
    assert pool.array(SIZE // 2) is None and pool.array(SIZE // 2) is not None  # in the place of the dropped one
    assert calls[2:] == ["cuMemHostUnregister", "cuMemHostRegister_v2"]


def test_downloads_do_without_memory_that_cannot_be_locked(pool, monkeypatch):
    def refuse(name, *_):
        raise page_locked.InternalError(f"{name} failed")

    monkeypatch.setattr(page_locked, "call", refuse)
    assert pool.array(SIZE) is None


@pytest.mark.gpu
def test_downloads_of_every_size(gpu):
    for size in (0, 1, 5000, page_locked.LEAST_BYTES // 4, 300_001, page_locked.MOST_BYTES // 4 + 1):
        values = np.random.default_rng(size).integers(0, 2**31, size).astype(np.int32)
        array = gpu.array(values)
        found = [array.download() for _ in range(4)]
        assert all(np.array_equal(each, values) for each in found)
        found[0][:] = 7  # belongs to the caller
        assert np.array_equal(array.download(), values) and np.array_equal(found[3], values)
