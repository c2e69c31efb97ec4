"""Random graphs against a plain implementation of their rules; determinism, and the degrees of the papers."""

from __future__ import annotations

import numpy as np
import pytest

from static_graph import CsrGraph, generate_random, generate_rmat, with_random_weights
from static_graph.errors import GraphError, OptionError
from static_graph.graph.building import find_rows
from static_graph.graph.generation import PRESETS
from tests.support.digests import graph_digest

WORD = 2**64
WEIGHTS, EDGES, NAMES = range(3)


def splitmix(state, skip=0):
    """Numbers of SplitMix64 from a state, without the first few."""
    state += 0x9E3779B97F4A7C15 * skip
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        x = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % WORD
        x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
        yield x ^ x >> 31


def numbers_of(seed, purpose, place):
    """The random numbers for one edge, weight or node: a generator's own state is one number of another's."""
    return splitmix(next(splitmix(next(splitmix(seed, purpose)), place)))


def rmat_edge(nodes, preset, seed, place, self_loops):
    """One edge, by GTgraph's rules."""
    numbers = numbers_of(seed, EDGES, place)
    while True:
        parts = [preset.a, preset.b, preset.c, preset.d]
        rows, columns = range(nodes), range(nodes)
        source = target = 0
        for level in range((nodes - 1).bit_length()):
            if preset.noise and level:
                bits = next(numbers)
                for k in range(4):
                    parts[k] *= 1 - preset.noise / 2 + preset.noise / 65535 * (bits >> 16 * k & 0xFFFF)
            drawn = (next(numbers) >> 11) * 2.0**-53 * (parts[0] + parts[1] + parts[2] + parts[3])
            bounds = [parts[0], parts[0] + parts[1], parts[0] + parts[1] + parts[2]]
            part = sum(drawn >= bound for bound in bounds)
            if preset.halving == "even":  # the rest of the range, the smaller part first
                half, other = len(rows) // 2, len(columns) // 2
                rows = rows if len(rows) == 1 else rows[half:] if part >= 2 else rows[:half]
                columns = columns if len(columns) == 1 else columns[other:] if part % 2 else columns[:other]
                source, target = rows[0], columns[0]
            else:
                half = nodes >> level + 1
                source += half * (part >= 2)
                target += half * (part % 2)
        if self_loops or source != target:
            return source, target


def edges_of(graph):
    return list(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("nodes", [1, 2, 7, 64, 1000, 3_000_001])
@pytest.mark.parametrize("self_loops", [True, False])
def test_rmat_equals_a_plain_implementation(preset, nodes, self_loops, device_options):
    nodes += nodes == 1 and not self_loops  # a single node has nothing else
    graph = generate_rmat(nodes, 60, preset=preset, seed=5, self_loops=self_loops, **device_options)
    pairs = [rmat_edge(nodes, PRESETS[preset], 5, place, self_loops) for place in range(60)]
    assert edges_of(graph) == sorted(pairs)


@pytest.mark.parametrize("self_loops", [True, False])
def test_random_graphs_equal_a_plain_implementation(self_loops, device_options):
    graph = generate_random(1000, 300, seed=9, self_loops=self_loops, **device_options)
    pairs = []
    for place in range(300):
        numbers = numbers_of(9, EDGES, place)
        source = next(numbers) * 1000 >> 64
        target = next(numbers) * (1000 if self_loops else 999) >> 64
        pairs.append((source, target + (not self_loops and target >= source)))
    assert edges_of(graph) == sorted(pairs)


def test_weights_equal_a_plain_implementation():
    graph = with_random_weights(CsrGraph.from_edges([0] * 50, [0] * 50), 100, seed=3)
    assert graph.weights.tolist() == [1 + (next(numbers_of(3, WEIGHTS, place)) * 100 >> 64) for place in range(50)]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda **options: generate_rmat(5000, 40_000, weights=100, permute=True, **options), "dc3505b651b6ae98"),
        (
            lambda **options: generate_rmat(4096, 40_000, preset="graph500", duplicates=False, **options),
            "606b394e7d85ac43",
        ),
        (lambda **options: generate_random(5000, 40_000, seed=1, weights=7, **options), "eee622e3c18fa580"),
    ],
)
def test_the_same_graph_on_every_device(make, expected, device_options):
    assert graph_digest(make(**device_options)) == expected


@pytest.mark.slow
def test_rmat_has_the_degrees_of_the_thesis():
    """Chapter 6: a maximum of 1,181, 29,604 extra nodes at MDA 54."""
    degrees = generate_rmat(10**6, 8 * 10**6, preset="thesis", device="cpu", threads=2).out_degrees
    assert abs(degrees.mean() - 8) < 1e-9
    assert abs(degrees.max() - 1181) < 0.03 * 1181
    assert abs((-(-degrees // 54) - 1).clip(0).sum() - 29_604) < 0.03 * 29_604


@pytest.mark.parametrize("probabilities", [(0.57, 0.19, 0.19, 0.05), (0.1, 0.2, 0.3, 0.4)])
@pytest.mark.parametrize("halving", ["even", "gtgraph"])
def test_rmat_quadrants_have_their_probabilities(probabilities, halving):
    drawn = 200_000
    graph = generate_rmat(1 << 10, drawn, probabilities=probabilities, noise=0, halving=halving, device="cpu")
    part = 2 * (graph.sources() >= 1 << 9) + (graph.targets >= 1 << 9)
    counts = np.bincount(part, minlength=4)
    spread = np.sqrt(drawn * np.array(probabilities))
    assert (np.abs(counts - drawn * np.array(probabilities)) < 5 * spread).all()


def test_even_halving_reaches_every_node():
    graph = generate_rmat(1000, 200_000, probabilities=(0.25,) * 4, noise=0, halving="even", device="cpu")
    assert graph.out_degrees.min() > 0
    counts = np.bincount(graph.targets, minlength=1000)
    assert abs(counts.mean() - 200) < 1e-9 and 250 > counts.std() > 0
    # GTgraph's halves of 1000 are 500, 250, 125, 62, 31, 15, 7, 3, 1 and 0: nothing lies beyond their sum.
    plain = generate_rmat(1000, 200_000, probabilities=(0.25,) * 4, noise=0, halving="gtgraph", device="cpu")
    assert plain.out_degrees[995:].sum() == 0 and plain.out_degrees[994] > 0


def test_random_edges_are_uniform():
    graph = generate_random(100, 1_000_000, device="cpu")
    for counts in (graph.out_degrees, np.bincount(graph.targets, minlength=100)):
        assert np.abs(counts - 10_000).max() < 5 * 100


def test_permuted_graphs_are_isomorphic():
    plain, renamed = (generate_rmat(500, 4000, permute=p, device="cpu") for p in (False, True))
    assert sorted(plain.out_degrees) == sorted(renamed.out_degrees)
    assert plain.out_degrees.tolist() != renamed.out_degrees.tolist()
    for graph in (plain, renamed):
        loops = np.count_nonzero(graph.sources() == graph.targets)
        assert loops == np.count_nonzero(plain.sources() == plain.targets)
    distinct = [len(set(edges_of(graph))) for graph in (plain, renamed)]
    assert distinct[0] == distinct[1] < 4000


def test_no_duplicate_edges_on_request(device_options):
    options = {"preset": "graph500", **device_options}
    every = generate_rmat(200, 5000, **options)
    once = generate_rmat(200, 5000, duplicates=False, **options)
    assert edges_of(once) == sorted(set(edges_of(every)))
    assert once.edges < every.edges
    assert generate_rmat(200, 0, duplicates=False, **options).edges == 0


def test_no_self_loops_on_request(device_options):
    for make in (generate_rmat, generate_random):
        graph = make(50, 5000, self_loops=False, **device_options)
        assert graph.edges == 5000
        assert (graph.sources() != graph.targets).all()


def test_weights_are_positive_integers(device_options):
    graph = generate_random(10, 20_000, weights=6, **device_options)
    assert graph.weights.dtype == np.int32
    counts = np.bincount(graph.weights, minlength=7)
    assert counts[0] == 0 and np.abs(counts[1:] - 20_000 / 6).max() < 5 * np.sqrt(20_000 / 6)
    assert (generate_random(10, 50, weights=1, **device_options).weights == 1).all()


def test_different_seeds_give_different_graphs():
    graphs = [generate_rmat(100, 100, seed=seed, device="cpu") for seed in (0, 1, 2**63, 2**64 - 1)]
    assert len({graph_digest(graph) for graph in graphs}) == 4


def test_find_rows_with_long_gaps(device):
    for keys in ([0] * 5000 + [70_000], [69_999, 70_000], [], [5] * 20_000):
        offsets = find_rows(device.array(np.array(keys, np.uint32)), 70_001).download()
        assert offsets.tolist() == np.searchsorted(keys, np.arange(70_002)).tolist()


INVALID = {  # values by option
    "preset": ["kron"],
    "probabilities": [(0.5,) * 4, (1.5, -0.5, 0, 0), (float("nan"), 0.5, 0.25, 0.25)],
    "noise": [2],
    "halving": ["odd"],
    "seed": [-1],
    "weights": [0, 2**31],
    "nodes": [0, 2**31],
    "edges": [-1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in INVALID.items() for value in values])
def test_invalid_generator_options_are_refused(name, value):
    error = GraphError if name in ("nodes", "edges") else OptionError
    with pytest.raises(error, match=name.removesuffix("s")):
        generate_rmat(**{"nodes": 10, "edges": 100, "device": "cpu", name: value})


@pytest.mark.parametrize("options", [{"nodes": 1}, {"probabilities": (1, 0, 0, 0)}])
def test_graphs_that_have_only_self_loops_are_refused_without_them(options):
    with pytest.raises(OptionError, match=r"self.loops"):
        generate_rmat(**{"nodes": 10, "edges": 100, "device": "cpu", **options}, self_loops=False)
