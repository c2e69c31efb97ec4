"""GPU modules: each call prepares all modules that it launches kernels of."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dmr
import static_graph
import static_graph.engine.gpu_modules
import static_graph.graph.gpu_modules
import static_graph.lists.gpu_modules
import static_graph.trees.gpu_modules
from dmr import domains
from dmr.domains.generation import generate
from dmr.memory import open_device, signatures
from dmr.memory.arrays import Device
from dmr.memory.cuda.nvcc import SLOWEST
from dmr.memory.declarations import source_folder
from dmr.mesh.location import box_tree
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.location.locator import SORTED_FROM
from dmr.refinement.placement import empty_boxes
from dmr.refinement.rounds import team_rounds
from dmr.refinement.setup.modules import (
    ALWAYS,
    ESTIMATION,
    OPTIMIZATION,
    PLACEMENT,
    ROUNDS_ON_DEVICE,
    refinement_modules,
)
from dmr.refinement.strategy_tables import MARKINGS
from static_graph import engine, graph, lists, trees
from static_graph.components.table import METHODS as COMPONENTS
from static_graph.engine import loop
from static_graph.lists.methods.table import METHODS
from static_graph.traversal.distances import DistanceKind
from static_graph.traversal.frontiers.workspace import Workspace
from static_graph.traversal.parents import parents_modules
from static_graph.traversal.schemes.table import BALANCES, FASTEST, SCHEMES
from tests.support.paths import ROOT

BRACKET = ROOT / "meshes" / "bracket.poly"


@cache
def module_of(kernel):
    return signatures()[kernel].source.relative_to(source_folder()).with_suffix("").as_posix()


class Recorded:
    """The prepared modules, and the modules of launched kernels."""

    def __init__(self):
        self.prepared, self.launched, self.late = set(), set(), set()

    def forget(self):
        self.prepared, self.launched, self.late = set(), set(), set()


@pytest.fixture
def recorded(monkeypatch):
    """Records modules prepared and launched by calls on the CPU, which use the same kernels as a GPU."""
    found, launch, run = Recorded(), Device.launch, Workspace.run

    def launched(self, kernel, count, *arguments):
        if kernel != "measure_shapes":  # which runs on the CPU, always
            found.launched.add(module_of(kernel))
            if module_of(kernel) not in found.prepared:
                found.late.add(kernel)
        return launch(self, kernel, count, *arguments)

    monkeypatch.setattr(Device, "launch", launched)
    monkeypatch.setattr(Device, "prepare", lambda self, *names: found.prepared.update(names))
    monkeypatch.setattr(team_rounds, "PERSISTENT_ON_CPU", team_rounds.PERSISTENT_ON_GPU)
    monkeypatch.setattr(box_tree, "FEW_ITEMS", 0)
    on_a_gpu = {"in_one_launch": True}
    monkeypatch.setattr(Workspace, "run", lambda self, *given, **options: run(self, *given, **(options | on_a_gpu)))
    return found


MESH = generate("random", 1000)
GRAPH = static_graph.generate_rmat(500, 5000, seed=1, weights=100)
# A star: one node has most edges, and is cut or deferred.
PARENTS = np.maximum(np.arange(-1, 3000) // 3, -1).astype(np.int32)


def test_named_modules_exist():
    names = {*ALWAYS, *ROUNDS_ON_DEVICE, "refine/marking/three_phases", "refine/quality/child_launch"}
    for family in (engine, graph, lists, trees):
        names.update(*(value for value in vars(family.gpu_modules).values() if isinstance(value, tuple)))
    names.update(*(method.gpu_modules for method in METHODS.values()))
    names.update(*(method.gpu_modules for methods in COMPONENTS.values() for method in methods.values()))
    for scheme in (*SCHEMES.values(), *FASTEST.values()):
        kinds = [kind.name.lower() for kind in DistanceKind if scheme is not FASTEST[True] or kind != DistanceKind.HOPS]
        names.update(module.format(kind=kind) for module in scheme.gpu_modules for kind in kinds)
        names.update(scheme.transposing)
    names.update(parents_modules(weighted=True))
    assert [name for name in names if not (source_folder() / f"{name}.cu").is_file()] == []
    assert [name for name in SLOWEST if not list(source_folder().rglob(f"{name}.cu"))] == []


@pytest.mark.parametrize("loop", ["auto", "host"])
@pytest.mark.parametrize("marking", MARKINGS)
@pytest.mark.parametrize("balance", ["work-stealing", "none"])
def test_refinement_prepares_its_modules(recorded, marking, balance, loop):
    dmr.refine(MESH, device="cpu", marking=marking, balance=balance, loop=loop)
    assert recorded.late == set()
    # On so small a mesh of our own triangulation, which is Delaunay: modules for large rounds and cavities, flips, and
    # outlines to be checked.
    spared = {"geometry/points", "mesh/flips", "primitives/gathering"}
    if loop == "auto" and marking == "deterministic":
        spared |= {
            "primitives/device_loop",
            "refine/cavity/growth",
            "refine/marking/marking",
            "refine/retriangulation/retriangulation",
            "refine/rounds/large_passes",
        }
    assert recorded.prepared - recorded.launched <= spared


@pytest.mark.slow
def test_refinement_with_size_and_callback_prepares_its_modules(recorded):
    domain = dmr.read(BRACKET)
    for options in ({"max_area": 0.05}, {"max_edge": 0.5}, {"progress": lambda *_: None}, {"profile": True}):
        dmr.refine(domain, device="cpu", **options)
        assert recorded.late == set()
        assert recorded.prepared <= {*ALWAYS, *ROUNDS_ON_DEVICE}
        recorded.forget()


class Shown:
    """A progress callback that wants an estimate."""

    def begin(self, triangles, expected):
        assert expected > 0

    def __call__(self, *numbers):
        return True


def test_an_estimate_prepares_its_modules(recorded):
    dmr.refine(dmr.read(BRACKET), device="cpu", max_edge=0.5, max_area=0.1, progress=Shown())
    assert recorded.late == set() and {*ESTIMATION} <= recorded.launched


def test_placement_by_size_prepares_its_modules(recorded):
    bracket = dmr.read(BRACKET)
    dmr.refine(bracket, device="cpu", size=0.1)  # filled by the host
    assert recorded.late == set()
    recorded.forget()
    dmr.refine(bracket, device="cpu", size=0.03)
    assert recorded.late == set() and {*PLACEMENT} <= recorded.launched


def test_points_in_empty_boxes_prepare_their_modules(recorded):
    circle = domains.polygon(domains.circle_points(1, 500))
    dmr.refine(circle, device="cpu")
    assert recorded.late == set() and {*empty_boxes.MODULES} - recorded.launched <= {"primitives/scan"}


def test_point_location_prepares_its_modules(recorded):
    spared = {"primitives/scan"}  # few keys are sorted by one team, without it
    points, values = np.random.default_rng(1).random((SORTED_FROM, 2)), np.ones(len(MESH.vertices))
    dmr.Locator(MESH, device="cpu").interpolate(values, points)
    assert recorded.late == set() and recorded.prepared - recorded.launched <= spared
    recorded.forget()
    DeviceBackground(MESH, open_device("cpu")).places(points)
    assert recorded.late == set() and recorded.prepared - recorded.launched <= spared


def test_optimisation_prepares_its_modules(recorded):
    for optimise in (lambda: dmr.refine(MESH, device="cpu", optimize=2), lambda: dmr.optimize(MESH, device="cpu")):
        optimise()
        assert recorded.late == set() and {*OPTIMIZATION} <= recorded.launched
        recorded.forget()


def test_modules_of_child_launches_are_prepared():
    options = dmr.refinement.options.RefineOptions(balance="child-launch")
    assert "refine/quality/child_launch" in refinement_modules(options, rounds_on_device=False)


@pytest.mark.parametrize("uploaded", [False, True])
@pytest.mark.parametrize("balance", BALANCES)
def test_searches_prepare_their_modules(recorded, balance, uploaded):
    for weights in (None, GRAPH.weights, GRAPH.weights.astype(np.int64) << 40, GRAPH.weights / 7, 0 * GRAPH.weights):
        graph = static_graph.CsrGraph(GRAPH.offsets, GRAPH.targets, weights)
        where = static_graph.upload(graph, "cpu") if uploaded else graph
        on = {} if uploaded else {"device": "cpu"}
        for parents in (False, True):
            search = static_graph.bfs if weights is None else static_graph.sssp
            search(where, [0, 3], balance=balance, parents=parents, **on)
            assert recorded.late == set()
            if not parents:
                spared = {"primitives/device_loop", "primitives/scan", "graph/traversal/export"}
                spared.update(FASTEST[False].transposing)  # a graph is transposed once that pays
                assert recorded.prepared - recorded.launched <= spared
            recorded.forget()


@pytest.mark.parametrize("balance", loop.BALANCES)
def test_the_engine_prepares_its_modules(recorded, balance):
    for algorithm in (static_graph.trim, static_graph.propagate_colours):
        recorded.forget()
        algorithm(GRAPH, balance=balance, device="cpu")
        assert recorded.late == set()
        assert recorded.prepared - recorded.launched <= {"primitives/device_loop", "primitives/scan"}


def test_components_prepare_their_modules(recorded):
    for connection, methods in COMPONENTS.items():
        for method in methods:
            uploaded = static_graph.upload(GRAPH, "cpu")
            recorded.forget()
            static_graph.connected_components(uploaded, connection=connection, method=method)
            assert recorded.late <= {"unite_in_sequence", "search_in_sequence"}  # which run on the CPU, always


@pytest.mark.parametrize("method", METHODS)
def test_rankings_prepare_their_modules(recorded, method):
    successors = static_graph.generate_list("random", 100_000, device="cpu")
    assert recorded.late == set()
    for values in (None, np.ones(len(successors), np.int64)):
        recorded.forget()
        static_graph.rank(successors, values=values, method=method, device="cpu")
        assert recorded.late == set()


def test_lists_trees_and_graphs_prepare_their_modules(recorded):
    edges = np.column_stack([np.arange(1, len(PARENTS)), PARENTS[1:]])
    for call in (
        lambda: static_graph.generate_list("random-balanced", 5000, lists=3, device="cpu"),
        lambda: static_graph.generate_random(500, 3000, weights=10, device="cpu"),
        lambda: static_graph.find_roots(PARENTS, device="cpu"),
        lambda: static_graph.euler_tour(edges, device="cpu"),
        lambda: static_graph.euler_tour(edges[::2], nodes=len(PARENTS), device="cpu"),
        lambda: static_graph.euler_tour(PARENTS, 5, device="cpu"),
    ):
        recorded.forget()
        call()
        assert recorded.prepared and recorded.late == set()
    tree = static_graph.euler_tour(PARENTS, device="cpu")
    for question in (
        lambda: tree.lca([3, 5], [7, 8]),
        lambda: tree.path_sums(np.ones(len(PARENTS), int)),
    ):
        recorded.forget()
        question()
        assert recorded.prepared and recorded.late == set()
