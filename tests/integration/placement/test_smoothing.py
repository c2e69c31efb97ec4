"""Laplace's smoothing of placed points: it reverses no triangle, also where the means of neighbours would."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.memory import constant
from dmr.refinement.placement import smoothing
from dmr.refinement.setup.admission import admit

# A chevron, in whose reflex corner triangles are reversed if the vertex 4 moves to the mean of its neighbours.
CHEVRON = [(-2.5, -1.5), (0.0, 0.0), (2.5, -1.5), (0.0, 2.4), (0.0, 1.2)]
# A square around a vertex beside its center, far away, with which nothing is wrong.
SQUARE = [(10.0, 0.0), (14.0, 0.0), (14.0, 4.0), (10.0, 4.0), (11.0, 1.0)]
FANS = [(k, (k + 1) % 4, 4) for k in range(4)]
FREE = [4, 9]
RELAXATION = 1.2  # of cuda_src/placement/smoothing.cu


def smoothed(vertices, rounds, device):
    """Returns the vertices after rounds of smoothing in which those of FREE may move."""
    fans = np.concatenate([np.array(FANS) + 5 * k for k in range(len(vertices) // 5)])
    state, _ = admit(dmr.Mesh(vertices, fans), device)
    order = state.order.download()
    origin = np.full(len(order), constant("INPUT_VERTEX"), np.int32)
    origin[np.isin(order, FREE)] = constant("FREE_VERTEX")
    state.vertex_origin[: len(order)].upload(origin)
    smoothing._Averaging(state, smoothing._incident(state)).run(rounds)
    found = np.empty((len(order), 2))
    found[order] = state.points[: len(order)].download().view(np.float64).reshape(-1, 2)
    return found


def by_definition(vertices, rounds):
    """The same, for vertices with four neighbours each, if no triangle is reversed."""
    places = np.array(vertices)
    for _ in range(rounds):
        for free in FREE:
            if free < len(places):
                places[free] += RELAXATION * (places[free - 4 : free].mean(axis=0) - places[free])
    return places


@pytest.mark.parametrize("rounds", [1, 2, 6])
def test_moves_that_reverse_triangles_are_taken_back_and_others_are_not(rounds, device):
    expected = by_definition(CHEVRON + SQUARE, rounds)
    assert expected[4, 1] < 0  # below the reflex corner
    expected[4] = CHEVRON[4]
    np.testing.assert_allclose(smoothed(CHEVRON + SQUARE, rounds, device), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rounds", [2, 6])
def test_triangles_may_be_reversed_between_rounds(rounds, device):
    """The first round moves the vertex past the mean, and out of a flat chevron; the second one moves it back."""
    flat = [(-3.0, -0.9), (0.0, 0.0), (3.0, -0.9), (0.0, 2.0), (0.0, 1.0)]
    assert by_definition(flat, 1)[4, 1] < 0 < by_definition(flat, rounds)[4, 1]
    np.testing.assert_allclose(smoothed(flat, rounds, device), by_definition(flat, rounds), rtol=0, atol=1e-12)


@pytest.mark.parametrize("few", [0, smoothing.FEW_STARS])
def test_angles_are_lifted_alike_in_one_launch_and_in_many(few, monkeypatch):
    ring = np.array([(np.cos(t), np.sin(t)) for t in np.arange(96) * (np.pi / 48)])
    outline = [(0, 0), (4, 0), (4, 2), (0, 2)]
    plate = dmr.domains.polygon(
        outline, holes=[0.6 * ring + (1, 1), 0.25 * ring + (2.4, 1.3), 0.06 * ring + (3.2, 0.5)]
    )
    expected = dmr.refine(plate, size=0.06, device="cpu", threads=1)
    monkeypatch.setattr(smoothing, "FEW_STARS", few)
    found = dmr.refine(plate, size=0.06, device="cpu", threads=2)
    assert found.mesh.vertices.tobytes() == expected.mesh.vertices.tobytes()
    assert found.mesh.triangles.tobytes() == expected.mesh.triangles.tobytes()
    launches = found.launches
    assert launches["lift_few_stars"] >= 1 if few else launches["rate_stars"] >= 3
