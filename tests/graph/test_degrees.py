"""Degrees: statistics, distributions, histogram, automatic MDA and plots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_graph import (
    CsrGraph,
    automatic_mda,
    degree_distribution,
    degree_histogram,
    degree_statistics,
    plot_degrees,
    read,
)
from static_graph.errors import FileError, OptionError
from static_graph.graph.degrees import in_degrees, isolated_nodes, split_distribution
from tests.support.paths import ROOT

WEB = ROOT.parent / "shared" / "graphs" / "web-Stanford.txt.gz"


def with_degrees(degrees):
    """A graph whose nodes have these out-degrees."""
    return CsrGraph(np.concatenate([[0], np.cumsum(degrees)]), np.zeros(sum(degrees), int))


def split(degrees, mda):
    """The degrees after splitting, node by node, as section 4.2 says it."""
    after = []
    for degree in degrees:
        parts = max(-(-degree // mda), 1)
        after += [degree // parts + (k < degree % parts) for k in range(parts)]
    return after


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40), st.integers(1, 70))
def test_split_distribution_equals_a_loop(degrees, mda):
    after = split(degrees, mda)
    distribution = split_distribution(degree_distribution(np.array(degrees)), mda)
    assert [distribution[d] if d < len(distribution) else 0 for d in range(61)] == [after.count(d) for d in range(61)]
    assert max(after) <= mda or max(degrees) <= mda


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60))
def test_the_automatic_level_follows_the_thesis(degrees):
    largest = max(degrees)
    width = max(largest, 1) / 10
    buckets = [[d for d in degrees if k * width <= d and (d < (k + 1) * width or k == 9)] for k in range(10)]
    counts = [len(bucket) for bucket in buckets]
    assert degree_histogram(np.array(degrees)).tolist() == counts
    fullest = buckets[counts.index(max(counts))]
    assert automatic_mda(with_degrees(degrees)) == max(max(fullest), 1)


def test_degree_statistics():
    graph = CsrGraph.from_edges([0, 0, 0, 2], [0, 2, 2, 3], nodes=6)
    found = degree_statistics(graph.out_degrees)
    assert (found.minimum, found.maximum, found.zero, found.largest) == (0, 3, 4, 0)
    assert found.mean == pytest.approx(4 / 6) and found.variance == pytest.approx(np.var([3, 0, 1, 0, 0, 0]))
    assert in_degrees(graph).tolist() == [1, 0, 2, 1, 0, 0]
    assert isolated_nodes(graph) == 3
    assert degree_distribution(graph.out_degrees).tolist() == [4, 1, 0, 1]


@pytest.mark.parametrize("nodes", [0, 1, 5])
def test_degrees_of_graphs_without_edges(nodes):
    graph = CsrGraph([0] * (nodes + 1), [])
    assert automatic_mda(graph) == 1
    assert degree_histogram(graph.out_degrees).tolist() == [nodes] + [0] * 9
    assert degree_statistics(graph.out_degrees).maximum == 0
    assert isolated_nodes(graph) == nodes
    assert split_distribution(degree_distribution(graph.out_degrees), 3).sum() == nodes


@pytest.mark.skipif(not WEB.is_file(), reason="the real graphs are not here")
def test_degrees_of_the_web_graph_of_the_thesis():
    graph = read(WEB)
    assert automatic_mda(graph) == 25
    assert graph.out_degrees.max() == 255
    assert split_distribution(degree_distribution(graph.out_degrees), 8).sum() - graph.nodes == 158_002


def test_a_level_below_1_is_refused():
    with pytest.raises(OptionError, match="at least 1"):
        split_distribution(np.array([1]), 0)


@pytest.mark.slow
def test_degree_plots(tmp_path):
    pytest.importorskip("matplotlib")
    graph = with_degrees([0, 1, 1, 2, 40])
    one, two = plot_degrees(graph, tmp_path / "a.png"), plot_degrees(graph, tmp_path / "b.png", mda=8, title="x")
    for path in (one, two, plot_degrees(CsrGraph([0], []), tmp_path / "c.png")):
        assert path.read_bytes().startswith(b"\x89PNG")
    from matplotlib.image import imread

    assert imread(two).shape[1] == 2 * imread(one).shape[1]
    assert (imread(one)[..., :3].std(axis=2) > 0.05).any()  # points are blue
    with pytest.raises(FileError, match="exists already"):
        plot_degrees(graph, one, overwrite=False)
    with pytest.raises(FileError, match=r"as \.png"):
        plot_degrees(graph, tmp_path / "a.jpg")
