"""Sources of sizes on every device: equal bits, and the rules of interpolation against numpy."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest

import dmr
from dmr.errors import OptionError
from dmr.memory import open_device, record
from dmr.mesh.location.background import DeviceBackground
from dmr.sizing.functions import size_source
from dmr.sizing.source import SizeSource
from scripts.sanitize.meshes import size_sources

PLACES = np.random.default_rng(3).uniform(-0.5, 1.5, (4000, 2))


def evaluated(source: SizeSource, device, places=PLACES) -> np.ndarray:
    with device.lock, device.current:
        sizes = device.empty(len(places), np.float64)
        source.on(device).evaluate(device.array(places, record("Point")), len(places), sizes)
        return sizes.download()


def test_every_source_has_the_same_bits_on_every_device(device):
    with device.lock, device.current:
        found = {name: run() for name, run in size_sources(device)}
    assert found == {name: run() for name, run in size_sources(open_device("cpu", 1))} and len(found) >= 10


def test_sizes_on_a_grid_are_bilinear(device):
    x, y = np.array([0, 0.25, 0.3, 1]), np.array([-0.25, 0.5, 1.25])
    values = np.random.default_rng(1).uniform(1, 2, (3, 4))
    values[2, 3] = np.inf
    cell, position = [], []
    for lines, coordinates in ((x, PLACES[:, 0]), (y, PLACES[:, 1])):
        k = np.clip(np.searchsorted(lines, coordinates, side="right") - 1, 0, len(lines) - 2)
        cell.append(k)
        position.append(np.clip((coordinates - lines[k]) / (lines[k + 1] - lines[k]), 0, 1))
    (i, j), (right, up) = cell, position
    expected = np.zeros(len(PLACES))
    for weight, size in (
        ((1 - right) * (1 - up), values[j, i]), (right * (1 - up), values[j, i + 1]),
        ((1 - right) * up, values[j + 1, i]), (right * up, values[j + 1, i + 1]),
    ):  # fmt: skip
        expected += np.where(weight > 0, weight * np.where(weight > 0, size, 1), 0)
    field = dmr.SizeField.from_grid(x, y, values)
    assert np.isinf(expected).sum() > 50 and np.array_equal(evaluated(field, device), expected)


@pytest.mark.parametrize("on", ["vertices", "triangles"])
def test_sizes_on_a_mesh_follow_the_places_of_points(on, device):
    mesh = dmr.generate("plate", 200, seed=3)
    values = np.random.default_rng(1).uniform(1, 2, len(getattr(mesh, on)))
    triangles, corners, weights = DeviceBackground(mesh, open_device("cpu")).places(PLACES)
    if on == "triangles":
        expected = values[triangles]
    else:
        parts = weights * values[corners]
        expected = parts[:, 0] + parts[:, 1] + parts[:, 2]
    assert np.array_equal(evaluated(dmr.SizeField(mesh, values, on=on), device), expected)


def test_the_smallest_of_several_sizes(device):
    grid = dmr.SizeField.from_grid([0, 1], [0, 1], [[1, 2], [3, np.inf]])

    def function(points):
        return 1.0 + abs(points[:, 0])

    both = dmr.sizing.smallest(grid, function, 1.7)
    assert not both.by_kernels and dmr.sizing.smallest(grid, 1.7).by_kernels
    expected = np.minimum(np.minimum(grid(PLACES), function(PLACES)), 1.7)
    assert np.array_equal(evaluated(both, device), expected)
    assert dmr.sizing.smallest(grid) is grid
    with pytest.raises(OptionError, match="at least one"):
        dmr.sizing.smallest()


@pytest.mark.parametrize("source", ["mesh", "samples", "segments"])
def test_copies_give_the_same_sizes(source):
    mesh = dmr.generate("plate", 60, seed=3)
    made = {
        "mesh": lambda: dmr.SizeField(mesh, np.arange(1.0, 1 + len(mesh.vertices)), on="vertices"),
        "samples": lambda: dmr.sizing.sampled(lambda points: 0.1 + abs(points[:, 1]), mesh),
        "segments": lambda: dmr.sizing.from_lengths(mesh),
    }[source]()
    expected = made(PLACES)
    for copy in (pickle.loads(pickle.dumps(made)), deepcopy(made)):
        assert np.array_equal(copy(PLACES), expected)


def test_the_gradient_of_any_source_but_a_function_can_be_limited():
    assert size_source(0.5).limited(0.1)(PLACES[:3]).tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(OptionError, match=r"sampled\(function, domain\)"):
        size_source(lambda points: 0.5).limited(0.1)
    square = dmr.domains.rectangle(1, 1)
    steep = dmr.sizing.from_distance(square, 0.1, 1.0, 0.5)
    gentle = dmr.sizing.smallest(steep, 0.3).limited(0.25)
    assert np.array_equal(gentle(PLACES), np.minimum(dmr.sizing.from_distance(square, 0.1, 1.0, 3.6)(PLACES), 0.3))
