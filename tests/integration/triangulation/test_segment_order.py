"""Segments of a triangulation in the order of their ends, and the threads that share one."""

import numpy as np
import pytest

import dmr
from dmr.triangulation import native
from dmr.triangulation.segment_order import sorted_segments


@pytest.mark.parametrize("seed", range(8))
def test_segments_are_sorted_by_their_ends(seed):
    random = np.random.default_rng(seed)
    vertices = random.integers(0, 12, (40, 2)).astype(float)
    if seed % 2:  # many vertices, relative to which segments are few
        vertices = np.vstack([vertices, random.integers(20, 99, (2000, 2))])
    segments = random.integers(0, 40, (30, 2))
    segments = segments[(vertices[segments[:, 0]] != vertices[segments[:, 1]]).any(axis=1)]
    mesh = dmr.triangulate(dmr.Pslg(vertices, segments, segment_markers=np.arange(len(segments))), convex_hull=True)
    ends, markers, rows = sorted_segments(mesh)
    assert ends.tolist() == sorted(sorted(pair) for pair in mesh.segments.tolist())
    np.testing.assert_array_equal(np.sort(mesh.segments[rows], axis=1), ends)
    np.testing.assert_array_equal(mesh.segment_markers[rows], markers)
    assert ends.dtype == markers.dtype == np.int32


def test_the_segments_of_a_fan_are_sorted():
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    fan = dmr.Pslg(np.vstack([rim, [(0, 0)]]), [(200, end) for end in np.random.default_rng(1).permutation(200)])
    ends, _, rows = sorted_segments(dmr.triangulate(fan, convex_hull=True))
    assert ends.tolist() == [[end, 200] for end in range(200)]
    assert sorted(rows) == list(range(200))


@pytest.mark.parametrize("unused", [0, 100])
def test_repeated_segments_are_unique(unused):
    mesh = dmr.Mesh(
        [(0, 0), (1, 0), (0, 1)] + unused * [(2, 2)],
        [(0, 1, 2)],
        segments=[(1, 0), (2, 1), (0, 1)],
        segment_markers=[0, 4, 7],
    )
    for found, expected in zip(sorted_segments(mesh), mesh.unique_segment_rows(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert sorted_segments(mesh)[1].tolist() == [7, 4]


def test_few_points_do_not_wake_many_threads(monkeypatch):
    monkeypatch.setattr(native, "LEAST_PER_THREAD", 1000)
    assert [native.useful_threads(16, elements) for elements in (0, 36, 1999, 2000, 5500, 10**6)] == [1, 1, 1, 2, 5, 16]
    assert native.useful_threads(2, 10**6) == 2
