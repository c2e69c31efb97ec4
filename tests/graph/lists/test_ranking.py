"""List ranking: every method against a sequential pass in plain Python, and errors with their element."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from static_graph import find_roots, generate_list, rank, rank_in_detail
from static_graph.errors import GraphError, InternalError, OptionError
from static_graph.lists.checks import check_cycles
from static_graph.lists.methods import helman_jaja
from static_graph.lists.methods.table import FINISHES, RULES, SPACINGS
from static_graph.lists.ranking import rank_on_device

METHODS = [
    ("auto", {}),
    ("wyllie", {}),
    ("wyllie", {"packing": 32}),
    ("lock-step", {}),
    ("on-demand", {}),
    ("helman-jaja", {}),
    ("helman-jaja", {"finish_size": 1}),
    *(
        ("helman-jaja", {"finish": finish, "spacing": spacing, "splitters": splitters, "finish_size": 3})
        for finish in FINISHES
        for spacing in SPACINGS
        for splitters in (*RULES, 7)
    ),
]
IDS = [" ".join([name, *map(str, options.values())]) for name, options in METHODS]


def random_lists(seed, size=None, lists=None):
    """Successors, and values; lists end with -1 or with themselves, some are of one element."""
    random = np.random.default_rng(seed)
    size = int(random.choice([1, 2, 3, 10, 100, 1000])) if size is None else size
    lists = int(random.choice([1, 2, size // 3 + 1, size])) if lists is None else lists
    cuts = np.sort(random.choice(np.arange(1, size), min(lists, size) - 1, replace=False))
    successors = np.empty(size, np.int64)
    for order in np.split(random.permutation(size), cuts):
        successors[order[:-1]] = order[1:]
        successors[order[-1]] = -1 if random.random() < 0.5 else order[-1]
    return successors, random.integers(-(2**40), 2**40, size)


def followed(successors, values=None):
    """Ranks and sums, element by element."""
    size = len(successors)
    nexts = [int(j) if 0 <= j != i else -1 for i, j in enumerate(successors)]
    ranks, sums = [-1] * size, [0] * size
    for head in set(range(size)) - set(nexts):
        at, count, total = head, 0, 0
        while at >= 0:
            ranks[at], sums[at] = count, total
            count, total = count + 1, total + (0 if values is None else int(values[at]))
            at = nexts[at]
    return np.array(ranks), np.array(sums)


@cache
def of_kind(kind, size, lists):
    """A list of a kind and its ranks, cached for all methods and devices."""
    successors = generate_list(kind, size, lists=lists, seed=3, device="cpu")
    return successors, followed(successors)[0]


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_every_method_ranks_and_sums_up(method, options, device_options):
    for seed in range(10):
        successors, values = random_lists(seed)
        ranks, sums = followed(successors, values)
        found = rank(successors, values=values, method=method, **options, **device_options)
        assert np.array_equal(found[0], ranks) and np.array_equal(found[1], sums), seed
        assert found[0].dtype == np.int32 and found[1].dtype == np.int64
        assert np.array_equal(rank(successors, method=method, **options, **device_options), ranks), seed


@pytest.mark.parametrize("kind", ["ordered", "ordered-unbalanced", "random-balanced", "random"])
@pytest.mark.parametrize(("method", "options"), METHODS[:6], ids=IDS[:6])
def test_ranks_of_larger_lists_of_every_kind(method, options, kind, device_options):
    size = 60_000
    for lists in (1, 1000):
        successors, ranks = of_kind(kind, size, lists)
        assert np.array_equal(rank(successors, method=method, **options, **device_options), ranks)


def test_sequential_ranking_agrees_with_plain_python():
    for seed in range(100):
        successors, values = random_lists(seed)
        found = rank(successors, values=values, method="sequential")
        assert all(np.array_equal(*pair) for pair in zip(found, followed(successors, values), strict=True))


def test_ranks_of_thousands_of_lists(device_options):
    for seed in range(500):
        successors, _ = random_lists(seed, size=1 + seed % 97)
        method, options = METHODS[1 + seed % (len(METHODS) - 1)]
        assert np.array_equal(rank(successors, method=method, **options, **device_options), followed(successors)[0])


@given(st.permutations(range(30)), st.lists(st.booleans(), min_size=30, max_size=30), st.integers(0, len(METHODS) - 1))
def test_ranks_of_arbitrary_lists(order, ends, which):
    successors = np.full(30, -1)
    for here, after, end in zip(order[:-1], order[1:], ends[1:], strict=True):
        successors[here] = here if end else after
    method, options = METHODS[which]
    assert np.array_equal(rank(successors, method=method, device="cpu", **options), followed(successors)[0])


@pytest.mark.parametrize("method", ["auto", "wyllie", "lock-step", "on-demand", "helman-jaja"])
def test_ranks_of_empty_and_single_element_lists(method, device_options):
    for nothing in ([], np.empty(0, np.int32)):
        assert len(rank(nothing, method=method, **device_options)) == 0
    assert [part.tolist() for part in rank([], values=[], method=method, **device_options)] == [[], []]
    for one in ([-1], [0]):
        assert rank(one, method=method, **device_options).tolist() == [0]


def test_long_sublists_are_split_at_further_splitters(monkeypatch, device_options):
    """Where few bits are left for the steps beside a walker's number, walkers begin new sublists."""
    plain = helman_jaja._step_bits
    monkeypatch.setattr(helman_jaja, "_step_bits", lambda size, walkers: 6)
    for kind in ("ordered", "random"):
        successors = generate_list(kind, 40_000, lists=3)
        for spacing in SPACINGS:
            found = rank_in_detail(
                successors,
                method="helman-jaja",
                options={"splitters": 1500, "spacing": spacing, "finish_size": 50},
                **device_options,
            )
            assert np.array_equal(found.ranks, followed(successors)[0]) and found.figures["bits"] == 32
    assert plain(2**27, 2**22 + 1) == 9 and plain(100, 2**31) == 0


def test_ranks_of_one_long_list_among_many_short_ones(device_options):
    successors = np.full(100_000, -1)
    order = np.random.default_rng(0).permutation(50_000)
    successors[order[:-1]] = order[1:]
    found = rank_in_detail(successors, method="helman-jaja", options={"finish_size": 100}, **device_options)
    assert np.array_equal(found.ranks, followed(successors)[0])
    assert found.heads.tolist() == [order[0], *range(50_000, 100_000)]
    assert sorted(found.lengths.tolist()) == [1] * 50_000 + [50_000]


@pytest.mark.parametrize("method", ["auto", "wyllie", "lock-step", "on-demand", "helman-jaja", "sequential"])
@pytest.mark.parametrize(
    ("successors", "index", "said"),
    [
        ([1, 2, 3, 9], 3, "its successor is 9"),
        ([1, -2, 3, -1], 1, "its successor is -2"),
        (np.array([1, 2**40, -1]), 1, "its successor is 1099511627776"),
        (np.array([1, 2**64 - 1], np.uint64), 1, "its successor is 18446744073709551615"),
        ([2, 2, -1, 4, -1], 2, "has two predecessors, 0 and 1"),
        ([1, 1, 1], 1, "has two predecessors, 0 and 2"),
        ([-1, 2, 3, 1], 1, "is on a cycle of 3 elements"),
        ([1, 0], 0, "is on a cycle of 2 elements"),
        ([5, 2, 1, -1, 4, 0], 0, "is on a cycle of 2 elements"),
    ],
)
def test_invalid_lists_are_refused_with_the_element(method, successors, index, said):
    with pytest.raises(GraphError, match=f"^element {index}: .*{said}") as caught:
        rank(successors, method=method)
    assert (caught.value.element, caught.value.index) == ("element", index)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_long_cycles_are_found(method, options, device_options):
    """A cycle of any length is found, and never followed endlessly."""
    for length in (2, 3, 4, 64, 1000, 1023):
        successors = generate_list("random", 3000, seed=length, device="cpu")
        cut = np.argsort(followed(successors)[0])[1000 : 1000 + length]
        before, after = np.flatnonzero(successors == cut[0])[0], successors[cut[-1]]
        successors[before], successors[cut[-1]] = after, cut[0]
        with pytest.raises(GraphError, match=f"^element {cut.min()}: .*cycle of {length} "):
            rank(successors, method=method, **options, **device_options)


@pytest.mark.parametrize(("method", "options"), METHODS, ids=IDS)
def test_results_do_not_depend_on_previous_memory_contents(method, options, device, device_options, monkeypatch):
    """Ranks do not depend on what is in memory that nobody has written to."""
    plain = type(device).empty

    def used(self, *arguments):
        found = plain(self, *arguments)
        found.fill(165)
        return found

    monkeypatch.setattr(type(device), "empty", used)
    monkeypatch.setattr(helman_jaja, "_step_bits", lambda size, walkers: 8)
    for lists in (1, 30):
        successors, ranks = of_kind("random", 20_000, lists)
        for more in (options, {**options, "splitters": 300, "finish_size": 900})[: 1 + (method == "helman-jaja")]:
            found = rank(successors, values=np.ones(20_000, int), method=method, **more, **device_options)
            assert np.array_equal(found[0], ranks) and np.array_equal(found[1], ranks)


def test_walks_end_on_lists_changed_during_ranking(device):
    """Walks end and flag an error on a list without an end, which the check should have refused."""
    size = 200
    ring = (np.arange(1, size + 1) % size).astype(np.int32)
    words = device.array(np.uint64(1) << np.uint64(32) | ring.astype(np.uint64))
    heads, lengths = device.array(np.array([7], np.int32)), device.empty(1, np.int32)
    device.launch("walk_to_ends", 1, words, size, heads, lengths)
    assert lengths.download().tolist() == [-1]
    for splitters in (1, 2):
        ranked = rank_on_device(device.array(ring), heads, method="helman-jaja", splitters=splitters, finish_size=1)
        assert ranked.lengths.download()[0] != size
    pair = [device.array(np.full(size, 9, np.int32)) for _ in range(2)]
    device.launch("rank_in_sequence", 1, device.array(ring), size, heads, 1, pair[0], None, lengths)
    assert np.array_equal(pair[0].download(), (np.arange(size) - 7) % size)


def test_inconsistent_lengths_raise_an_internal_error(device):
    successors = np.array([1, 2, -1], np.int32)
    heads, lengths = (device.array(np.array([number], np.int32)) for number in (0, 2))
    with pytest.raises(InternalError, match="no cycle"):
        check_cycles(lengths, heads, successors)


@pytest.mark.parametrize(
    ("error", "said", "options"),
    [
        (OptionError, "method must be one of auto, wyllie", {"method": "quick"}),
        (OptionError, "packing is not an option of method = 'auto'", {"packing": 64}),
        (
            OptionError,
            "finish is not an option of method = 'wyllie', which has packing",
            {"method": "wyllie", "finish": "cpu"},
        ),
        (OptionError, "packing = 16", {"method": "wyllie", "packing": 16}),
        (OptionError, "splitters = 0", {"method": "helman-jaja", "splitters": 0}),
        (OptionError, "splitters must be a whole number, not 2.5", {"method": "helman-jaja", "splitters": 2.5}),
        (OptionError, "splitters = 'many'", {"method": "helman-jaja", "splitters": "many"}),
        (OptionError, "spacing must be one of .*, not 'odd'", {"method": "helman-jaja", "spacing": "odd"}),
        (OptionError, "finish must be one of .*, not 'gpu'", {"method": "helman-jaja", "finish": "gpu"}),
        (OptionError, "finish_size = 0", {"method": "helman-jaja", "finish_size": 0}),
        (OptionError, "leave the device out", {"method": "sequential", "device": "cuda"}),
        (GraphError, "values are one whole number for each element, 2 in all", {"values": [1, 2, 3]}),
        (GraphError, "values are one whole number for each element, 2 in all", {"values": [1.0, 2.0]}),
        (GraphError, "may not fit 64 bits", {"values": [2**62, 2**62]}),
    ],
)
def test_invalid_options_are_refused(error, said, options):
    with pytest.raises(error, match=said.replace("(", r"\(")):
        rank([1, -1], **{"device": "cpu"} | options)


def test_32_bit_packing_is_limited_to_short_lists():
    ordered = generate_list("ordered", 2**16 - 1, device="cpu")
    assert np.array_equal(rank(ordered, method="wyllie", packing=32, device="cpu"), np.arange(2**16 - 1))
    with pytest.raises(OptionError, match="65536"):
        rank(generate_list("ordered", 2**16, device="cpu"), method="wyllie", packing=32, device="cpu")


def test_values_of_every_integer_type(device_options):
    successors = [2, -1, 1]  # 0, 2, 1
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">i4"):
        values = np.array([1, 0, 1], kind)
        ranks, sums = rank(successors, values=values, **device_options)
        assert (ranks.tolist(), sums.tolist()) == ([0, 2, 1], [0, 2, 1]) and sums.dtype == np.int64
    large = [2**62, -(2**61), -5]  # three of the first would not fit, these do
    assert rank(successors, values=large, **device_options)[1].tolist() == [0, 2**62 - 5, 2**62]
    for values in ([2**62, 2**62, 0], [-(2**63), 0, 1], np.array([2**63, 0, 0], np.uint64)):
        with pytest.raises(GraphError, match="may not fit 64 bits"):
            rank(successors, values=values, **device_options)


@pytest.mark.parametrize("wrong", [[0.5], [[1, -1]], ["a"], [True, False]])
def test_successors_must_be_whole_numbers(wrong):
    with pytest.raises(GraphError, match=r"^successors "):
        rank(wrong)
    with pytest.raises(GraphError, match="successors cannot be read as an array"):
        rank([[1], [2, 3]])


def test_the_input_is_not_changed(device_options):
    successors = generate_list("random", 5000, device="cpu")
    before = successors.copy()
    rank(successors, method="helman-jaja", **device_options)
    assert np.array_equal(successors, before)


def test_rounds_and_levels_are_reported():
    lists = generate_list("random", 2**14, device="cpu")
    options = {"splitters": 2**10, "finish_size": 1}
    assert rank_in_detail(lists, method="helman-jaja", options=options, device="cpu").figures["levels"] >= 3
    assert rank_in_detail(lists, method="lock-step", device="cpu").figures["rounds"] in (14, 15)
    found = rank_in_detail(lists, method="wyllie", device="cpu", threads=1)
    assert set(found.seconds) == {"upload", "check", "rank", "download"} and found.figures["rounds"] <= 8


def test_find_roots_of_forests(device_options):
    random = np.random.default_rng(5)
    for size in (1, 2, 50, 3000):
        for reach in (1, 3, size):
            names = random.permutation(size)
            parents, roots = np.empty(size, np.int64), np.empty(size, np.int64)
            for v in range(size):
                is_root = v == 0 or random.random() < 0.05
                parent = v if is_root else int(random.integers(max(v - reach, 0), v))
                parents[names[v]] = (-1 if random.random() < 0.5 else names[v]) if is_root else names[parent]
                roots[names[v]] = names[v] if is_root else roots[names[parent]]
            assert np.array_equal(find_roots(parents, **device_options), roots)
    assert len(find_roots([], **device_options)) == 0


def test_find_roots_refuses_cycles(device_options):
    for parents, said in (
        ([1, 2, 7], "node 2: its parent is 7"),
        ([-1, 3, 1, 2, 3, 0], "node 1: is on a cycle of 3 nodes"),
        ([1, 2, 1], "node 1: is on a cycle of 2 nodes"),
        ([3, 3, 1, 2], "node 1: is on a cycle of 3 nodes"),
    ):
        with pytest.raises(GraphError, match=said):
            find_roots(parents, **device_options)


def scattered(size):
    """The numbers below `size`, each once, in an order without pattern: odd factors and shifts are one to one."""
    bits = max(size - 1, 1).bit_length()
    numbers = np.arange(2**bits, dtype=np.uint32)
    for factor in (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D):
        numbers *= np.uint32(factor)
        numbers &= np.uint32(2**bits - 1)
        numbers ^= numbers >> np.uint32(bits // 2 or 1)
    return numbers[numbers < size].view(np.int32)


def ranks_of_scattered(size, device):
    """Ranks lists of `size` elements that are laid out along a known order, so that their ranks are its places."""
    order = scattered(size)
    successors, places = np.empty(size, np.int32), np.empty(size, np.int32)
    successors[order[:-1]] = order[1:]
    successors[order[-1:]] = -1
    places[order] = np.arange(size, dtype=np.int32)
    for method in ("auto", "wyllie", "lock-step", "on-demand", "helman-jaja"):
        assert np.array_equal(rank(successors, method=method, device=device), places), method
    for length in (777, 3):  # many lists, cut at the multiples
        successors[order[length - 1 :: length]] = -1
        ranks = places % np.int32(length)
        for method in ("on-demand", "helman-jaja"):
            assert np.array_equal(rank(successors, method=method, device=device), ranks), (method, length)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 31, 1000, 777 * 6, 2**17 + 1])
def test_ranks_of_lists_with_known_ranks(size):
    assert np.array_equal(np.sort(scattered(size)), np.arange(size))
    ranks_of_scattered(size, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize(
    "size", [*range(4), 1000, *(2**k for k in range(12, 25, 2)), 2**20 + 1, 2**25 - 1, 2**26, 2**27]
)
def test_ranks_of_lists_up_to_2_to_the_27(size, gpu):
    ranks_of_scattered(size, "cuda")
