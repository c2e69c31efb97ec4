"""networkx finds the backend, converts graphs once, and falls back to itself."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
from inspect import signature

import networkx as nx
import pytest

from static_graph import networkx_backend as backend
from static_graph.networkx_backend.dispatching import SMALLEST, should_run
from static_graph.networkx_backend.info import FUNCTIONS
from tests.graph.networkx_backend.processes import environment

HEAVY = ("numpy", "scipy", "ctypes", "dmr.memory", "static_graph.graph", "static_graph.traversal", "pycuda")


@pytest.fixture
def preferred(registered):
    """Sends every call to the backend first, without networkx's warning about its cache."""
    with nx.config(backend_priority=["static_graph"], warnings_to_ignore={"cache"}):
        yield


def cached(graph):
    """The converted graphs that networkx keeps with a graph."""
    return list(graph.__networkx_cache__.get("backends", {}).get("static_graph", {}).values())


def run(program, folder, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment(folder, **variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
def test_networkx_finds_the_backend_and_imports_no_more(tmp_path):
    program = f"""
import sys
import static_graph.networkx_backend
print(*(set({HEAVY}) & set(sys.modules)))
before = set(sys.modules)
import networkx
print(*(set({HEAVY[3:]}) & set(sys.modules)), "static_graph" in networkx.config.backends)
graph = networkx.path_graph(5000)
print(len(networkx.descendants(graph, 0)), *graph.__networkx_cache__["backends"])
print(networkx.config.backends.static_graph.device, "numpy" in sys.modules)
"""
    assert run(program, tmp_path, NETWORKX_BACKEND_PRIORITY="static_graph") == [
        *("True", "4999", "static_graph", "auto", "True")
    ]


def test_the_table_has_every_function_with_the_parameters_of_networkx(registered):
    for name in FUNCTIONS:
        own = signature(getattr(backend, name)).parameters.values()
        theirs = signature(getattr(nx, name)).parameters.values()
        wanted = [(each.name, each.default) for each in theirs if each.name not in ("backend", "backend_kwargs")]
        assert [(each.name, each.default) for each in own] == wanted, name
    assert {*FUNCTIONS} <= {*dir(backend)}
    assert not hasattr(backend, "shortest_path")


def test_a_graph_is_converted_once_until_it_changes(preferred):
    graph = nx.path_graph(SMALLEST)
    assert len(nx.descendants(graph, 0)) == SMALLEST - 1
    (first,) = cached(graph)
    assert isinstance(first, backend.Graph)
    assert next(nx.bfs_edges(graph, 0)) == (0, 1)
    assert nx.single_source_dijkstra_path_length(graph, 0)[9] == 9
    (second,) = cached(graph)
    uploads = dict(second._uploaded)
    assert nx.single_source_dijkstra_path_length(graph, 1)[9] == 8
    assert cached(graph) == [second] and dict(second._uploaded) == uploads
    graph.add_edge(0, SMALLEST - 1)
    assert cached(graph) == []
    assert nx.single_source_dijkstra_path_length(graph, 0)[SMALLEST - 1] == 1


def test_views_are_not_answered_from_a_cache(preferred):
    graph = nx.path_graph(SMALLEST, create_using=nx.DiGraph)
    for view in (graph.reverse(copy=False), graph.subgraph(list(graph)), graph.to_undirected(as_view=True)):
        source = 0 if nx.descendants(view, 0) else SMALLEST - 1
        assert len(nx.descendants(view, source)) == SMALLEST - 1
        graph.remove_edge(3, 4)
        assert len(nx.descendants(view, source)) < SMALLEST - 1
        graph.add_edge(3, 4)


def test_small_graphs_and_functions_are_left_to_networkx(preferred, caplog):
    small, large = nx.path_graph(SMALLEST // 2), nx.path_graph(SMALLEST)
    assert should_run("descendants", (large, 0), {}) is True
    assert should_run("descendants", (), {"G": nx.complete_graph(100)}) is True
    assert f"fewer than {SMALLEST}" in should_run("descendants", (), {"G": small})
    assert "from both ends" in should_run("has_path", (large, 0, 1), {})
    assert "Python function" in should_run("bfs_edges", (large, 0), {"sort_neighbors": sorted})
    with caplog.at_level(logging.DEBUG, "networkx.utils.backends"):
        assert len(nx.descendants(small, 0)) == SMALLEST // 2 - 1
        assert list(nx.bfs_edges(large, 0, depth_limit=1, sort_neighbors=sorted)) == [(0, 1)]
    assert cached(small) == cached(large) == []
    assert "fewer than" in caplog.text and "Python function" in caplog.text
    assert nx.has_path(small, 0, 1, backend="static_graph")
    assert next(nx.bfs_edges(large, 0, sort_neighbors=sorted, backend="static_graph")) == (0, 1)


def test_networkx_answers_what_the_backend_declines(preferred):
    graph = nx.path_graph(SMALLEST)
    graph.add_edge(0, 5, weight=None)
    assert nx.single_source_dijkstra_path_length(graph, 0)[5] == 5
    graph.add_edge(0, 5, weight=-1)
    with pytest.raises(ValueError, match="Contradictory paths"):
        nx.single_source_dijkstra_path_length(graph, 0)
    with pytest.raises(NotImplementedError, match="single_source_dijkstra_path_length"):
        nx.single_source_dijkstra_path_length(graph, 0, backend="static_graph")
    assert nx.shortest_path(graph, 0, 6, weight="other") == [0, 5, 6]


def test_copies_and_pickles_of_a_converted_graph(preferred):
    graph = nx.path_graph(SMALLEST)
    assert len(nx.descendants(graph, 0)) == SMALLEST - 1
    for twin in (copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), graph.copy()):
        assert nx.utils.graphs_equal(twin, graph)
        assert len(nx.descendants(twin, 0)) == SMALLEST - 1
        twin.remove_edge(0, 1)
        assert nx.descendants(twin, 0) == set()
    assert len(nx.descendants(graph, 0)) == SMALLEST - 1


def test_the_configured_device_is_used(on_device, device_options):
    graph = backend.convert_from_nx(nx.path_graph(9))
    assert backend.has_path(graph, 0, 8)
    (uploaded,) = graph._uploaded.values()
    assert (uploaded.device.threads == 0) is (device_options["device"] == "cuda")
    assert uploaded.device.threads == (device_options["threads"] or 0)


def test_functions_without_a_backend_take_its_graphs(preferred):
    converted = backend.convert_from_nx(nx.path_graph(4))
    assert list(nx.bfs_edges(converted, 0)) == [(0, 1), (1, 2), (2, 3)]
    assert nx.degree_centrality(converted, backend="networkx")[0] == 1 / 3
    with pytest.raises(NotImplementedError):
        nx.degree_centrality(converted)
