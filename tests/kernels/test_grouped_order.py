"""Long channels, whose bad triangles have ever shorter edges, so that a strict order takes them one by one."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.memory import open_device
from dmr.refinement.options import RefineOptions
from dmr.refinement.rounds.grouped_order import STRICT_ROUNDS
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.demand import MOST_ASPECT, default_budget, sum_of_aspects
from dmr.refinement.state.records import POINT, TRIANGLE
from dmr.refinement.steps.thresholds import thresholds

BAD, SKINNY, FINE = 1 << 31, 1 << 22, 1 << 11  # of a quality word (cuda_src/refine/quality/quality.cuh, urgency.cuh)


def channel(aspect: float, corners: int = 5, seed: int = 0) -> dmr.Pslg:
    """A channel of width 1 whose walls have corners that jitter by a tenth; no corner is below 60 degrees."""
    random = np.random.default_rng(seed)
    along = np.linspace(0, aspect, corners)
    low = np.column_stack([along, 0.1 * random.random(corners)])
    high = np.column_stack([along[::-1], 1 + 0.1 * random.random(corners)])
    vertices = np.vstack([low, high])
    ends = np.arange(len(vertices))
    return dmr.Pslg(vertices, np.column_stack([ends, np.roll(ends, -1)]))


@pytest.mark.parametrize("aspect", [1e2, 1e3, 1e4])
@pytest.mark.parametrize("conforming", [False, True])
def test_channels_are_refined_completely(aspect, conforming):
    domain, angle = channel(aspect), 20.7 if conforming else 30
    fine = dmr.refine(domain, min_angle=angle, conforming=conforming, device="cpu")
    assert fine.complete and not fine.unrefined
    assert fine.rounds < 10 * STRICT_ROUNDS
    assert dmr.validate(fine.mesh, input=domain, min_angle=angle).ok


@pytest.mark.large
@pytest.mark.parametrize("aspect", [1e5, 1e6])
def test_longer_channels_stay_within_the_default_limit_on_points(aspect):
    for angle, conforming in ((20.7, True), (30, False)):
        fine = dmr.refine(channel(aspect), min_angle=angle, conforming=conforming, device="cpu")
        assert fine.complete and not fine.unrefined


def test_the_default_limit_grows_with_aspect_ratios_up_to_a_maximum():
    options, device = RefineOptions(min_angle=20), open_device("cpu")
    meshes = [dmr.triangulate(channel(aspect)) for aspect in (1e2, 1e4, 1e6)]
    needed = [default_budget(mesh, options, sum_of_aspects(admit(mesh, device)[0]), sized=False) for mesh in meshes]
    assert needed[0] < 1_100_000 and needed[2] > 8 * 1e6
    assert needed == sorted(needed)
    many = dmr.generate("random", 40_000, seed=1)
    assert sum_of_aspects(admit(many, device)[0]) == 0


def test_the_sum_of_aspects_is_that_of_longest_edges_over_heights(device):
    mesh = dmr.generate("random", 3000, seed=2)
    corners = mesh.vertices[mesh.triangles]
    edges = np.roll(corners, -1, axis=1) - corners
    lengths = np.hypot(edges[..., 0], edges[..., 1])
    first, second = edges[:, 0], edges[:, 1]
    areas = 0.5 * np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    expected = (lengths.max(axis=1) ** 2 / (2 * areas)).clip(max=MOST_ASPECT).sum()
    assert sum_of_aspects(admit(mesh, device)[0]) == pytest.approx(expected, rel=1e-9)


def test_aspects_without_a_height_count_as_the_largest(device):
    points = device.array(np.array([[0, 0], [1, 0], [0.5, 0], [0.5, 0.25]]).reshape(-1).view(POINT))
    triangles = device.zeros(2, TRIANGLE)
    records = triangles.download()
    records["vertex"] = [[0, 1, 2], [0, 1, 3]]
    triangles.upload(records)
    ratios = device.empty(2, np.float64)
    device.launch("aspect_ratios", 2, triangles, points, MOST_ASPECT, ratios)
    assert ratios.download().tolist() == [MOST_ASPECT, 4.0]


def test_host_and_device_rounds_give_the_same_channel(device_options):
    domain = channel(2e4, seed=1)
    expected = dmr.refine(domain, min_angle=30, device="cpu", threads=1, loop="host")
    assert expected.rounds > STRICT_ROUNDS, "else the grouped order is not tried"
    found = dmr.refine(domain, min_angle=30, **device_options)
    assert np.array_equal(found.mesh.vertices, expected.mesh.vertices)
    assert np.array_equal(found.mesh.triangles, expected.mesh.triangles)
    assert found.rounds == expected.rounds


def words(scale: float, shift: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Squared shortest edges of needles, far apart, and their quality words in strict and in grouped order."""
    lengths = scale * np.linspace(1, 1.4, 400)
    left = shift + scale * 100.0 * np.arange(len(lengths))
    nothing = np.zeros(len(left))
    outline = [  # a needle 0 1 2, and 0 2 3 beside it, so that the needle's angle is none of the input's
        np.column_stack([left, nothing]),
        np.column_stack([left + lengths, nothing]),
        np.column_stack([left, nothing + 50 * scale]),
        np.column_stack([left - 40 * scale, nothing + 25 * scale]),
    ]
    first = 4 * np.arange(len(lengths))[:, None]
    triangles = np.vstack([first + np.array(corners) for corners in ([0, 1, 2], [0, 2, 3])])
    mesh = dmr.Mesh(np.stack(outline, axis=1).reshape(-1, 2), triangles)
    device = open_device("cpu", 1)
    state, _ = admit(mesh, device, "none")
    limits, slots = thresholds(RefineOptions(min_angle=20)), device.empty(state.slots, np.int32)
    device.launch("fill_indices", state.slots, slots)
    device.launch("check_listed", state.slots, state.view, limits.view, slots, None, None, None)
    strict = state.quality.download()[: state.slots]
    device.launch("group_listed", state.slots, state.view, slots)
    grouped = state.quality.download()[: state.slots]
    points = state.points.download().view(np.float64).reshape(-1, 2)
    ends = points[state.triangles.download()["vertex"][: state.slots]]
    squared = ((ends - np.roll(ends, 1, axis=1)) ** 2).sum(axis=2).min(axis=1)
    skinny = (strict & SKINNY) != 0
    assert skinny.sum() == len(lengths) and (strict[skinny] & BAD).all()
    assert np.array_equal(strict[~skinny], grouped[~skinny])
    return squared[skinny], strict[skinny], grouped[skinny]


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (2.0**-40, 1.0), (3e20, -1e24)])
def test_urgency_orders_by_powers_of_two_then_cells_then_length(scale, shift):
    squared, strict, grouped = words(scale, shift)
    assert np.array_equal(strict // FINE, grouped // FINE), "flags, and the power of two, stay"
    power = strict // FINE
    for each in np.unique(power):
        group, fine = np.divmod(grouped[power == each] % FINE, 64)
        assert len(np.unique(group)) > min(10, len(group) // 2), "cells are told apart"
        order = np.argsort(squared[power == each], kind="stable")
        assert (np.diff(fine[order].astype(int)) <= 0).all(), "within a cell the shorter edge is more urgent"
