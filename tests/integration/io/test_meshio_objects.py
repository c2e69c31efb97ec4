"""Conversion to and from meshio's objects keeps everything."""

from __future__ import annotations

import logging
from pathlib import Path

import meshio
import numpy as np
import pytest

import dmr
from dmr.errors import FileError, OptionError
from dmr.io import from_meshio, to_meshio
from tests.support.meshes import assert_equal_meshes

MESH = dmr.Mesh(
    [[0, 0], [1, 0], [1, 1], [0, 1]],
    [[0, 1, 2], [0, 2, 3]],
    segments=[[0, 2], [1, 2], [0, 3]],
    segment_markers=[7, 8, 0],
    vertex_markers=[1, 2, 3, 4],
    vertex_attributes=[[0.1], [0.2], [0.3], [0.4]],
    triangle_attributes=[[5.0], [-6.0]],
    area_bounds=[0.5, -1.0],
)


def sets_of(found: meshio.Mesh) -> dict[str, list[list[int]]]:
    return {name: [np.asarray(members).tolist() for members in blocks] for name, blocks in found.cell_sets.items()}


@pytest.mark.parametrize("order", [1, 2])
def test_a_mesh_converted_to_meshio_and_back_is_unchanged(order: int) -> None:
    found = to_meshio(MESH, order=order)
    assert isinstance(found, meshio.Mesh)
    assert [block.type for block in found.cells] == (["triangle", "line"] if order == 1 else ["triangle6", "line3"])
    assert_equal_meshes(from_meshio(found), MESH)


def test_regions_and_boundaries_are_sets() -> None:
    sets = {"region_5": [[0], []], "region_-6": [[1], []], "boundary_7": [[], [0]], "boundary_8": [[], [1]]}
    assert sets_of(to_meshio(MESH)) == sets
    whole = to_meshio(MESH, boundary=True)
    assert whole.cells_dict["line"].tolist() == [[0, 2], [1, 2], [0, 3], [0, 1], [2, 3]]
    assert sets_of(whole) == {**sets, "boundary_1": [[], [2, 3, 4]]}, "the rest of the boundary"
    bare = to_meshio(dmr.Mesh(MESH.vertices, MESH.triangles, triangle_attributes=[[0.5], [1]]))
    assert sets_of(bare) == {}
    assert [block.type for block in bare.cells] == ["triangle"]
    assert sets_of(to_meshio(dmr.Mesh(MESH.vertices, MESH.triangles), boundary=True)) == {
        "boundary_1": [[], [0, 1, 2, 3]]
    }


def test_sets_without_data_give_regions_and_boundaries(caplog: pytest.LogCaptureFixture) -> None:
    full = to_meshio(MESH)
    found = meshio.Mesh(full.points, full.cells, cell_sets=full.cell_sets)
    back = from_meshio(found)
    assert back.triangle_attributes is not None and back.triangle_attributes.tolist() == [[5], [-6]]
    assert back.segment_markers is not None and back.segment_markers.tolist() == [7, 8, 0]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    # Blocks may be many, sets may lack some, and hold None; other names are left alone.
    cells = [("triangle", [[0, 1, 2]]), ("line", [[0, 2], [1, 2]]), ("triangle", [[0, 2, 3]])]
    sets = {"region_4": [None, None, np.array([0])], "boundary_2": [[], [1]], "steel": [[0], [], []], "region_x": []}
    back = from_meshio(meshio.Mesh(full.points, cells, cell_sets=sets))
    assert back.triangle_attributes is not None and back.triangle_attributes.tolist() == [[0], [4]]
    assert back.segment_markers is not None and back.segment_markers.tolist() == [0, 2]
    twice = {"region_1": [[0, 1], []], "region_2": [[1], []]}
    assert from_meshio(meshio.Mesh(full.points, full.cells, cell_sets=twice)).triangle_attributes.tolist() == [[1], [2]]
    assert "set region_2 shares elements with another one" in caplog.text


@pytest.mark.parametrize("suffix", [".vtu", ".vtk", ".inp"])
def test_meshio_writes_the_object(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    to_meshio(MESH, boundary=True).write(path)
    back = dmr.read(path)
    assert isinstance(back, dmr.Mesh)
    assert back.triangle_attributes is not None and back.triangle_attributes.tolist() == [[5], [-6]]
    assert back.segment_markers is not None and back.segment_markers.tolist() == [7, 8, 1, 1, 1]


def test_other_than_plane_meshes_are_refused() -> None:
    tilted = meshio.Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 1]]), [("triangle", np.array([[0, 1, 2]]))])
    with pytest.raises(FileError, match="flat"):
        from_meshio(tilted)
    with pytest.raises(OptionError, match="order must be 1 or 2, not 3"):
        to_meshio(MESH, order=3)
