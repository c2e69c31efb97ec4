"""Devices: which there are, how they are opened, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.errors import DeviceUnavailableError, NativeLibraryError, OptionError
from dmr.memory import devices, open_device, warm
from dmr.memory.discovery import DeviceInfo
from dmr.memory.host import compiler


def test_devices_begin_with_the_cpu():
    found = devices()
    cpu = found[0]
    assert isinstance(cpu, DeviceInfo)
    assert (cpu.name, cpu.usable, cpu.reason) == ("cpu", True, None)
    assert cpu.threads >= 1 and cpu.memory_bytes > 2**20
    assert [card.name for card in found[1:]] == [f"cuda:{number}" for number in range(len(found) - 1)]
    assert all(card.usable == (card.reason is None) and card.threads == 0 for card in found[1:])


def test_the_cpu_uses_every_core_by_default():
    assert open_device("cpu").threads == devices()[0].threads
    device = open_device("cpu", 5)
    assert (device.name, device.threads, device.description) == ("cpu", 5, "cpu (5 threads)")
    assert open_device("cpu", 1).description == "cpu (1 thread)"


def test_auto_takes_the_first_usable_gpu_or_the_cpu():
    usable = [card.name for card in devices() if card.usable and card.name != "cpu"]
    assert open_device("auto").name == (usable[0] if usable else "cpu")


def test_the_reason_for_the_cpu_is_logged_once(caplog, monkeypatch):
    from dmr.memory.cuda import discovery

    monkeypatch.setattr(discovery, "cards", lambda: ())
    monkeypatch.setattr(discovery, "absence", lambda: "its driver is on holiday")
    caplog.set_level("INFO", "dmr.memory")
    for _ in range(3):
        assert open_device().name == "cpu"
    assert caplog.text.count("no usable GPU (its driver is on holiday): running on the CPU") == 1


@pytest.mark.gpu
def test_a_gpu_is_opened_by_name_once(gpu):
    assert gpu.name == "cuda:0" and gpu.threads == 0
    assert open_device("cuda") is open_device("cuda:0")


@pytest.mark.parametrize("name", ["", "gpu", "CPU", "cpu:0", "cuda:x", "cuda:-1", "cuda:²", "cuda1", "auto:1"])
def test_an_invalid_device_name_is_refused(name):
    with pytest.raises(OptionError, match="auto, cpu, cuda or cuda:N"):
        open_device(name)


def test_a_missing_gpu_is_reported():
    with pytest.raises(DeviceUnavailableError, match=r"cuda:99|PyCUDA|driver|no NVIDIA GPU"):
        open_device("cuda:99")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2"])
def test_threads_must_be_a_positive_integer(threads):
    for name in ("cpu", "auto"):
        with pytest.raises(OptionError, match=r"^threads "):
            open_device(name, threads)


@pytest.mark.parametrize("threads", [100_000, 2**40])
def test_threads_are_limited_to_1024(threads, monkeypatch):
    monkeypatch.setattr("dmr.common.threads.os.cpu_count", lambda: 2)
    for name in ("cpu", "auto", "cuda:0"):
        with pytest.raises(OptionError, match=f"^threads .*{threads:,}"):
            open_device(name, threads)
    assert open_device("cpu", 1024).threads == 1024
    assert open_device("cpu", np.int64(3)).threads == 3


def test_a_machine_with_more_cores_uses_them_all(monkeypatch):
    monkeypatch.setattr("dmr.common.threads.os.cpu_count", lambda: 2048)
    assert open_device("cpu", 2048).threads == 2048


@pytest.fixture
def no_library(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "LIBRARY", tmp_path / "missing.so")
    compiler.library.cache_clear()
    yield
    compiler.library.cache_clear()


@pytest.mark.usefixtures("no_library")
def test_a_missing_library_is_one_clear_error():
    with pytest.raises(NativeLibraryError, match=r"missing\.so"):
        open_device("cpu")
    cpu = devices()[0]
    assert not cpu.usable and "missing.so" in cpu.reason


def test_a_library_older_than_the_sources_is_one_clear_error():
    with pytest.raises(NativeLibraryError, match="of_tomorrow"):
        compiler.kernel_address("of_tomorrow")


def test_warming_the_cpu_compiles_nothing():
    assert warm("cpu") == []
