"""Arrays on a device that are downloaded when they are read, or when the device needs their memory."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest

import dmr
from dmr.errors import OutOfMemoryError
from dmr.memory import DeferredContent
from dmr.memory.deferred import read_all
from dmr.memory.host.device import HostDevice


@pytest.fixture
def other_memory():
    """A device that counts as one with memory of its own, as a GPU does."""
    device = HostDevice(1)
    device.threads = 0
    return device


def test_content_is_downloaded_when_it_is_read(other_memory):
    content = DeferredContent(other_memory.array(np.arange(5)))
    assert content in other_memory.deferred
    assert content.read().tolist() == [0, 1, 2, 3, 4] and content.read() is content.read()
    assert not other_memory.deferred


def test_content_in_main_memory_does_not_wait(device):
    content = DeferredContent(device.array(np.arange(5)))
    assert (content in device.deferred) == (not device.threads)
    assert content.read().tolist() == [0, 1, 2, 3, 4]


def test_a_device_releases_what_waits(other_memory):
    first, second = (DeferredContent(other_memory.array(np.arange(k))) for k in (3, 4))
    del second
    gc.collect()
    read_all(other_memory)
    assert not other_memory.deferred and first.read().tolist() == [0, 1, 2]


def test_a_forked_process_does_not_read(other_memory, monkeypatch):
    known, unknown = (DeferredContent(other_memory.array(np.arange(3))) for _ in range(2))
    known.read()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert known.read().tolist() == [0, 1, 2]
    assert unknown.read() is None


@pytest.mark.gpu
def test_neighbours_stay_on_a_gpu_until_they_are_read_or_memory_is_short(gpu):
    points = np.random.default_rng(3).random((20_000, 2))
    expected = dmr.triangulate(points, device="cpu").neighbours
    before = gpu.moved.copy()
    read, released = (dmr.triangulate(points, device="cuda") for _ in range(2))
    assert (gpu.moved - before)[np.dtype(np.int32)] < 2 * (read.triangles.size + len(points))
    assert len(gpu.deferred) >= 2
    assert np.array_equal(read.neighbours, expected)
    with pytest.raises(OutOfMemoryError):
        gpu.empty(gpu.total_memory // 8 - 1, np.int64)
    assert not gpu.deferred
    assert np.array_equal(released.neighbours, expected)
