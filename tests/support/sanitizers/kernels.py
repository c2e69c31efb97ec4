"""Runs every kernel of `dmr` and `static_graph` on small inputs, and prints the result of each run as a line of JSON.

    python kernels.py FOLDER [LIBRARY]

FOLDER holds meshes as .npz. LIBRARY is a build of the kernels to use instead of the installed one, under a sanitizer.
In this case every device array is a separate allocation of exactly its size, so that no overrun falls into padding.
"""

from __future__ import annotations

import ctypes
import json
import sys
import warnings
import weakref
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from itertools import chain, cycle, product
from pathlib import Path
from unittest.mock import patch

import numpy as np

import dmr
from dmr.domains import circle_points, polygon
from dmr.memory import argsort, compact, flagged_indices, minmax_float64, open_device, scan, signatures, sum_float64
from dmr.memory.host import compiler
from dmr.memory.host import device as host
from dmr.memory.host.device import ALIGNMENT, HostArray, HostDevice
from dmr.mesh.statistics import measure, summarise
from dmr.refinement import run as runs
from dmr.refinement.options import RefineOptions
from dmr.refinement.placement import front, smoothing
from dmr.refinement.rounds import grouped_order, team_rounds
from dmr.refinement.run import RunSettings
from dmr.refinement.state.records import POINT
from dmr.refinement.steps.selection import Choice, Competition
from dmr.refinement.strategies import first_points
from dmr.refinement.strategy_tables import MARKINGS
from scripts.sanitize import meshes as sanitized
from tests.support.digests import digest
from tests.support.sanitizers import graph_kernels
from tests.support.sanitizers.frontiers import frontiers
from tests.support.sanitizers.pageranks import pageranks
from tests.support.sanitizers.rankings import rankings
from tests.support.sanitizers.traversals import traversals


def finer_to_the_left(points):
    """Size function, 0.05 at x = 0."""
    return 0.05 + 0.1 * abs(points[:, 0])


OPTIONS = (
    {},
    {"balance": "none", "steiner": "circumcenter", "conforming": True},
    {"max_area": 0.003},
    {"size": finer_to_the_left, "max_area": 0.02},
    {"area": finer_to_the_left, "optimize": 1},
    {"max_edge": finer_to_the_left, "keep_segments": "boundary"},  # kept segments leave triangles that are tried again
)


def exact_empty(device, size, dtype):
    """Replacement of HostDevice.empty that allocates exactly the size."""
    element, libc = np.dtype(dtype), ctypes.CDLL(None)
    if size * element.itemsize == 0:
        return HostArray(device, np.empty(0, element))
    address = ctypes.c_void_p()
    libc.posix_memalign(ctypes.byref(address), ctypes.c_size_t(ALIGNMENT), ctypes.c_size_t(size * element.itemsize))
    memory = (ctypes.c_uint8 * (size * element.itemsize)).from_address(address.value)
    weakref.finalize(memory, libc.free, ctypes.c_void_p(address.value))
    if device.calling.recording is not None:
        device.calling.recording.kept.append(memory)
    return HostArray(device, np.frombuffer(memory, element))


def combinations(paths, *, every):
    """Yields (path of a mesh, marking, options): all, or for most markings the options in turn, one per mesh."""
    for (row, path), (column, marking) in product(enumerate(paths), enumerate(MARKINGS)):
        for options in OPTIONS if every or marking == "deterministic" else [OPTIONS[(row + column) % len(OPTIONS)]]:
            yield path, marking, options


def refinements(folder, *, every):
    """Yields (case, digest) for meshes, markings and options: with one thread and with three, or with both in turn."""
    cases = combinations(sorted(folder.glob("*.npz")), every=every)
    in_turn = cycle([(1,), (3,)])
    for path, marking, options in cases:
        for threads in (1, 3) if every else next(in_turn):
            run = dmr.refine(
                dmr.read(path), marking=marking, device="cpu", threads=threads, max_steiner=3000, **options
            )
            what = [path.stem, marking, {name: str(value).split(" at ")[0] for name, value in options.items()}, threads]
            races = MARKINGS[marking].races and threads > 1
            yield what, None if races else digest(run.mesh.vertices, run.mesh.triangles)


def lattices():
    """Yields (case, digest) for domains with room for a lattice of points."""
    few = smoothing.FEW_STARS
    # One team, or one launch a step; the last size is far from the outline.
    for size, most in ((0.08, few), (finer_to_the_left, few), (finer_to_the_left, 0), (sanitized.in_the_middle, few)):
        with patch.object(smoothing, "FEW_STARS", most):
            run = dmr.refine(polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), size=size, device="cpu", threads=3)
        yield ["lattice", str(size).split(" at ")[0], most], digest(run.mesh.vertices, run.mesh.triangles)
    hole = circle_points(0.2275, 40, (1, 0.75))  # the front stops around it, and continues across gaps
    run = dmr.refine(polygon([(0, 0), (2, 0), (2, 1.5), (0, 1.5)], holes=[hole]), size=0.05, device="cpu", threads=3)
    yield ["gaps"], digest(run.mesh.vertices, run.mesh.triangles)
    with patch.object(front, "FEWEST_IN_LATTICE", 0):
        run = dmr.refine(polygon(circle_points(1, 60)), size=0.4, grading=0.05, device="cpu", threads=3)
    yield ["behind a lattice"], digest(run.mesh.vertices, run.mesh.triangles)


class Estimated:
    """A progress callback that keeps the estimate of triangles."""

    def begin(self, triangles, expected):
        self.expected = expected

    def __call__(self, *numbers):
        return True


def estimates():
    """Yields (case, digest) for estimates of triangles from samples."""
    shown = Estimated()
    square = polygon([(0, 0), (1, 0), (1, 1), (0, 1)])
    run = dmr.refine(square, max_edge=finer_to_the_left, max_area=0.02, device="cpu", threads=3, progress=shown)
    yield ["estimate", shown.expected], digest(run.mesh.vertices, run.mesh.triangles)


@contextmanager
def teams_that_wait():
    """Enables rounds that a CPU does not use by default: small ones by one team, larger ones by teams that wait."""
    small = {"candidates": 9, "listed": 60, "subsegments": 10**6}
    limits = {
        "PERSISTENT_ON_CPU": {"listed": 10**6, "candidates": 5, "few_listed": 50},
        "SINGLE_BLOCK_ON_ONE_THREAD": small,
        "SINGLE_BLOCK_ON_THREADS": small,
    }
    before = {name: getattr(team_rounds, name) for name in limits}
    try:
        for name, limit in limits.items():
            setattr(team_rounds, name, limit)
        yield
    finally:
        for name, limit in before.items():
            setattr(team_rounds, name, limit)


def grouped_orders(folder):
    """Yields (case, digest) for refinements whose order changes early (`STRICT_ROUNDS`)."""
    before, grouped_order.STRICT_ROUNDS = grouped_order.STRICT_ROUNDS, 3
    for path, loop in product(sorted(folder.glob("*.npz"))[:2], ("host", "device")):
        run = dmr.refine(dmr.read(path), device="cpu", threads=3, loop=loop, max_steiner=3000)
        yield [path.stem, "grouped order", loop], digest(run.mesh.vertices, run.mesh.triangles)
    grouped_order.STRICT_ROUNDS = before


def empty_interiors():
    """Yields (case, digest) for an outline with first points, where winners are unbeaten in a large neighbourhood."""
    far = partial(Competition, Choice.UNBEATEN_FAR)
    corners = circle_points(1.0, 60)
    outline = polygon(corners + 0.01 * np.random.default_rng(1).random(corners.shape))
    rules = {"FEWEST": 1, "FEWEST_TRIANGLES": 1, "RUNGS": (2.0, 4.0, 8.0)}
    with patch.multiple(first_points, **rules), patch.object(runs, "Competition", far):
        for loop in ("host", "device"):
            run = dmr.refine(outline, device="cpu", threads=3, loop=loop)
            yield ["first points", loop, run.rounds], digest(run.mesh.vertices, run.mesh.triangles)
    with patch.multiple(first_points, FEWEST_AROUND_NOTHING=1, RUNGS=rules["RUNGS"]):
        run = dmr.refine(polygon(circle_points(1.0, 200)), device="cpu", threads=3)
        yield ["first points in empty boxes", run.steiner["first"]], digest(run.mesh.vertices, run.mesh.triangles)


def device_launches(device, folder):
    """Yields (case, digest) for work that a GPU launches by itself. On the CPU, child launches are calls and not an
    option for users.
    """
    for path in sorted(folder.glob("*.npz")):
        run = dmr.refine(dmr.read(path), device="cpu", threads=3, loop="device", max_steiner=3000)
        result = digest(run.mesh.vertices, run.mesh.triangles)
        yield [path.stem, "driven by the device", run.rounds], result
        with teams_that_wait():
            run = dmr.refine(dmr.read(path), device="cpu", threads=3, loop="device", max_steiner=3000)
        yield [path.stem, "by teams that wait for each other", run.rounds], result
        assert digest(run.mesh.vertices, run.mesh.triangles) == result
    for path, balance in product(sorted(folder.glob("*.npz")), ("child-launch", "child-launch-per-cavity")):
        settings = RunSettings(options=RefineOptions(balance=balance, max_steiner=3000), profile=True)
        run = runs.run(dmr.read(path), device, settings)
        yield [path.stem, balance, run.checks], digest(run.mesh.vertices, run.mesh.triangles)


def tables(folder):
    """Yields (case, digest) for tables of neighbours."""
    for path in sorted(folder.glob("*.npz")):
        yield ["neighbours", path.stem], digest(dmr.read(path).neighbours)


def primitives(device):
    """Yields (case, digest) for scans, sums and sorts with sizes near tile boundaries."""
    random = np.random.default_rng(1)
    for size in (1, 7, 8, 255, 257, 2047, 2048, 2049, 4095, 4096, 4097, 10_000):
        flags = device.array(random.integers(0, 2, size).astype(np.int32))
        keys = device.array(random.integers(0, 2**32, size).astype(np.uint32))
        numbers = device.array(random.random(size))
        wide = device.array(random.integers(0, 2**40, size))
        kept, indices = compact(flags, flags)[0], flagged_indices(flags)[0]
        arrays = (scan(flags), scan(wide), argsort(keys), argsort(keys, 8), kept, indices)
        sums = np.array([sum_float64(numbers), *minmax_float64(numbers)])
        yield ["primitives", size], digest(sums, *(array.download() for array in arrays))


def moves_taken_back(device):
    """Yields (case, digest) for points of which every third has been moved back to where it was."""
    points = np.random.default_rng(3).random((3000, 2))
    moved, stays = device.array(points + 0.5, POINT), device.array((np.arange(3000) % 3 == 0).astype(np.int32))
    device.launch("take_moves_back", 3000, device.array(points, POINT), stays, moved)
    yield ["moves taken back"], digest(moved.download())


def predicates(device):
    """Yields (case, digest) for predicates at the ends of the admitted range, closest to over- and underflow."""
    random = np.random.default_rng(2)
    for end in (2.0**-142, 1.0, 2.0**201):
        points = end * (1 - 2.0**-52 * random.integers(-3 if end < 1 else 0, 3 if end > 1 else 1, (4, 500, 2)))
        points[:, ::3] *= random.choice([-1.0, 1.0], points[:, ::3].shape)
        corners = [device.array(corner, POINT) for corner in points]
        for (kernel, count), exact in product((("incircle", 4), ("orient2d", 3)), (0, 1)):
            signs = device.empty(500, np.int32)
            device.launch(f"{kernel}_all", 500, *corners[:count], exact, signs)
            yield [kernel, exact, end], digest(signs.download())


def triangulations(device):
    """Yields the results of triangulations by rounds."""
    for name, run in sanitized.triangulations(device):
        yield ["triangulations", name], run()


def locations(device):
    """Yields (case, digest) for point location and interpolation."""
    for name, run in sanitized.locations(device):
        yield ["locations", name], run()


def optimizations(device):
    """Yields (case, digest) for optimisations."""
    for name, run in sanitized.optimizations(device):
        yield ["optimizations", name], run()


def size_sources(device):
    """Yields (case, digest) for every source of sizes."""
    for name, run in sanitized.size_sources(device):
        yield ["sizes", name], run()


def tiles(device):
    """Yields (case, digest) for tiles."""
    for name, run in sanitized.tiles(device):
        yield ["tiles", name], run()


def statistics(folder):
    """Yields (case, digest) for the statistics of every mesh, the summary and the full ones."""
    for path in sorted(folder.glob("*.npz")):
        mesh = dmr.read(path)
        found = [measure(mesh, bound=30).to_json(), asdict(summarise(mesh, bound=30))]
        yield [path.stem, "statistics"], digest(np.array(json.dumps(found)))


def use(library):
    """Uses another build of the kernels, exact allocations, and several threads for any amount of work."""
    compiler.LIBRARY = Path(library)
    host.SMALLEST_PIECE = 0.0
    HostDevice.empty = exact_empty


def main(folder, library="", every=""):
    """Prints the result of every run, and last the kernels that no run launched."""
    if library:
        use(library)
    launched, plain_run = set(), HostDevice._run

    def noted_run(device, signature, *more):
        launched.add(signature.name)
        plain_run(device, signature, *more)

    HostDevice._run = noted_run
    device = open_device("cpu", 3)
    meshes = Path(folder)
    runs = (
        primitives(device),
        predicates(device),
        moves_taken_back(device),
        tables(meshes),
        refinements(meshes, every=bool(every)),
        lattices(),
        estimates(),
        grouped_orders(meshes),
        empty_interiors(),
        device_launches(device, meshes),
        statistics(meshes),
        locations(device),
        triangulations(device),
        optimizations(device),
        size_sources(device),
        tiles(device),
        traversals(device),
        pageranks(device),
        frontiers(device),
        rankings(3),
    )
    for what, result in chain(chain.from_iterable(runs), graph_kernels.runs(device)):
        print(json.dumps([what, result]), flush=True)
    launched.update(device.calling.launches)  # prepared launches do not pass through _run
    print(json.dumps(["never launched", sorted(set(signatures()) - launched)]))


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(*sys.argv[1:])
