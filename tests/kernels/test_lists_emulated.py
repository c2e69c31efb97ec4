"""The CUDA version of the kernels of list ranking and Euler tours, run by an emulator of a GPU's threads."""

from __future__ import annotations

import numpy as np
import pytest

from dmr.common.clock import Clock
from static_graph import euler_tour, generate_list, generate_tree, rank, rank_in_detail
from static_graph.lists.checks import find_heads
from static_graph.lists.methods import helman_jaja
from static_graph.lists.methods.table import FINISHES, SPACINGS
from static_graph.lists.ranking import rank_on_device
from static_graph.trees.rooting import root_forest
from static_graph.trees.tours import _tour
from tests.support.emulated import emulator

pytestmark = pytest.mark.slow

SOURCES = [
    "graph/building/rows.cu",
    "graph/trees/euler_tour.cu",
    "lists/checking.cu",
    "lists/pointer_jumping.cu",
    "lists/ruling_set.cu",
    "lists/sequential_ranking.cu",
    "primitives/scan.cu",
    "primitives/sorting.cu",
]
METHODS = (
    ("wyllie", {}),
    ("wyllie", {"packing": 32}),
    ("lock-step", {}),
    ("on-demand", {}),
    ("helman-jaja", {}),
    *(
        ("helman-jaja", {"finish": finish, "spacing": spacing, "splitters": 300, "finish_size": 5})
        for finish in FINISHES
        for spacing in SPACINGS
    ),
)


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), SOURCES))


@pytest.mark.parametrize(
    ("method", "options", "lanes"),
    [(*case, lanes) for case in METHODS for lanes in ((16, 500) if case[0] == "helman-jaja" else (16,))],
)
def test_ranking_methods_on_the_emulated_gpu(method, options, lanes, device, monkeypatch):
    monkeypatch.setattr(helman_jaja, "GPU_LANES", lanes)
    monkeypatch.setattr(helman_jaja, "GPU_LONG", 1000)  # from which size on a GPU finishes by Wyllie's algorithm
    monkeypatch.setattr(helman_jaja, "GPU_WYLLIE", 30)
    monkeypatch.setattr(helman_jaja, "GPU_ONE_LEVEL", 0)
    for size, lists in ((1, 1), (5, 2), (257, 200), (1500, 1), (1500, 40)):
        successors = generate_list("random", size, lists=lists, seed=size, device="cpu")
        on_device = device.array(successors)
        heads, numbers = find_heads(on_device, successors), device.empty(size, np.int32)
        ranked = rank_on_device(on_device, heads, numbers, method=method, **options)
        expected = rank_in_detail(successors, method="sequential")
        assert np.array_equal(heads.download(), expected.heads)
        assert np.array_equal(ranked.lengths.download(), expected.lengths)
        assert np.array_equal(ranked.ranks.download(), expected.ranks)
        first = expected.heads[numbers.download()]
        assert (expected.ranks[first] == 0).all() and np.array_equal(np.unique(numbers.download()), np.arange(lists))


def test_long_sublists_are_split_at_further_splitters(device, monkeypatch):
    monkeypatch.setattr(helman_jaja, "_step_bits", lambda size, walkers: 5)
    successors = generate_list("random", 2_500, device="cpu")
    on_device = device.array(successors)
    heads = find_heads(on_device, successors)
    ranked = rank_on_device(on_device, heads, method="helman-jaja", splitters=200, finish_size=10)
    assert ranked.figures["bits"] == 32
    assert np.array_equal(ranked.ranks.download(), rank(successors, method="sequential"))


@pytest.mark.parametrize("kind", ["random-binary", "path", "star", "caterpillar"])
def test_euler_tours_on_the_emulated_gpu(kind, device):
    parents = generate_tree(kind, 600, seed=1)
    expected = euler_tour(parents, device="cpu")
    found = _tour(device.array(parents), Clock(device.synchronize))
    for name in ("parent", "preorder", "postorder", "level", "subtree_size"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
    others = np.flatnonzero(parents >= 0)
    edges = np.column_stack([others, parents[others]]).astype(np.int32)
    for missing in (0, 3):
        rooted = root_forest(edges[missing:], 600, np.array([5], np.int32), device).download()
        assert np.array_equal(rooted, euler_tour(edges[missing:], 5, nodes=600, device="cpu").parent)
