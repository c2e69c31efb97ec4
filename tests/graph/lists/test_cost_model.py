"""The cost model: predictions of the slides, and parameters measured on a device."""

from __future__ import annotations

import pytest

from static_graph.lists import cost_model
from static_graph.lists.cost_model import GTX_280, SLIDES_TABLE, Machine, predict, read_machine, slides_milliseconds


@pytest.mark.parametrize(("log_size", "blocks", "predicted", "measured"), SLIDES_TABLE)
def test_predictions_equal_those_of_the_slides(log_size, blocks, predicted, measured):
    assert slides_milliseconds(log_size, blocks) == pytest.approx(predicted, rel=2e-3)
    assert measured < predicted


def test_predictions_follow_the_formula():
    machine = Machine(multiprocessors=100, cores=64, depth=4, clock=2e9, latency=600, gather=1e-11)
    found = predict(2**20, machine, 16)
    threads, slowest = 2**20 / 16 / 100, 4 * 16 * (4 + 2 * 600)
    assert found.cycles == pytest.approx(threads * slowest / (64 * 4))
    assert found.seconds == pytest.approx(found.cycles / 2e9) and found.throughput == pytest.approx(2**21 * 1e-11)
    assert predict(2**21, machine, 16).cycles == pytest.approx(2 * found.cycles)
    assert predict(2**20, GTX_280).throughput is None


def test_parameters_are_read_from_the_device(device, monkeypatch):
    monkeypatch.setattr(cost_model, "PROBED", 2**16)
    monkeypatch.setattr(cost_model, "GATHERED", 2**16)
    found = read_machine(device)
    assert found.multiprocessors == (device.threads or device.multiprocessors)
    assert found.clock == (1e9 if device.threads else device.clock_rate) and found.clock >= 5e8
    assert 0.5 < found.latency < 1e5 and 0 < found.gather < 1e-6
