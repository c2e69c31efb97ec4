"""Meshes and results are immutable; later changes of the caller's own arrays are found before use."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields

import numpy as np
import pytest

import dmr
from dmr import Mesh, Pslg
from dmr.common.frozen import is_frozen
from dmr.errors import InvalidMeshError

COPIES = {
    "same": lambda x: x,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


def square() -> Mesh:
    return Mesh(
        np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.4]], float),
        np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], np.int32),
        segments=[[0, 1], [1, 2]],
        segment_markers=[3, 4],
        vertex_markers=np.arange(5),
        vertex_attributes=np.ones((5, 2)),
        triangle_attributes=np.ones((4, 1)),
        area_bounds=np.ones(4),
    )


def held() -> dict[str, object]:
    mesh = square()
    assert mesh.neighbours is not None
    return {
        "Mesh": mesh,
        "Pslg": Pslg([[0, 0], [1, 0], [0, 1]], [[0, 1], [1, 2], [2, 0]], regions=[[0.1, 0.1, 1, -1]]),
        "Refinement": dmr.refine(mesh, device="cpu", threads=1),
        "Voronoi": dmr.voronoi(mesh),
        "SecondOrder": dmr.second_order(mesh),
        "SizeField": dmr.SizeField(mesh, np.ones(5), on="vertices"),
    }


def arrays_in(item: object, name: str) -> list[tuple[str, np.ndarray]]:
    found = []
    for key, value in item.items() if isinstance(item, dict) else vars(item).items():
        if isinstance(value, np.ndarray):
            found.append((f"{name}.{key}", value))
        elif isinstance(value, Mesh | dict):
            found += arrays_in(value, f"{name}.{key}")
    return found


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_arrays_of_meshes_cannot_be_made_writable(copied):
    for name, item in held().items():
        again = copied(item)
        found = arrays_in(again, name)
        assert [key for key, _ in found] == [key for key, _ in arrays_in(item, name)] and found
        for (key, array), (_, original) in zip(found, arrays_in(item, name), strict=True):
            assert is_frozen(array), key
            assert array.dtype == original.dtype and np.array_equal(array, original), key
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
                array.flags.writeable = True
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
                array.setflags(write=True)
        if name == "SizeField":
            assert np.array_equal(again([[0.5, 0.5]]), item([[0.5, 0.5]]))


def test_a_mesh_shares_its_data_and_a_deep_copy_does_not():
    vertices, triangles = np.zeros((3, 2)), np.array([[0, 1, 2]], np.int32)
    mesh = Mesh(vertices, triangles)
    assert np.shares_memory(mesh.vertices, vertices) and np.shares_memory(mesh.triangles, triangles)
    assert vertices.flags.writeable and triangles.flags.writeable
    again = copy.deepcopy(mesh)
    assert not any(
        np.shares_memory(getattr(again, f.name), getattr(mesh, f.name))
        for f in fields(Mesh)
        if isinstance(getattr(mesh, f.name), np.ndarray) and getattr(mesh, f.name).size
    )
    assert np.shares_memory(copy.copy(mesh).vertices, vertices)


PLACE = np.array([[0.5, 0.5]])
USES = {
    "refine": lambda mesh: dmr.refine(mesh, device="cpu", threads=1),
    "refine with bounds on areas": lambda mesh: dmr.refine(mesh, max_area=1e-30, device="cpu", threads=1),
    "validate": dmr.validate,
    "measure": dmr.measure,
    "neighbours": lambda mesh: mesh.neighbours,
    "voronoi": dmr.voronoi,
    "second_order": dmr.second_order,
    "SizeField": lambda mesh: dmr.SizeField(mesh, np.ones(len(mesh.vertices)), on="vertices"),
    "to_meshio": dmr.io.to_meshio,
    "view": lambda mesh: dmr.view(mesh, screenshot="never.png"),
}


@pytest.mark.parametrize("wrong", [10**9, 5, -1, -(2**31)])
@pytest.mark.parametrize("name", USES)
def test_indices_changed_afterwards_are_refused(name, wrong):
    given = square()
    triangles = given.triangles.copy()
    mesh = Mesh(given.vertices, triangles)
    triangles[2, 1] = wrong
    with pytest.raises(InvalidMeshError, match=f"^triangle 2: .*vertex {wrong}"):
        USES[name](mesh)


@pytest.mark.parametrize("wrong", [10**9, -1, -(2**31)])
def test_segments_changed_afterwards_are_refused(wrong, tmp_path):
    given = square()
    segments = np.array([[0, 1], [1, 2], [2, 0]], np.int32)
    mesh, outline = Mesh(given.vertices, given.triangles, segments=segments[:2]), Pslg(given.vertices[:3], segments)
    segments[1, 0] = wrong
    uses = {**USES, "triangulate": dmr.triangulate, "write": lambda item: dmr.write(tmp_path / "a.poly", item)}
    for name, item in (
        ("refine", mesh),
        ("refine", outline),
        ("triangulate", outline),
        ("write", outline),
        ("validate", mesh),
        ("view", outline),
    ):
        with pytest.raises(InvalidMeshError, match=f"^segment 1: .*vertex {wrong}"):
            uses[name](item)


def test_size_lookup_after_its_mesh_was_changed():
    triangles = square().triangles.copy()
    field = dmr.SizeField(Mesh(square().vertices, triangles), np.ones(5), on="vertices")
    triangles[2, 1] = 10**9
    with pytest.raises(InvalidMeshError, match="triangle 2: names vertex 1000000000"):
        field(PLACE)
