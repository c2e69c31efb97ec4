"""Generated lists and trees: properties of each kind, and determinism."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from static_graph import euler_tour, generate_list, generate_tree, rank_in_detail
from static_graph.errors import GraphError, OptionError
from static_graph.lists.kinds import KINDS
from static_graph.trees.kinds import KINDS as TREE_KINDS


def order_of(successors):
    """The elements of one list in its order."""
    return np.argsort(rank_in_detail(successors, method="sequential").ranks)


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 1000, 10_007])
def test_every_kind_of_list_has_its_order(size, device_options):
    orders = {kind: order_of(generate_list(kind, size, interval=8, seed=2, **device_options)) for kind in KINDS}
    multiples = {kind: np.flatnonzero(order % 8 == 0) for kind, order in orders.items()}
    assert np.array_equal(orders["ordered"], np.arange(size))
    assert np.array_equal(multiples["random-balanced"], np.arange(0, size, 8))
    assert np.array_equal(multiples["ordered-unbalanced"], multiples["random"])
    among = orders["ordered-unbalanced"] % 8 == 0
    for part in (among, ~among):
        assert (np.diff(orders["ordered-unbalanced"][part]) > 0).all()
    if size >= 1000:
        for kind in ("random", "random-balanced"):
            ascents = np.count_nonzero(np.diff(orders[kind]) > 0) / size
            assert 0.45 < ascents < 0.55 or kind == "random-balanced"
        gaps = np.diff(multiples["random"])
        assert gaps.min() == 1 and gaps.max() > 24


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_of_even_lengths(kind, device_options):
    for size, lists in ((10, 10), (100, 7), (1000, 999), (5000, 3)):
        lengths = rank_in_detail(generate_list(kind, size, lists=lists, **device_options), method="sequential").lengths
        assert len(lengths) == lists and lengths.sum() == size and np.ptp(lengths) <= 1


def test_lists_are_the_same_on_every_device(device_options):
    found = generate_list("random", 10_000, lists=3, seed=7, **device_options)
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == "b4ca9f4edc70718b"
    assert not np.array_equal(found, generate_list("random", 10_000, lists=3, seed=8, **device_options))


@pytest.mark.parametrize(
    ("error", "said", "arguments"),
    [
        (OptionError, "kind must be one of .*, not 'long'", {"kind": "long"}),
        (GraphError, "there are 0 to 2147483647 elements, not -1", {"size": -1}),
        (OptionError, "lists = 11: 10 elements can make 1 to 10 lists", {"lists": 11}),
        (OptionError, "lists = 0", {"lists": 0}),
        (OptionError, "interval = 0", {"interval": 0}),
        (OptionError, "seed must be from 0", {"seed": -1}),
    ],
)
def test_invalid_list_options_are_refused(error, said, arguments):
    with pytest.raises(error, match=said):
        generate_list(**{"kind": "random", "size": 10} | arguments)
    assert len(generate_list("random", 0)) == 0


@pytest.mark.parametrize("nodes", [1, 2, 3, 10, 1001])
def test_every_kind_of_tree_has_its_shape(nodes):
    for kind in TREE_KINDS:
        for shuffled in (False, True):
            parents = generate_tree(kind, nodes, shuffled=shuffled, seed=4)
            tree = euler_tour(parents, device="cpu")
            children = np.bincount(parents[parents >= 0], minlength=nodes)
            assert len(tree.roots) == 1 and (shuffled or (parents < np.arange(nodes)).all())
            height, most = int(tree.level.max()), int(children.max())
            if kind == "path":
                assert (height, most) == (nodes - 1, min(nodes - 1, 1))
            elif kind == "star":
                assert (height, most) == (min(nodes - 1, 1), nodes - 1)
            elif kind == "caterpillar":
                assert height <= (nodes + 1) // 2 and most <= 2
                assert np.count_nonzero(children) <= (nodes + 1) // 2
            else:
                assert most <= 2 and (nodes < 1000 or 12 < height < 60)


def test_trees_depend_on_the_seed_only():
    one, same, other = (generate_tree("random-binary", 500, seed=seed, threads=1 + seed) for seed in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)
    for error, said, arguments in (
        (OptionError, "kind must be one of .*, not 'oak'", ("oak", 5)),
        (GraphError, "a tree has 1 to", ("path", 0)),
    ):
        with pytest.raises(error, match=said):
            generate_tree(*arguments)
    with pytest.raises(OptionError, match="seed must be from 0"):
        generate_tree("path", 5, seed=-1)
