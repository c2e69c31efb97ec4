"""Options of Triangle's output: markers, boundary segments, unused vertices, and files left out."""

from __future__ import annotations

import numpy as np
import pytest

from dmr import io
from dmr.errors import FileError, OptionError
from dmr.mesh.types import Mesh, Pslg
from dmr.triangle.output import with_boundary_segments, with_markers, without_idle_vertices
from tests.support.command_line import names


def square(**more):
    """Two triangles with a diagonal; vertex 2 is unused."""
    vertices = [[0, 0], [1, 0], [5, 5], [1, 1], [0, 1]]
    return Mesh(vertices, [[0, 1, 3], [0, 3, 4]], **more)


def test_boundary_edges_join_the_segments():
    mesh = with_boundary_segments(square(segments=[[3, 0], [4, 3]], segment_markers=[7, 0]))
    assert mesh.segments.tolist() == [[3, 0], [4, 3], [0, 1], [0, 4], [1, 3]]
    assert mesh.segment_markers.tolist() == [7, 0, 1, 1, 1]
    again = with_boundary_segments(mesh)
    assert again.segments.tolist() == mesh.segments.tolist()


def test_a_segment_that_is_not_an_edge_is_kept():
    mesh = with_boundary_segments(square(segments=[[1, 4]], segment_markers=[3]))
    assert mesh.segments.tolist()[0] == [1, 4]
    assert len(mesh.segments) == 5


@pytest.mark.parametrize(
    ("given", "segments", "markers", "expected", "on_segments"),
    [
        (None, [], [], [1, 1, 0, 1, 1], []),
        ([0, 0, 4, 6, 0], [], [], [1, 1, 4, 6, 1], []),
        (None, [[0, 3]], [0], [1, 1, 0, 1, 1], [0]),  # inside: no marker
        (None, [[0, 1]], [0], [1, 1, 0, 1, 1], [1]),
        (None, [[0, 1], [3, 0]], [0, 9], [9, 1, 0, 9, 1], [1, 9]),  # a marker that was given goes first
        (None, [[3, 4], [0, 3]], [8, 9], [9, 1, 0, 8, 8], [8, 9]),
        ([5, 0, 0, 0, 0], [[0, 3]], [9], [5, 1, 0, 9, 1], [9]),
    ],
)
def test_markers_follow_triangles_rule(given, segments, markers, expected, on_segments):
    mesh = with_markers(square(vertex_markers=given, segments=segments, segment_markers=markers))
    assert mesh.vertex_markers.tolist() == expected
    assert mesh.segment_markers.tolist() == on_segments


def test_unused_vertices_are_dropped_in_order():
    mesh = square(
        segments=[[0, 3]],
        vertex_markers=[10, 11, 12, 13, 14],
        vertex_attributes=np.arange(5.0)[:, None],
        area_bounds=[1, 2],
    )
    kept = without_idle_vertices(mesh)
    assert kept.vertices.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert kept.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert kept.segments.tolist() == [[0, 2]]
    assert kept.vertex_markers.tolist() == [10, 11, 13, 14]
    assert kept.vertex_attributes.ravel().tolist() == [0, 1, 3, 4]
    assert kept.area_bounds.tolist() == [1, 2]
    assert without_idle_vertices(kept) is kept


def test_files_can_be_left_out(tmp_path):
    mesh = square(segments=[[0, 3]], vertex_markers=[0] * 5, area_bounds=[1, 2])
    io.write(tmp_path / "x.ele", mesh, edges=True)
    old = (tmp_path / "x.poly").read_bytes()
    written = io.write(tmp_path / "x.ele", square(), leave_out=[".poly", ".node"], markers=False)
    assert [path.name for path in written] == ["x.ele"]
    assert names(tmp_path) == ["x.ele", "x.node", "x.poly"]  # the old .area and .edge went with the old .ele
    assert (tmp_path / "x.poly").read_bytes() == old
    io.write(tmp_path / "x.ele", mesh, neighbours=True, leave_out=[".node", ".ele", ".poly", ".area"])
    assert names(tmp_path) == ["x.ele", "x.neigh", "x.node", "x.poly"]
    assert io.write(tmp_path / "y.ele", mesh, leave_out=[".node", ".ele", ".poly", ".area"]) == []
    with pytest.raises(OptionError, match="can be left out"):
        io.write(tmp_path / "x.ele", mesh, leave_out=[".edge"])
    for more in ({"leave_out": [".poly"]}, {"markers": False}):
        with pytest.raises(OptionError, match="left out"):
            io.write(tmp_path / "x.vtu", mesh, **more)


def test_companions_are_read_as_asked(tmp_path):
    mesh = square(segments=[[0, 3]], vertex_markers=[0] * 5, area_bounds=[1, 2])
    io.write(tmp_path / "x.ele", mesh)
    bare = io.read(tmp_path / "x.ele", companions=())
    assert (len(bare.segments), bare.area_bounds) == (0, None)
    both = io.read(tmp_path / "x.ele", companions=(".poly", ".area"))
    assert (len(both.segments), both.area_bounds.tolist()) == (1, [1, 2])
    points = io.read(tmp_path / "x.node", companions=())
    assert isinstance(points, Pslg)
    assert (len(points.segments), points.vertex_markers.tolist()) == (0, [0] * 5)
    assert np.array_equal(points.vertices, mesh.vertices)
    assert isinstance(io.read(tmp_path / "x.node"), Mesh)
    (tmp_path / "x.area").unlink()
    with pytest.raises(FileError, match=r"x\.area"):
        io.read(tmp_path / "x.ele", companions=[".area"])


def test_source_of_vertices_and_their_numbers(tmp_path):
    (tmp_path / "own.poly").write_text("1 2\n5 0 0\n0\n0\n")
    (tmp_path / "other.poly").write_text("0 2\n0\n0\n")
    (tmp_path / "other.node").write_text("1 2\n1 0 0\n")
    assert io.vertex_file(tmp_path / "own.poly") == tmp_path / "own.poly"
    assert io.vertex_file(tmp_path / "other.poly") == tmp_path / "other.node"
    assert io.vertex_file(tmp_path / "other.ele") == tmp_path / "other.node"
    assert [io.numbering_base(tmp_path / "own.poly", otherwise) for otherwise in (0, 1)] == [0, 1]
    assert [io.numbering_base(tmp_path / "other.poly", otherwise) for otherwise in (0, 1)] == [1, 1]
