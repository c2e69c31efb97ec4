"""Small inputs that between them run every kernel, by families: what `sanitize_gpu.py` runs under compute-sanitizer.

    python scripts/sanitizer_families.py FAMILY DEVICE [host-loops]     # one family, in this process

It prints the name of each case before it runs, so that a tool's reports stand below the case that they belong to, and
last a line of JSON: the digest of each result (null where threads race by design) and the kernels that were launched.

On a GPU every array is an allocation of exactly its size: in the memory pool an overrun would land in padding, and a
read of uninitialised memory could find what an earlier array left there. Grids have few blocks, so that threads and
teams go through loops and come to the same shared memory again. With `host-loops` the host launches the
kernels of recorded loops, turn by turn, where otherwise a CUDA graph launches itself.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import dmr
import static_graph
from dmr.memory import (
    Argument,
    Device,
    DeviceArray,
    Loop,
    Number,
    argsort,
    bound_of,
    compact,
    flagged_indices,
    minmax_float64,
    open_device,
    scan,
    sum_float64,
)
from dmr.options import BALANCES, KEPT_SEGMENTS, MARKINGS, STEINER_RULES, RefineOptions
from dmr.pipeline import device_rounds
from dmr.pipeline.records import POINT
from dmr.pipeline.stamps import LAST, Stamps
from dmr.refinement import Run
from static_graph.building import rows_on_device
from static_graph.device_graph import DeviceGraph
from static_graph.frontiers import direction_optimising, near_far
from static_graph.list_checking import find_heads
from static_graph.lists import KINDS as LISTS
from static_graph.parents import find_parents
from static_graph.rankers.helman_jaja import FINISHES, RULES, SPACINGS
from static_graph.ranking import rank_on_device
from static_graph.schemes import child_launches, collapse, fixed_point, node_splitting, virtual_warps
from static_graph.schemes.timeline import Timeline
from static_graph.tree_generation import KINDS as TREES

Case = tuple[str, Callable[[], str | None]]  # what is run, and what gives the digest of its result
Family = Callable[[Device], Iterator[Case]]

RACING = ("two-stage", "three-phase", "three-phase-barrier")  # markings whose results depend on the order of threads
FEW_BLOCKS = 16  # of a grid
MOST_POINTS = 3000  # of a refinement


def digest(*arrays: Any) -> str:
    """The SHA-256 of the bytes of some arrays, in short."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def refined(mesh: dmr.Mesh | dmr.Pslg, device: Device, **options: Any) -> str | None:
    """The digest of a refined mesh; None where the marking races."""
    fine = dmr.refine(mesh, device=device.name, max_steiner=MOST_POINTS, **options).mesh
    return None if options.get("marking") in RACING else digest(fine.vertices, fine.triangles)


def finer_to_the_left(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A size function."""
    return 0.05 + 0.1 * abs(points[:, 0])


def markings(device: Device) -> Iterator[Case]:
    """Every marking."""
    mesh = dmr.generate("random", 300, seed=2)
    for marking in MARKINGS:
        yield marking, partial(refined, mesh, device, marking=marking, min_angle=25)


def balances(device: Device) -> Iterator[Case]:
    """Every balance; those whose kernels launch kernels are no option of `refine` on a CPU, where they are calls."""
    mesh = dmr.generate("random", 300, seed=3)
    for balance in BALANCES:
        options = RefineOptions(balance=balance, max_steiner=MOST_POINTS, loop="host")

        def run(options: RefineOptions = options) -> str:
            fine = Run(mesh, options, device).result(None).mesh
            return digest(fine.vertices, fine.triangles)

        yield balance, run


ALL, NONE = (
    {"candidates": 10**6, "listed": 10**6, "subsegments": 10**6},
    {"candidates": 0, "listed": 0, "subsegments": -1},
)
# Who goes through the rounds that the device drives: one team, teams that wait for each other, or a launch per step.
TEAMS: dict[str, tuple[dict[str, int], dict[str, int] | None]] = {
    "one team": (ALL, None),
    "a launch per step": (NONE, None),
    "teams that wait for each other": (NONE, {"listed": 10**6, "candidates": -1, "few_listed": 0}),
    "all in turn": (
        {"candidates": 9, "listed": 60, "subsegments": 10**6},
        {"listed": 300, "candidates": 5, "few_listed": 50},
    ),
}
LIMITS = ("SMALL_ON_GPU", "SMALL_ON_ONE_THREAD", "SMALL_ON_THREADS", "MIDDLE_ON_GPU", "MIDDLE_ON_CPU")


@contextmanager
def teams(who: str) -> Iterator[None]:
    """Leaves all rounds that the device drives to some teams, whatever their size."""
    before = {name: getattr(device_rounds, name) for name in LIMITS}
    small, middle = TEAMS[who]
    for name in LIMITS:
        setattr(device_rounds, name, small if name.startswith("SMALL") else middle)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(device_rounds, name, value)


def loops(device: Device) -> Iterator[Case]:
    """Rounds that the host drives, and those of the device by every kind of team."""
    mesh = dmr.generate("random", 250, seed=4)
    yield "host", lambda: refined(mesh, device, loop="host")

    def with_few_stamps() -> str | None:
        begin = Stamps.__init__
        Stamps.__init__ = lambda stamps: stamps.resume(LAST - 3)  # type: ignore
        try:
            return refined(mesh, device, loop="host", min_angle=20)
        finally:
            Stamps.__init__ = begin  # type: ignore

    yield "stamps that start again", with_few_stamps
    for who in TEAMS:

        def run(who: str = who) -> str | None:
            with teams(who):
                return refined(mesh, device, loop="device")

        yield who, run


def steiner_rules(device: Device) -> Iterator[Case]:
    """Every rule for Steiner points, and segments that are kept."""
    plate = dmr.generate("plate", 150, seed=2)
    for rule in STEINER_RULES:
        yield rule, partial(refined, plate, device, steiner=rule, min_angle=25)
    for kept in KEPT_SEGMENTS[1:]:
        yield f"keep {kept}", partial(refined, plate, device, keep_segments=kept, max_area=0.01)


def sizes(device: Device) -> Iterator[Case]:
    """Bounds of areas and lengths."""
    mesh = dmr.generate("plate", 150, seed=2)
    bounds = np.full(len(mesh.triangles), 0.01)
    bounded = dmr.Mesh(mesh.vertices, mesh.triangles, segments=mesh.segments, area_bounds=bounds)
    yield "area", lambda: refined(mesh, device, max_area=0.005)
    yield "areas of the mesh", lambda: refined(bounded, device)
    attributed = dmr.Mesh(mesh.vertices, mesh.triangles, vertex_attributes=mesh.vertices @ [[1.0, 2, 3], [4, 5, 6]])
    yield "vertex attributes", lambda: refined(attributed, device, max_area=0.01)
    yield "a length", lambda: refined(mesh, device, size=0.1)
    yield "lengths by a function", lambda: refined(mesh, device, size=finer_to_the_left, keep_segments="boundary")


def outlines(device: Device) -> Iterator[Case]:
    """Outlines, conforming triangulations, meshes that are not Delaunay, and large cavities."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.3, 0.3], [0.6, 0.3], [0.5, 0.7]], float)
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 4]])
    regions = np.array([[0.1, 0.1, 7, 0.01]])
    outline = dmr.Pslg(square, ring, holes=np.array([[0.45, 0.4]]), regions=regions)
    plate = dmr.generate("plate", 150, seed=5)
    sheared = dmr.Mesh(plate.vertices * [6.0, 1.0], plate.triangles, segments=plate.segments)
    yield "an outline", lambda: refined(outline, device)
    yield "conforming", lambda: refined(plate, device, conforming=True)
    yield "flips", lambda: refined(sheared, device, min_angle=20)
    yield "large cavities", lambda: refined(dmr.generate("wheel", 500, seed=2), device)
    yield "thirty-three degrees", lambda: refined(dmr.generate("clustered", 200, seed=2), device, min_angle=33)


def graphs() -> Iterator[tuple[str, static_graph.CsrGraph]]:
    """Three nodes with thousands of edges, 300 with dozens, and many with hardly any, with every kind of weights.

    Frontiers have several tiles of a scan, and tiles of edges have few nodes or many.
    """
    random = np.random.default_rng(4)
    nodes, edges = 9000, 21_000
    ends = random.integers(0, nodes, (2, edges))
    ends[0, :9000] %= 3
    ends[0, 9000:15_000] %= 300
    for name, weights in (
        ("narrow", random.integers(0, 50, edges)),
        ("wide", random.integers(0, 2**40, edges)),
        ("real", random.random(edges)),
    ):
        yield name, static_graph.CsrGraph.from_edges(ends[0], ends[1], weights, nodes)


def traversed(run: Callable[..., Any], searched: str, variants: dict[str, dict[str, Any]]) -> Family:
    """A family: one scheme, breadth first or by weights of every kind, with options."""

    def family(device: Device) -> Iterator[Case]:
        for (graph, host), (name, options) in product(graphs(), variants.items()):
            if searched == "bfs" and graph != "narrow":
                continue

            def search(host: static_graph.CsrGraph = host, options: dict[str, Any] = options) -> str:
                uploaded = DeviceGraph.upload(host, device)
                found = run(uploaded, [0, 1], weighted=searched == "sssp", **options).distances
                parents = find_parents(uploaded, [0, 1], found, weighted=searched == "sssp")
                return digest(found.download(), parents)

            yield f"{graph}, {name}", search

    family.__doc__ = f"{'Breadth-first search' if searched == 'bfs' else 'Shortest paths'} by {run.__module__}."
    return family


PLAIN = {"coalesced": False, "shared_queue": False, "team_primitives": False}
SCHEMES: dict[str, tuple[Callable[..., Any], dict[str, dict[str, Any]]]] = {
    "none": (fixed_point.run, {"atomic": {}, "racing": {"atomic": False}}),
    "split": (node_splitting.run, {"mda 5": {"mda": 5}, "racing": {"mda": 2, "atomic": False}}),
    "child-launch": (
        child_launches.run,
        {"atomic": {"threshold": 50}, "few": {"threshold": 5, "most_children": 9, "atomic": False}},
    ),
    "warp": (
        virtual_warps.run,
        {
            **{f"width {width}": {"warp_size": width} for width in virtual_warps.WIDTHS},
            "chunks, outliers": {"warp_size": 32, "chunk": 5, "defer": 20},
            "narrow chunks": {"warp_size": 8, "chunk": 7},
        },
    ),
    **{
        strategy: (collapse.run, {"all": {"strategy": strategy}, "plain": {"strategy": strategy} | PLAIN})
        for strategy in collapse.STRATEGIES
    },
}


def timelines(device: Device) -> Iterator[Case]:
    """The record of when blocks ran."""

    def run() -> None:
        timeline = Timeline(device, 3)
        graph = DeviceGraph.upload(next(graphs())[1], device)
        fixed_point.run(graph, [0], weighted=False, timeline=timeline)
        timeline.lines()

    yield "three lines", run


def reduced(method: str, variants: dict[str, dict[str, Any]]) -> Family:
    """A family: list ranking by one method, with options."""

    def family(device: Device) -> Iterator[Case]:
        for (size, lists), (name, options) in product(((257, 257), (5000, 1), (5000, 40)), variants.items()):

            def run(size: int = size, lists: int = lists, options: dict[str, Any] = options) -> str:
                successors = static_graph.generate_list("random", size, lists=lists, device="cpu")
                found = static_graph.rank(
                    successors, values=np.arange(size) - 7, method=method, device=device.name, **options
                )
                return digest(*found)

            yield f"{size} elements, {lists} lists, {name}", run

    family.__doc__ = f"List ranking by {method}."
    return family


RANKERS: dict[str, dict[str, dict[str, Any]]] = {
    "wyllie": {"packing 64": {}, "packing 32": {"packing": 32}},
    "lock-step": {"plain": {}},
    "on-demand": {"plain": {}},
    "helman-jaja": {
        "default": {},
        "wide words": {"finish_size": 10_000},
        **{
            f"{finish}, {spacing}": {"finish": finish, "spacing": spacing, "splitters": splitters, "finish_size": 5}
            for finish, spacing, splitters in (*zip(FINISHES, SPACINGS * 2, (*RULES, 40), strict=False),)
        },
    },
}


def sequential(device: Device) -> Iterator[Case]:
    """List ranking by one thread of the device, which the cost model measures."""

    def run() -> str:
        successors = static_graph.generate_list("random", 500, lists=3, device="cpu")
        on_device = device.array(successors)
        ranked = rank_on_device(on_device, find_heads(on_device, successors), method="sequential")
        return digest(ranked.ranks.download(), ranked.lengths.download())

    yield "500 elements, 3 lists", run


def trees(device: Device) -> Iterator[Case]:
    """Euler tours, numbers of nodes, common ancestors, path sums; rooting of edges."""
    where = device.name
    for kind in TREES:
        parents = static_graph.generate_tree(kind, 3000, seed=1)

        def numbered(parents: Any = parents) -> str:
            tree, nodes = static_graph.euler_tour(parents, device=where), np.arange(3000)
            numbers = (tree.preorder, tree.postorder, tree.level, tree.subtree_size)
            sums, roots = tree.path_sums(nodes), static_graph.find_roots(parents, device=where)
            return digest(*numbers, tree.lca(nodes, nodes[::-1]), sums, roots)

        def rooted(parents: Any = parents, root: list[int] | None = None) -> str:
            others = np.flatnonzero(parents >= 0)
            edges = np.column_stack([others, parents[others]])[7:]
            return digest(static_graph.euler_tour(edges, root, nodes=3000, device=where).parent)

        yield f"{kind}, numbers", numbered
        yield f"{kind}, of edges", rooted
        yield f"{kind}, of edges from a root", partial(rooted, root=[2999])


def generation(device: Device) -> Iterator[Case]:
    """Random graphs and lists."""

    def graph_digest(graph: static_graph.CsrGraph) -> str:
        weights = graph.weights if graph.weights is not None else np.empty(0)
        return digest(graph.offsets, graph.targets, weights)

    where = device.name
    yield "rmat", lambda: graph_digest(
        static_graph.generate_rmat(1000, 9000, permute=True, weights=9, device=where)
    )  # fmt: skip
    yield "rmat, graph500, unique", lambda: graph_digest(
        static_graph.generate_rmat(1000, 9000, preset="graph500", self_loops=False, duplicates=False, device=where)
    )  # fmt: skip
    yield "uniform", lambda: graph_digest(static_graph.generate_random(1001, 9000, weights=5, device=where))
    yield "uniform, no loops", lambda: graph_digest(
        static_graph.generate_random(1001, 9000, self_loops=False, device=where)
    )  # fmt: skip
    for kind in LISTS:

        def listed(kind: str = kind) -> str:
            return digest(static_graph.generate_list(kind, 5000, lists=3, interval=8, device=where))

        yield f"list, {kind}", listed


def building(device: Device) -> Iterator[Case]:
    """Rows of edges, at the borders of tiles and of groups of nodes."""
    random = np.random.default_rng(4)
    for nodes, edges in ((1, 3), (15, 0), (16, 4096), (17, 4097), (300, 9000), (70_000, 20)):
        ends = random.integers(0, nodes, (2, edges))

        def run(ends: Any = ends, nodes: int = nodes) -> str:
            sources, targets = device.array(ends[0].astype(np.uint32)), device.array(ends[1].astype(np.int32))
            return digest(*(array.download() for array in rows_on_device(sources, targets, nodes)))

        yield f"{nodes} nodes, {edges} edges", run
    sources, targets = random.integers(0, 300, (2, 9000))
    host = static_graph.CsrGraph.from_edges(sources, targets, random.random(9000), 300)
    yield "transposed", lambda: digest(host.reversed().targets, host.reversed().weights)


def primitives(device: Device) -> Iterator[Case]:
    """Scans, sums, extremes, sorts and compactions, at the borders of tiles."""
    random = np.random.default_rng(1)
    for size in (1, 7, 8, 255, 257, 2047, 2048, 2049, 4095, 4097, 10_000):
        flags, keys = random.integers(0, 2, size).astype(np.int32), random.integers(0, 2**32, size).astype(np.uint32)
        numbers, wide = random.random(size), random.integers(0, 2**40, size)

        def run(flags: Any = flags, keys: Any = keys, numbers: Any = numbers, wide: Any = wide) -> str:
            on_device = device.array(flags)
            arrays = (
                scan(on_device), scan(device.array(wide)), argsort(device.array(keys)), argsort(device.array(keys), 8),
                compact(on_device, on_device)[0], flagged_indices(on_device)[0],
            )  # fmt: skip
            real = device.array(numbers)
            sums = np.array([sum_float64(real), *minmax_float64(real)])
            return digest(sums, *(array.download() for array in arrays))

        yield f"{size} numbers", run


def predicates(device: Device) -> Iterator[Case]:
    """Predicates at both ends of the range that is admitted, where the exact stage has least room."""
    random = np.random.default_rng(2)
    for end in (2.0**-142, 1.0, 2.0**201):
        steps = random.integers(-3 if end < 1 else 0, 3 if end > 1 else 1, (4, 500, 2))
        points = end * (1 - 2.0**-52 * steps)
        points[:, ::3] *= random.choice([-1.0, 1.0], points[:, ::3].shape)
        for kernel, count in (("incircle", 4), ("incircle_exact", 4), ("orient2d", 3), ("orient2d_exact", 3)):

            def run(points: Any = points, kernel: str = kernel, count: int = count) -> str:
                signs = device.empty(500, np.int32)
                corners = [device.array(corner, POINT) for corner in points[:count]]
                device.launch(f"{kernel}_all", 500, *corners, signs)
                return digest(signs.download())

            yield f"{kernel} near {end:g}", run


FAMILIES: dict[str, Family] = {
    "refine-markings": markings,
    "refine-balances": balances,
    "refine-loops": loops,
    "refine-steiner": steiner_rules,
    "refine-sizes": sizes,
    "refine-outlines": outlines,
    **{
        f"{searched}-{scheme}": traversed(run, searched, variants)
        for searched in ("bfs", "sssp")
        for scheme, (run, variants) in SCHEMES.items()
    },
    "bfs-auto": traversed(
        direction_optimising.run,
        "bfs",
        {
            "one launch": {"one_launch": True},
            "a launch per level": {"one_launch": False},
            "pushed, one launch": {"one_launch": True, "turned": False},
            "pushed": {"one_launch": False, "turned": False},
        },
    ),
    "sssp-auto": traversed(
        near_far.run, "sssp", {"one launch": {"one_launch": True}, "a launch per step": {"one_launch": False}}
    ),
    "timeline": timelines,
    **{f"rank-{method}": reduced(method, variants) for method, variants in RANKERS.items()},
    "rank-sequential": sequential,
    "trees": trees,
    "generation": generation,
    "building": building,
    "primitives": primitives,
    "predicates": predicates,
}


@contextmanager
def noted_launches() -> Iterator[set[str]]:
    """The names of the kernels that any device launches meanwhile."""
    launched: set[str] = set()
    launch = Device.launch

    def noted(device: Device, kernel: str, count: Number, *arguments: Argument) -> None:
        if bound_of(count) > 0:
            launched.add(kernel)
        launch(device, kernel, count, *arguments)

    Device.launch = noted  # type: ignore
    try:
        yield launched
    finally:
        Device.launch = launch  # type: ignore


def run_family(name: str, device: Device, say: Callable[[str], None] | None = print) -> dict[str, str | None]:
    """Runs a family, and tells the name of each case before it; returns the digests by case."""
    found = {}
    for case, run in FAMILIES[name](device):
        if say is not None:
            say(f"case: {case}")
        found[case] = run()
        device.synchronize()
    return found


def allocate_exactly() -> None:
    """Has PyCUDA's memory pool make an allocation of exactly the size that is asked for, each time."""
    import pycuda.driver as driver
    import pycuda.tools as tools

    class ExactAllocations(tools.DeviceMemoryPool):  # type: ignore[misc]
        """A memory pool that keeps nothing."""

        def allocate(self, size: int) -> Any:
            """An allocation of this many bytes."""
            return driver.mem_alloc(size)

    tools.DeviceMemoryPool = ExactAllocations


class HostLoop(Loop):
    """A sequence of launches that the host repeats."""

    def __init__(self, body: Callable[[], None], stop: DeviceArray) -> None:
        self._body, self._stop = body, stop

    def run(self) -> None:
        """Runs it to its end."""
        self._body()
        while not self._stop.download()[0]:
            self._body()


def loop_from_host() -> None:
    """Has the host repeat what GPUs would repeat by themselves."""
    from dmr.memory.cuda.device import CudaDevice

    CudaDevice.loop = lambda device, body, stop: HostLoop(body, stop)  # type: ignore


def stay_small() -> None:
    """Has GPUs launch few blocks."""
    from dmr.memory.cuda import device

    if not hasattr(device, "MOST_BLOCKS"):
        raise AttributeError("dmr.memory.cuda.device.MOST_BLOCKS, by which grids are kept small here, is gone")
    device.MOST_BLOCKS = FEW_BLOCKS
    begin = device.CudaDevice.__init__

    def with_one_multiprocessor(opened: Any, *arguments: Any) -> None:
        begin(opened, *arguments)
        opened.multiprocessors = 1

    device.CudaDevice.__init__ = with_one_multiprocessor  # type: ignore


def main(family: str, device: str, *loops: str) -> int:
    """Runs one family, and prints what came of it."""
    if device != "cpu":
        allocate_exactly()
        stay_small()
    if "host-loops" in loops:
        loop_from_host()
    with noted_launches() as launched:
        found = run_family(family, open_device(device))
    print(json.dumps({"digests": found, "launched": sorted(launched)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
