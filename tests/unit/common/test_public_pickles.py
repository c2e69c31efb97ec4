"""Public objects pickled, also with buffers apart, as Dask sends them: they may begin at any byte."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import dmr
import static_graph
from static_graph import CsrGraph

OUTLINE = dmr.domains.regular_polygon(8)
PLAIN = dmr.triangulate(OUTLINE)
CPU: dict[str, Any] = {"device": "cpu", "threads": 1}
POINTS = np.random.default_rng(0).random((9, 2))


def sent(item: Any, offset: int) -> Any:
    """Returns the item from a pickle whose buffers begin `offset` bytes behind a multiple of 64."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(item, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[moved(buffer.raw(), offset) for buffer in buffers])


def moved(content: memoryview, offset: int) -> memoryview:
    memory = np.zeros(len(content) + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    memory[start : start + len(content)] = np.frombuffer(content, np.uint8)
    return memory[start : start + len(content)].data.toreadonly()


def arrays_of(item: Any) -> dict[str, np.ndarray]:
    """Returns the arrays among an item's attributes."""
    return {name: value for name, value in vars(item).items() if isinstance(value, np.ndarray)}


def public_objects() -> dict[str, Any]:
    """Makes one of each public class that holds results or input."""
    fine = dmr.refine(PLAIN, max_area=0.01, **CPU)
    graph = static_graph.generate_rmat(64, 256)
    return {
        "Pslg": OUTLINE,
        "Mesh": PLAIN,
        "Refinement": fine,
        "Optimization": dmr.optimize(fine.mesh, **CPU),
        "Report": dmr.validate(fine.mesh),
        "SecondOrder": dmr.second_order(PLAIN),
        "Voronoi": dmr.voronoi(PLAIN),
        "SizeField": dmr.SizeField(PLAIN, np.ones(len(PLAIN.vertices)), on="vertices"),
        "Locator": dmr.Locator(PLAIN, **CPU),
        "Delaunay": dmr.delaunay(POINTS),
        "CsrGraph": graph,
        "Traversal": static_graph.bfs(graph, 0, **CPU),
        "PageRank": static_graph.pagerank(graph, **CPU),
        "Components": static_graph.connected_components(graph, **CPU),
        "Ranking": static_graph.rank_in_detail(np.array([1, 2, -1]), **CPU),
        "Tree": static_graph.euler_tour(np.array([-1, 0, 0]), **CPU),
    }


def test_public_objects_are_pickled() -> None:
    for name, item in public_objects().items():
        for offset in (0, 1, 8):
            again = sent(item, offset)
            assert type(again) is type(item), name
            found = arrays_of(again)
            for each, array in arrays_of(item).items():
                np.testing.assert_array_equal(found[each], array, err_msg=f"{name}.{each}")


@pytest.mark.parametrize("offset", [0, 1, 4, 8])
def test_objects_from_pickles_are_computed_with(offset) -> None:
    """Refinements of meshes that Dask had sent ended the process by SIGSEGV."""
    mesh, outline = sent(PLAIN, offset), sent(OUTLINE, offset)
    for given, original in ((mesh, PLAIN), (outline, OUTLINE)):
        found = dmr.refine(given, max_area=0.01, **CPU).mesh
        expected = dmr.refine(original, max_area=0.01, **CPU).mesh
        np.testing.assert_array_equal(found.triangles, expected.triangles)
        assert found.vertices.tobytes() == expected.vertices.tobytes()
    assert dmr.validate(mesh).ok
    points = moved(memoryview(POINTS - 0.5).cast("B"), offset)
    places = np.frombuffer(points, np.float64).reshape(-1, 2)
    np.testing.assert_array_equal(dmr.locate(mesh, places, **CPU), dmr.locate(PLAIN, POINTS - 0.5, **CPU))
    graph = CsrGraph.from_edges([0, 1, 2], [1, 2, 3], [1.5, 2.5, 0.5])
    np.testing.assert_array_equal(static_graph.sssp(sent(graph, offset), 0, **CPU).distances, [0, 1.5, 4, 4.5])


def test_an_uploaded_graph_says_that_it_cannot_be_pickled() -> None:
    graph = static_graph.upload(static_graph.generate_rmat(8, 16), "cpu")
    with pytest.raises(TypeError, match="an uploaded graph cannot be pickled: send the CsrGraph"):
        pickle.dumps(graph)
