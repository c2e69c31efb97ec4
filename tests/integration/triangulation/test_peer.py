"""Triangulation by Shewchuk's Triangle in another process: results; crashes and hangs become errors."""

from __future__ import annotations

import logging
import os
import textwrap

import numpy as np
import pytest

import dmr
from dmr import Pslg
from dmr.errors import DmrError, InvalidMeshError
from dmr.triangle.peer import triangulate_by_triangle
from dmr.validation.checker import validate
from tests.support.paths import ROOT

ISSUES = ROOT.parent / "shared" / "hard_meshes" / "issues"
SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


@pytest.fixture
def pretender(tmp_path, monkeypatch):
    """Puts a module named `triangle` before the real one for new processes."""

    def put(text):
        (tmp_path / "triangle.py").write_text(textwrap.dedent(text))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    return put


def triangles_of(mesh):
    return {tuple(np.roll(corners, -corners.argmin())) for corners in mesh.triangles}


# ---- What it returns -----------------------------------------------------------------------------------------------


def test_triangle_as_mesher_keeps_holes_regions_markers_and_crossings():
    pytest.importorskip("triangle")
    domain = Pslg(
        [*SQUARE, [2, -1], [2, 5], [6, 2]],
        [*RING, [4, 5]],
        regions=[[1, 1, 5, 0.1], [3, 1, 6, -1]],
        segment_markers=[3, 0, 0, 0, 9],
        vertex_markers=[0, 0, 0, 8, 0, 0, 0],
        vertex_attributes=[[0], [4], [4], [0], [2], [2], [6]],
    )
    mesh = triangulate_by_triangle(domain)
    assert validate(mesh).ok
    assert np.array_equal(mesh.vertices[:7], domain.vertices)
    assert sorted(mesh.vertices[7:].tolist()) == [[2, 0], [2, 4]]
    assert mesh.vertex_attributes[7:].tolist() == [[2], [2]]
    low, high = (7, 8) if mesh.vertices[7, 1] == 0 else (8, 7)
    pieces = {
        frozenset(ends): marker for ends, marker in zip(mesh.segments.tolist(), mesh.segment_markers, strict=True)
    }
    assert pieces == {
        frozenset((0, low)): 3,
        frozenset((low, 1)): 3,
        frozenset((1, 2)): 1,
        frozenset((2, high)): 1,
        frozenset((high, 3)): 1,
        frozenset((3, 0)): 1,
        frozenset((low, high)): 9,
    }
    assert mesh.vertex_markers[[0, 1, 2, 3, 4, 5, 6, high]].tolist() == [3, 3, 1, 8, 0, 0, 0, 9]
    left = mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] < 2
    assert np.array_equal(mesh.triangle_attributes[:, 0], np.where(left, 5, 6))
    assert np.array_equal(mesh.area_bounds, np.where(left, 0.1, 0))
    assert np.array_equal(mesh.regions, domain.regions)


@pytest.mark.slow
def test_triangle_and_own_mesher_agree_on_unique_triangulations():
    pytest.importorskip("triangle")
    rng = np.random.default_rng(3)
    inner = rng.uniform(0.1, 3.9, (80, 2))
    hole = [[1, 1], [1.5, 1.125], [1.25, 1.75]]
    n = len(SQUARE)
    domain = Pslg(
        np.vstack(
            [
                np.add(SQUARE, rng.uniform(-0.05, 0.05, (n, 2))),
                hole,
                inner[~((inner > 0.9) & (inner < 1.8)).all(axis=1)],
            ]
        ),
        [*RING, [n, n + 1], [n + 1, n + 2], [n + 2, n]],
        holes=[[1.25, 1.25]],
        segment_markers=[1, 2, 3, 4, 5, 6, 7],
    )
    for hull in (False, True):
        ours, theirs = dmr.triangulate(domain, convex_hull=hull), triangulate_by_triangle(domain, convex_hull=hull)
        assert triangles_of(ours) == triangles_of(theirs)
        for mesh in (ours, theirs):
            assert sorted(map(sorted, mesh.segments.tolist())) == sorted(map(sorted, domain.segments.tolist()))
        assert np.array_equal(dmr.triangulate(domain, convex_hull=hull, mesher="triangle").triangles, theirs.triangles)


def test_points_without_segments():
    pytest.importorskip("triangle")
    points = np.random.default_rng(1).random((40, 2))
    mesh = triangulate_by_triangle(Pslg(points, []), convex_hull=True)
    assert validate(mesh).ok
    assert np.array_equal(mesh.vertices, points)
    assert (len(mesh.segments), np.unique(mesh.triangles).size) == (0, 40)
    with pytest.raises(DmrError, match="no triangles and no error"):
        triangulate_by_triangle(Pslg(points, []))


def test_the_licence_of_triangle_is_logged(caplog):
    pytest.importorskip("triangle")
    with caplog.at_level(logging.WARNING, "dmr"):
        triangulate_by_triangle(Pslg(SQUARE, RING))
    assert "non-commercial use only" in caplog.text


# ---- What it does not give to Triangle -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "sentence"),
    [
        (Pslg([[0, 0], [1, 0]], []), "2 vertices make no triangle"),
        (Pslg([*SQUARE, [4, 0]], RING), "vertex 4: .*vertex 1"),
        (Pslg([[0.0, 0], [1, 0], [0, 1], [-0.0, 0]], []), "vertex 3: has the coordinates"),
        (Pslg(SQUARE, [*RING, [2, 2]]), "segment 4: joins vertex 2 to itself"),
        (Pslg([[k / 10, 0.3 * (k / 10)] for k in (0, 5, 10)], []), "all 3 vertices lie on one line"),
        (Pslg([[1, k] for k in range(9)], []), "all 9 vertices lie on one line"),
        (Pslg(SQUARE, RING, holes=[[1, 1], [np.nan, 1]]), r"hole 1 is \(nan, 1.0\)"),
        (Pslg(SQUARE, RING, regions=[[1, np.inf, 0, 0]]), r"region 0 is \(1.0, inf, 0.0, 0.0\)"),
    ],
)
def test_input_that_crashes_triangle_is_refused(domain, sentence):
    with pytest.raises(InvalidMeshError, match=sentence):
        triangulate_by_triangle(domain, convex_hull=True)


def test_almost_collinear_points_are_not_refused():
    pytest.importorskip("triangle")
    mesh = triangulate_by_triangle(Pslg([[0, 0], [1, 1], [2, np.nextafter(2, 3)]], []), convex_hull=True)
    assert len(mesh.triangles) == 1


# ---- Its own failures ------------------------------------------------------------------------------------------------


FAILING = {
    # A hole point outside and a vertex on a segment cause a segmentation fault in the C code.
    "triangle_2_coredump": r"crashed .*SIGSEGV",
    "triangle_net_1": r"exit code 1 .*invalid geometry",
    "trianglelite_1_infinite_loop": "2 seconds",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILING)
def test_failures_of_triangle_are_errors(name):
    pytest.importorskip("triangle")
    file = ISSUES / f"{name}.poly"
    if not file.exists():
        pytest.skip("shared/hard_meshes is not here")
    with pytest.raises(DmrError, match=FAILING[name]):
        triangulate_by_triangle(dmr.read(file), timeout=2)


def test_a_tiny_time_limit_is_kept():
    with pytest.raises(DmrError, match=r"did not end within 0\.001 seconds"):
        triangulate_by_triangle(Pslg(SQUARE, RING), timeout=0.001)


def test_an_open_outline_is_an_error():
    pytest.importorskip("triangle")
    with pytest.raises(DmrError, match="no triangles"):
        triangulate_by_triangle(Pslg(SQUARE, RING[:3]))


def test_a_missing_package_names_its_extra(pretender):
    pretender("raise ImportError('no such thing')")
    with pytest.raises(DmrError, match="pip install triangle"):
        triangulate_by_triangle(Pslg(SQUARE, RING))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("os.kill(os.getpid(), signal.SIGABRT)", r"crashed on this domain \(SIGABRT\)"),
        ("os._exit(7)", "gave up with exit code 7;"),
        ("os._exit(0)", "left no result"),
        ("return {}", "no triangles"),
        ("made['vertices'] = made['vertices'][::-1]", "do not begin with the 4 given ones"),
        ("made['vertices'] = made['vertices'][:3]; made['triangles'] = made['triangles'][:1]", "returned 3 vertices"),
        ("made['triangles'] = made['triangles'][:, ::-1]", "triangle 0 flat or clockwise"),
        ("made['triangles'] = made['triangles'][:1]", "left out vertex 3 at"),
        ("made['triangles'] = numpy.array([[0, 1, 3], [1, 2, 3]])", "segment 4"),
    ],
)
def test_an_invalid_mesh_of_triangle_is_an_error(pretender, body, sentence):
    """Replacement of the package with one fault; otherwise its answer is right."""
    program = """
    import os, signal, numpy
    def triangulate(given, switches):
        n = len(given['segments'])
        made = {'vertices': given['vertices'], 'triangles': numpy.array([[0, 1, 2], [0, 2, 3]]),
                'segments': given['segments'], 'segment_markers': given['segment_markers'].reshape(n, 1)}
        BODY
        return made
    """
    domain = Pslg(SQUARE, [*RING, [0, 2]])
    pretender(program.replace("BODY", "pass"))
    assert len(triangulate_by_triangle(domain, convex_hull=True).triangles) == 2
    pretender(program.replace("BODY", body))
    with pytest.raises(DmrError, match=sentence):
        triangulate_by_triangle(domain, convex_hull=True)
