"""The CUDA version of the kernels for components, run by an emulator of a GPU's threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components as by_scipy

from static_graph.components.connecting import connected_components
from static_graph.components.table import METHODS
from static_graph.graph.device_graph import DeviceGraph
from tests.support.emulated import emulator
from tests.support.graphs.components import deep_graphs, graphs, smallest_labels

pytestmark = pytest.mark.slow

SOURCES = [
    "graph/building/incoming.cu",
    "graph/building/rows.cu",
    "primitives/gathering.cu",
    "primitives/scan.cu",
    "primitives/sorting.cu",
    *emulator.sources_in("graph/components", "graph/engine", "graph/traversal"),
]
WAYS = [(c, m) for c, methods in METHODS.items() for m, method in methods.items() if not method.serial]


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    return emulator.EmulatedDevice(emulator.build(tmp_path_factory.mktemp("emulated"), SOURCES))


@pytest.mark.parametrize(("connection", "method"), WAYS)
def test_components_on_the_emulated_gpu(connection, method, device):
    small = [(name, graph) for name, graph in (*graphs(), *deep_graphs(30)) if graph.nodes <= 150]
    for name, graph in small[::3]:
        uploaded = DeviceGraph.upload(graph, device)
        expected = smallest_labels(by_scipy(graph.to_scipy(), connection=connection)[1])
        for _ in range(2):
            found = connected_components(uploaded, connection=connection, method=method)
            np.testing.assert_array_equal(found.labels, expected, name)
