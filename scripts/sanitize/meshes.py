"""Kernel families of `dmr` for `families.py`: refinements with every option, primitives and predicates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any
from unittest.mock import patch

import numpy as np

import dmr
from dmr import domains, sizing
from dmr.distributed.tiles.bounds import Bounds
from dmr.distributed.tiles.cutting import cut
from dmr.distributed.tiles.patch import Patch
from dmr.distributed.tiles.refining import refine_coarsely, refine_patch
from dmr.distributed.tiles.separation.margin import Division, FirstPart
from dmr.distributed.tiles.stored import InMemory
from dmr.distributed.tiles.whole import Whole
from dmr.memory import Device, argsort, compact, flagged_indices, minmax_float64, scan, sum_float64
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.location.box_tree import FEW_ITEMS, BoxTree, Frame
from dmr.mesh.location.locator import SORTED_FROM, Locator
from dmr.refinement import run as runs
from dmr.refinement.options import BALANCES, KEPT_SEGMENTS, MARKINGS, STEINER_RULES, RefineOptions
from dmr.refinement.placement import front, smoothing
from dmr.refinement.rounds import grouped_order, team_rounds
from dmr.refinement.run import RunSettings
from dmr.refinement.state.records import POINT
from dmr.refinement.steps.selection import Choice, Competition
from dmr.refinement.strategies import first_points
from dmr.sizing.functions import size_source
from dmr.sizing.sampling import sampled
from dmr.sizing.source import SizeSource
from dmr.triangulation.rounds import plane_by_rounds
from dmr.triangulation.rounds.epochs import LAST, Epochs
from scripts.sanitize.cases import Case, Family, digest

RACING = (
    "two-stage",
    "three-phase",
    "three-phase-literal",
    "three-phase-barrier",
)  # markings whose results depend on the order of threads
MOST_POINTS = 3000  # inserted by a refinement


def refined(mesh: dmr.Mesh | dmr.Pslg, device: Device, **options: Any) -> str | None:
    """Digest of a refined mesh; None if the marking races."""
    fine = dmr.refine(mesh, device=device.name, max_steiner=MOST_POINTS, **options).mesh
    return None if options.get("marking") in RACING else digest(fine.vertices, fine.triangles)


class Estimated:
    """A progress callback that is shown with an estimate from samples in the triangles."""

    def begin(self, triangles: int, expected: float) -> None:
        """Does nothing."""

    def __call__(self, number: int, bad: int, triangles: int) -> bool:
        """Lets the run continue."""
        return True


def finer_to_the_left(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Size function, 0.05 at x = 0."""
    return 0.05 + 0.1 * abs(points[:, 0])


def in_the_middle(points: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Size function, 0.03 in a small disc around (0.5, 0.5) and none elsewhere."""
    return np.where(np.hypot(points[:, 0] - 0.5, points[:, 1] - 0.5) < 0.12, 0.03, np.inf)


def markings(device: Device) -> Iterator[Case]:
    """Every marking."""
    mesh = dmr.generate("random", 300, seed=2)
    for marking in MARKINGS:
        yield marking, partial(refined, mesh, device, marking=marking, min_angle=25)


def balances(device: Device) -> Iterator[Case]:
    """Every balance. On a CPU `refine` refuses those with child launches, which are plain calls there."""
    mesh = dmr.generate("random", 300, seed=3)
    for balance in BALANCES:
        options = RefineOptions(balance=balance, max_steiner=MOST_POINTS, loop="host")

        def run(options: RefineOptions = options) -> str:
            fine = runs.run(mesh, device, RunSettings(options=options)).mesh
            return digest(fine.vertices, fine.triangles)

        yield balance, run


def limits(device: Device) -> Iterator[Case]:
    """A limit on points, by either driver, in a mesh whose triangles and vertices carry attributes."""
    mesh = dmr.generate("random", 300, seed=4)
    numbers = np.arange(float(len(mesh.triangles)))
    mesh = replace(mesh, triangle_attributes=numbers[:, None], vertex_attributes=mesh.vertices)
    for loop in ("host", "device"):
        options = RefineOptions(max_steiner=60, loop=loop)

        def run(options: RefineOptions = options) -> str:
            fine = runs.run(mesh, device, RunSettings(options=options)).mesh
            assert fine.triangle_attributes is not None
            return digest(fine.vertices, fine.triangles, fine.triangle_attributes)

        yield loop, run


ALL, NONE = (
    {"candidates": 10**6, "listed": 10**6, "subsegments": 10**6},
    {"candidates": 0, "listed": 0, "subsegments": -1},
)
# Execution of device-driven rounds: by one team, by teams that wait for each other, or by one launch per step.
TEAMS: dict[str, tuple[dict[str, int], dict[str, int] | None]] = {
    "one team": (ALL, None),
    "a launch per step": (NONE, None),
    "teams that wait for each other": (NONE, {"listed": 10**6, "candidates": -1, "few_listed": 0}),
    "all in turn": (
        {"candidates": 9, "listed": 60, "subsegments": 10**6},
        {"listed": 300, "candidates": 5, "few_listed": 50},
    ),
}
LIMITS = (
    "SINGLE_BLOCK_ON_GPU",
    "SINGLE_BLOCK_ON_ONE_THREAD",
    "SINGLE_BLOCK_ON_THREADS",
    "PERSISTENT_ON_GPU",
    "PERSISTENT_ON_CPU",
)


@contextmanager
def teams(who: str) -> Iterator[None]:
    """Makes the given teams run all device-driven rounds, whatever their size."""
    before = {name: getattr(team_rounds, name) for name in LIMITS}
    small, middle = TEAMS[who]
    for name in LIMITS:
        setattr(team_rounds, name, small if name.startswith("SINGLE_BLOCK") else middle)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(team_rounds, name, value)


def loops(device: Device) -> Iterator[Case]:
    """Host-driven rounds, and device-driven rounds by every kind of team."""
    mesh = dmr.generate("random", 250, seed=4)
    yield "host", lambda: refined(mesh, device, loop="host")

    def with_few_epochs() -> str | None:
        begin = Epochs.__init__
        Epochs.__init__ = lambda epochs: epochs.resume(LAST - 3)  # type: ignore
        try:
            return refined(mesh, device, loop="host", min_angle=20)
        finally:
            Epochs.__init__ = begin  # type: ignore

    yield "epochs that start again", with_few_epochs
    for who in TEAMS:

        def run(who: str = who) -> str | None:
            with teams(who):
                return refined(mesh, device, loop="device")

        yield who, run

    def with_groups() -> str | None:
        before, grouped_order.STRICT_ROUNDS = grouped_order.STRICT_ROUNDS, 3
        try:
            return refined(mesh, device)
        finally:
            grouped_order.STRICT_ROUNDS = before

    yield "grouped order", with_groups
    corners = domains.circle_points(1.0, 60)
    outline = domains.polygon(corners + 0.01 * np.random.default_rng(1).random(corners.shape))

    def with_first_points() -> str | None:
        rules: Any = {"FEWEST": 1, "FEWEST_TRIANGLES": 1, "RUNGS": (2.0, 4.0, 8.0)}
        far = partial(Competition, Choice.UNBEATEN_FAR)
        with patch.multiple(first_points, **rules), patch.object(runs, "Competition", far):
            return refined(outline, device)

    yield "first points, and triangles unbeaten farther around", with_first_points

    def with_empty_boxes() -> str | None:
        with patch.multiple(first_points, FEWEST_AROUND_NOTHING=1, RUNGS=(2.0, 4.0, 8.0)):
            return refined(domains.polygon(domains.circle_points(1.0, 200)), device)

    yield "first points in empty boxes", with_empty_boxes


def steiner_rules(device: Device) -> Iterator[Case]:
    """Every rule for Steiner points, and kept segments."""
    plate = dmr.generate("plate", 150, seed=2)
    for rule in STEINER_RULES:
        yield rule, partial(refined, plate, device, steiner=rule, min_angle=25)
    for kept in KEPT_SEGMENTS[1:]:
        yield f"keep {kept}", partial(refined, plate, device, keep_segments=kept, max_area=0.01)


def moves_taken_back(device: Device) -> str:
    """Digest of points of which every third has been moved back to where it was."""
    points = np.random.default_rng(3).random((3000, 2))
    moved, stays = device.array(points + 0.5, POINT), device.array((np.arange(3000) % 3 == 0).astype(np.int32))
    device.launch("take_moves_back", 3000, device.array(points, POINT), stays, moved)
    return digest(moved.download())


def sizes(device: Device) -> Iterator[Case]:
    """Bounds on areas and lengths."""
    mesh = dmr.generate("plate", 150, seed=2)
    bounds = np.full(len(mesh.triangles), 0.01)
    bounded = dmr.Mesh(mesh.vertices, mesh.triangles, segments=mesh.segments, area_bounds=bounds)
    yield "area", lambda: refined(mesh, device, max_area=0.005)
    yield "areas of the mesh", lambda: refined(bounded, device)
    attributed = dmr.Mesh(mesh.vertices, mesh.triangles, vertex_attributes=mesh.vertices @ [[1.0, 2, 3], [4, 5, 6]])
    yield "vertex attributes", lambda: refined(attributed, device, max_area=0.01)
    yield "a length", lambda: refined(mesh, device, max_edge=0.1)
    yield "a target", lambda: refined(attributed, device, size=0.1, keep_segments="boundary")
    square = domains.polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    yield "a target with room for a lattice", lambda: refined(square, device, size=0.08)
    hole = domains.circle_points(0.2275, 40, (1, 0.75))
    bored = domains.polygon([(0, 0), (2, 0), (2, 1.5), (0, 1.5)], holes=[hole])
    yield "a target with gaps in the front", lambda: refined(bored, device, size=0.05)
    disc = domains.polygon(domains.circle_points(1, 60))

    def behind_a_lattice() -> str | None:
        with patch.object(front, "FEWEST_IN_LATTICE", 0):
            return refined(disc, device, size=0.4, grading=0.05)

    yield "a target behind a lattice", behind_a_lattice
    yield "moves taken back", lambda: moves_taken_back(device)
    yield "targets far from the outline", lambda: refined(square, device, size=in_the_middle)
    yield "targets by a function", lambda: refined(mesh, device, size=finer_to_the_left, max_area=0.02)

    def lifted_by_launches() -> str | None:
        threads = 2 if device.threads else None  # one thread never does
        with patch.object(smoothing, "FEW_STARS", 0):
            return refined(square, device, size=finer_to_the_left, threads=threads)

    yield "vertices lifted by a launch per step", lifted_by_launches
    yield "lengths by a function", lambda: refined(mesh, device, max_edge=finer_to_the_left, keep_segments="boundary")
    grid = dmr.SizeField.from_grid([-1, 0, 2], [-1, 2], np.array([[0.2, 0.05, 0.3], [0.4, 0.1, np.inf]]))
    yield "lengths on a grid", lambda: refined(mesh, device, max_edge=grid)
    yield "an estimate", lambda: refined(mesh, device, max_edge=grid, max_area=0.02, progress=Estimated())


def size_sources(device: Device) -> Iterator[Case]:
    """Every source of sizes, evaluated inside its support and outside."""
    plate = dmr.generate("plate", 150, seed=5)
    sources = {
        "a number": size_source(0.1),
        "a function": size_source(finer_to_the_left),
        "a grid": dmr.SizeField.from_grid([0, 0.2, 1], [0, 0.5, 1], np.array([[1, 2, 3], [4, 5, 6], [7, np.inf, 9]])),
        "vertices": dmr.SizeField(plate, 1 + np.arange(len(plate.vertices)), on="vertices"),
        "triangles": dmr.SizeField(plate, 1 + np.arange(len(plate.triangles)), on="triangles"),
        "distances": sizing.from_distance(plate, 0.1, 1, 0.5),
        "lengths": sizing.from_lengths(plate, grading=0.3),
        "the smallest": sizing.smallest(sizing.from_lengths(plate), 0.2, finer_to_the_left),
        "samples in a rectangle": sampled(finer_to_the_left, (0, 0, 1, 1)),
        "samples in a mesh": sampled(finer_to_the_left, plate),
    }
    points = np.random.default_rng(1).uniform(-1, 2, (500, 2))
    for name, source in sources.items():

        def run(source: SizeSource = source) -> str:
            found = device.empty(len(points), np.float64)
            source.on(device).evaluate(device.array(points, POINT), len(points), found)
            return digest(found.download())

        yield name, run


def optimizations(device: Device) -> Iterator[Case]:
    """Optimisations: with flips that are repeated because a triangle becomes too large, and of given meshes."""
    plate = dmr.generate("plate", 40, seed=1)
    yield "repeated flips", lambda: refined(plate, device, max_area=0.003, optimize=True)
    yield "conforming", lambda: refined(plate, device, conforming=True, optimize=True)
    yield "lengths by a function", lambda: refined(plate, device, max_edge=finer_to_the_left, optimize=2)

    def given(mesh: dmr.Mesh) -> str:
        found = dmr.optimize(mesh, rounds=3, device=device.name).mesh
        return digest(found.vertices, found.triangles, found.vertex_attributes)

    attributed = dmr.Mesh(plate.vertices, plate.triangles, vertex_attributes=plate.vertices @ [[1.0, 2, 3], [4, 5, 6]])
    yield "vertex attributes", lambda: given(attributed)
    yield "many neighbours", lambda: given(dmr.generate("wheel", 60, seed=1))


def outlines(device: Device) -> Iterator[Case]:
    """Outlines, conforming triangulations, meshes that are not Delaunay, and large cavities."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.3, 0.3], [0.6, 0.3], [0.5, 0.7]], float)
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 4]])
    regions = np.array([[0.1, 0.1, 7, 0.01]])
    outline = dmr.Pslg(square, ring, holes=np.array([[0.45, 0.4]]), regions=regions)
    plate = dmr.generate("plate", 150, seed=5)
    sheared = dmr.Mesh(plate.vertices * [6.0, 1.0], plate.triangles, segments=plate.segments)
    yield "an outline", lambda: refined(outline, device)
    yield "acute corners", lambda: refined(domains.polygon([(-1, 0), (1, 0), (0, 3)]), device)
    yield "conforming", lambda: refined(plate, device, conforming=True)
    yield "flips", lambda: refined(sheared, device, min_angle=20)
    yield "large cavities", lambda: refined(dmr.generate("wheel", 500, seed=2), device)
    yield "thirty-three degrees", lambda: refined(dmr.generate("clustered", 200, seed=2), device, min_angle=33)


def primitives(device: Device) -> Iterator[Case]:
    """Scans, sums, extremes, sorts and compactions, for sizes near tile boundaries."""
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
    """Predicates at both ends of the admitted range, where the exact stage is closest to over- or underflow."""
    random = np.random.default_rng(2)
    for end in (2.0**-142, 1.0, 2.0**201):
        steps = random.integers(-3 if end < 1 else 0, 3 if end > 1 else 1, (4, 500, 2))
        points = end * (1 - 2.0**-52 * steps)
        points[:, ::3] *= random.choice([-1.0, 1.0], points[:, ::3].shape)
        for (kernel, count), exact in product((("incircle", 4), ("orient2d", 3)), (0, 1)):

            def run(points: Any = points, kernel: str = kernel, count: int = count, exact: int = exact) -> str:
                signs = device.empty(500, np.int32)
                corners = [device.array(corner, POINT) for corner in points[:count]]
                device.launch(f"{kernel}_all", 500, *corners, exact, signs)
                return digest(signs.download())

            yield f"{kernel}{'_exact' if exact else ''} near {end:g}", run


def locations(device: Device) -> Iterator[Case]:
    """Point location, interpolation of every order, and places outside the mesh, also among triangles without area."""
    plate, large = dmr.generate("plate", 150, seed=5), dmr.generate("plate", FEW_ITEMS + 1, seed=5)
    flat = dmr.Mesh(np.array([[0.0, 0], [2, 0], [1, 0], [1, 1]]), np.array([[0, 1, 2], [1, 0, 3]], np.int32))
    for name, mesh in {"plate": plate, "a tree made in steps": large, "a flat triangle": flat}.items():
        low, high = mesh.vertices.min(axis=0) - 1, mesh.vertices.max(axis=0) + 1
        points = np.concatenate([mesh.vertices, np.random.default_rng(1).uniform(low, high, (SORTED_FROM, 2))])

        def interpolated(mesh: dmr.Mesh = mesh, points: Any = points) -> str:
            locator, nodes = Locator.on(mesh, device), dmr.second_order(mesh).vertices
            counts = {0: len(mesh.triangles), 1: len(mesh.vertices), 2: len(nodes)}
            values = [np.arange(2.0 * count).reshape(-1, 2) for count in counts.values()]
            found = [
                locator.interpolate(each, points, order=order, nearest=nearest)
                for nearest in (False, True)
                for order, each in zip(counts, values, strict=True)
            ]
            return digest(locator.locate(points), locator.locate(points, nearest=True), *found)

        def placed(mesh: dmr.Mesh = mesh, points: Any = points) -> str:
            return digest(*DeviceBackground(mesh, device).places(points))

        yield f"{name}, inside", interpolated
        yield f"{name}, outside", placed
    ends = np.stack([np.arange(9), np.arange(1, 10), np.arange(1, 10)], axis=1).astype(np.int32)

    def nearest() -> str:
        tree = BoxTree(device.array(plate.vertices, POINT), ends, Frame.around(plate.vertices), edges=True)
        edges, places = device.empty(len(plate.vertices), np.int32), device.empty(len(plate.vertices), np.float64)
        points = device.array(plate.vertices, POINT)
        device.launch("find_nearest_edges", len(points), tree.argument, points, edges, places)
        return digest(edges.download(), places.download())

    yield "the nearest edges", nearest


def triangulations(device: Device) -> Iterator[Case]:
    """Triangulations by rounds, also of equal points, clusters in one cell of the curve, and a vertex of many edges."""
    random = np.random.default_rng(3)
    turns = np.arange(90.0)
    circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    sets = {
        "random": random.random((300, 2)),
        "a grid with duplicates": random.integers(0, 9, (250, 2)).astype(float),
        "a cluster": np.concatenate([random.random((40, 2)), 0.5 + 1e-12 * random.random((200, 2))]),
        "a wheel": np.concatenate([[[0.0, 0.0]], circle]),
        "a line and one off it": np.array([*((float(x), 0.0) for x in range(60)), (7.5, 3.0)]),
    }

    def by_rounds(graph: dmr.Pslg) -> str:
        plane = plane_by_rounds(graph, device)
        assert plane is not None, "no segments cross"
        even = np.arange(plane.parts) % 2 == 0
        inside, sides = plane.tables.within(even, plane.left_side[(plane.left >= 0) & even[plane.left]])
        tables = ("triangles", "neighbours", "labels", "left_side", "hole_labels")
        return digest(*(getattr(plane, name) for name in tables), inside.corners, inside.neighbours, sides)

    for name, points in sets.items():

        def made(points: Any = points) -> str:
            return by_rounds(dmr.Pslg(points, np.empty((0, 2), np.int32)))

        yield name, made
    edges = dmr.delaunay(sets["random"] * [1, 20]).mesh.edges
    yield "segments", lambda: by_rounds(dmr.Pslg(sets["random"], edges, holes=np.array([[0.5, 0.5]])))


def tiles(device: Device) -> Iterator[Case]:
    """A coarse mesh, with and without labels, cut into tiles, of which each is refined, with and without a core."""
    bounds = Bounds(options=RefineOptions(max_area=4e-3))
    mesh = dmr.generate("random", 60, seed=4)
    labels = (np.arange(len(mesh.triangles)) % 3).astype(np.float64)[:, None]

    def run(whole: Whole, tile: Patch, depth: int, layers: int | None = None) -> str:
        bands: list[FirstPart] = []
        division = None if layers is None else Division(layers, InMemory())
        done = refine_patch(tile, whole, bounds, device, depth, division=division, found=bands.append)
        stored = [*([] if done.core is None else [done.core]), *([division.rest] if division and division.rest else [])]
        margins = [] if done.margin is None else [done.margin]
        parts = [*map(Patch.load, stored), *margins, *(each.load() for each in bands)]
        arrays = [(each.mesh.vertices, each.mesh.triangles, each.numbers) for each in parts]
        found = [each.mesh.triangle_attributes for each in parts if each.mesh.triangle_attributes is not None]
        return digest(*chain.from_iterable(arrays), *found)

    for kind, source in (("tile", mesh), ("labelled tile", replace(mesh, triangle_attributes=labels))):
        coarse, edges, whole, _ = refine_coarsely(source, bounds, 4.0, fully=True, device=device)
        cuts = cut(coarse, edges, bounds, 200, 0)
        for place, depth in product(range(len(cuts)), (1, 20)):
            yield f"{kind} {place}, depth {depth}", partial(run, whole, cuts.tile(place), depth)
            yield f"{kind} {place}, depth {depth}, divided", partial(run, whole, cuts.tile(place), depth, 2)


FAMILIES: dict[str, Family] = {
    "locations": locations,
    "triangulations": triangulations,
    "refine-markings": markings,
    "refine-balances": balances,
    "refine-limits": limits,
    "refine-loops": loops,
    "refine-steiner": steiner_rules,
    "refine-sizes": sizes,
    "sizes": size_sources,
    "refine-outlines": outlines,
    "refine-optimizations": optimizations,
    "tiles": tiles,
    "primitives": primitives,
    "predicates": predicates,
}
