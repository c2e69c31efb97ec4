"""The engine's reductions, with bodies that a test adds as CONTRIBUTING.md describes, on an emulated GPU."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from dmr.memory import pack
from dmr.memory.declarations import Declarations, declarations, source_folder
from dmr.memory.signatures import Signature, signatures
from static_graph.engine.loop import STRATEGIES, Expansion, Frontier, how, run_rounds
from static_graph.graph.csr import CsrGraph
from static_graph.graph.device_graph import DeviceGraph
from tests.support.emulated import emulator
from tests.support.graphs.traversed import ABLATION, random_graph

pytestmark = pytest.mark.slow

# Each edge gives a number that depends on both of its ends; nodes divisible by 5 are skipped, and in the first round
# nodes divisible by 3 are pushed when they are left.
BODY = """
KERNEL_STRUCT({name}) {{
    uint64 *found;
    using State = uint64;
    using Reduction = {reduction};

    METHOD bool enter(Index u, State &state, const Loop &) const {{
        state = uint64(u) * 0x9E3779B97F4A7C15u;
        return u % 5 != 0;
    }}
    METHOD uint64 edge(Index, State state, Index edge, const Loop &loop) const {{
        return state + uint64(loop.graph.targets[edge]) * 0xBF58476D1CE4E5B9u;
    }}
    METHOD void leave(Index u, State, uint64 value, const Loop &loop) const {{
        found[u] = value;
        if (loop.round() == 0 && u % 3 == 0)
            loop.push(u);
    }}
}};

ENGINE_KERNELS_WITH_LEAVE({kernels}, {name})
"""
REDUCTIONS = {
    "Sum": (lambda values: values.sum(dtype=np.uint64), 0),
    "Maximum": (lambda values: values.max(), 0),
    "Minimum": (lambda values: values.min(), 2**64 - 1),
}


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """An emulated GPU with a body for each reduction."""
    folder = tmp_path_factory.mktemp("bodies")
    copied = folder / "cuda_src"
    for each in ("portable", "primitives", "graph"):
        shutil.copytree(source_folder() / each, copied / each)
    bodies = copied / "bodies.cu"
    texts = [BODY.format(name=f"With{each}", reduction=each, kernels=f"test_{each.lower()}") for each in REDUCTIONS]
    bodies.write_text('#include "graph/engine/engine.cuh"\n' + "".join(texts))
    declared = Declarations(copied)
    sources = ["graph/engine/rounds.cu", "primitives/scan.cu", str(bodies)]
    library = emulator.build(folder, sources, declared.kernels.values())
    added = {
        kernel.name: Signature(kernel.name, kernel.source, kernel.team, kernel.grid, kernel.parameters)
        for kernel in declared.kernels.values()
        if kernel.source == bodies
    }
    assert len(added) == 4 * len(REDUCTIONS)
    with pytest.MonkeyPatch.context() as patch:
        for name, signature in added.items():
            patch.setitem(signatures(), name, signature)
        for each in REDUCTIONS:
            patch.setitem(declarations().structs, f"With{each}", declared.structs[f"With{each}"])
        yield emulator.EmulatedDevice(library)


def graphs() -> list[CsrGraph]:
    """Small graphs with a hub; rows of every size; and many rows without edges in one tile."""
    random = np.random.default_rng(3)
    ends = random.integers(0, 400, (2, 3000))
    ends[0, :1500] %= 4
    ends[0, 1500:1900] = 7 + ends[0, 1500:1900] % 5
    few = random.integers(0, 2500, (2, 300))
    return [
        random_graph(2),
        random_graph(4),
        CsrGraph.from_edges(*ends, None, 400),
        CsrGraph.from_edges(*few, None, 2500),
    ]


def expected(graph: CsrGraph, reduction: str, allowed: np.ndarray | None) -> dict[int, int]:
    """The reduction of each entered node, by numpy."""
    combine, empty = REDUCTIONS[reduction]
    found = {}
    for node in range(graph.nodes):
        if node % 5 and (allowed is None or allowed[node]):
            targets = graph.targets[graph.offsets[node] : graph.offsets[node + 1]]
            targets = (targets if allowed is None else targets[allowed[targets]]).astype(np.uint64)
            values = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15) + targets * np.uint64(0xBF58476D1CE4E5B9)
            found[node] = int(combine(values)) if values.size else empty
    return found


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("options", [0, 1, 3])
def test_reductions_of_all_strategies(strategy, options, device):
    chosen = how(strategy, **{name: k < options for k, name in enumerate(ABLATION)})
    for number, host in enumerate(graphs()):
        graph = DeviceGraph.upload(host, device)
        allowed = np.random.default_rng(number).random(host.nodes) < 0.8
        for reduction, masked in zip(REDUCTIONS, (True, False, True), strict=True):
            body = f"test_{reduction.lower()}"
            mask = device.array(allowed.astype(np.uint8)) if masked else None
            values = expected(host, reduction, allowed if masked else None)
            found = device.array(np.full(host.nodes, 7, np.uint64))
            packed = pack(f"With{reduction}", found=found)
            frontier = Frontier(graph, None, mask=mask)
            counts = run_rounds(frontier, [Expansion(graph, body, packed, frontier, chosen, reduces=True)])
            again = sum(node % 3 == 0 for node in values)
            assert (counts.rounds, counts.expanded) == (1 + (again > 0), host.nodes + again)
            whole = np.array([values.get(node, 7) for node in range(host.nodes)], np.uint64)
            np.testing.assert_array_equal(found.download(), whole, f"graph {number}, {reduction}")
