"""The Voronoi dual against Qhull, exact arithmetic and its definition; its files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dmr
from dmr.errors import FileError, InvalidMeshError, OptionError
from tests.support.meshes import qhull_mesh
from tests.support.paths import ROOT


def exact_circumcenter(corners: np.ndarray) -> tuple[Fraction, Fraction]:
    """Where two perpendicular bisectors meet: 2 (q - p) . c = |q|^2 - |p|^2 for two edges, by Cramer's rule."""
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in corners.tolist())
    ux, uy, u = 2 * (bx - ax), 2 * (by - ay), bx * bx + by * by - ax * ax - ay * ay
    vx, vy, v = 2 * (cx - ax), 2 * (cy - ay), cx * cx + cy * cy - ax * ax - ay * ay
    determinant = ux * vy - uy * vx
    return (u * vy - v * uy) / determinant, (ux * v - vx * u) / determinant


def assert_close_to_exact(mesh: dmr.Mesh, found: np.ndarray) -> None:
    """Within 2^-40 of the circumradius, and one rounding of the coordinate."""
    for corners, center in zip(mesh.vertices[mesh.triangles], found, strict=True):
        exact = exact_circumcenter(corners)
        ax, ay = (Fraction(x) for x in corners[0].tolist())
        radius = float((exact[0] - ax) ** 2 + (exact[1] - ay) ** 2) ** 0.5
        for coordinate, right in zip(center.tolist(), exact, strict=True):
            assert abs(float(Fraction(coordinate) - right)) <= 2**-40 * radius + np.spacing(abs(float(right)))


def edges_of_dual(mesh: dmr.Mesh, dual: dmr.Voronoi) -> dict[tuple[int, int], int]:
    """The number of the dual edge that crosses each edge of the mesh."""
    crossed = {}
    for k, (s, t) in enumerate(dual.edges.tolist()):
        corners = mesh.triangles[s].tolist()
        if t >= 0:
            (pair,) = [tuple(sorted(set(corners) & set(mesh.triangles[t].tolist())))]
        else:  # of the triangle's outer edges, the one that the ray is perpendicular to
            outer = [(corners[j - 2], corners[j - 1]) for j in range(3) if mesh.neighbours[s, j] < 0]
            square = [abs(dual.rays[k] @ (mesh.vertices[b] - mesh.vertices[a])) for a, b in outer]
            pair = tuple(sorted(outer[int(np.argmin(square))]))
        assert len(pair) == 2 and pair not in crossed
        crossed[pair] = k
    return crossed


@pytest.fixture(params=range(4))
def random_mesh(request: pytest.FixtureRequest) -> dmr.Mesh:
    """The Delaunay triangulation of random points, by Qhull."""
    spatial = pytest.importorskip("scipy.spatial")
    return qhull_mesh(spatial.Delaunay(np.random.default_rng(request.param).random((400, 2))))


def test_the_dual_of_random_points_agrees_with_qhull(random_mesh: dmr.Mesh) -> None:
    from scipy import spatial

    mesh, points = random_mesh, random_mesh.vertices
    dual = dmr.voronoi(mesh)
    oracle = spatial.Voronoi(points)
    distance, nearest = spatial.cKDTree(oracle.vertices).query(dual.vertices)
    assert len(dual.vertices) == len(oracle.vertices) and len(set(nearest.tolist())) == len(nearest)
    assert (distance <= 1e-9 * (1 + np.abs(dual.vertices).max(axis=1))).all()
    crossed = edges_of_dual(mesh, dual)
    expected = {
        tuple(sorted(pair)): set(ends)
        for pair, ends in zip(oracle.ridge_points.tolist(), oracle.ridge_vertices, strict=True)
    }
    found = {pair: {int(nearest[t]) if t >= 0 else -1 for t in dual.edges[k].tolist()} for pair, k in crossed.items()}
    assert found == expected


def test_rays_run_between_their_two_points_to_infinity(random_mesh: dmr.Mesh) -> None:
    from scipy import spatial

    mesh, points = random_mesh, random_mesh.vertices
    dual = dmr.voronoi(mesh)
    tree = spatial.cKDTree(points)
    assert (dual.edges[: dual.finite, 0] < dual.edges[: dual.finite, 1]).all() and not dual.rays[: dual.finite].any()
    assert (dual.edges[dual.finite :, 1] == -1).all() and len(dual.edges) > dual.finite
    for (p, q), k in edges_of_dual(mesh, dual).items():
        if dual.edges[k, 1] < 0:
            assert np.hypot(*dual.rays[k]) == pytest.approx(np.hypot(*(points[p] - points[q])))
            for step in (1, 100):
                place = dual.vertices[dual.edges[k, 0]] + step * dual.rays[k] / np.hypot(*dual.rays[k])
                distance, who = tree.query(place, 3)
                assert set(who[:2].tolist()) == {p, q} and distance[0] == pytest.approx(distance[1], rel=1e-9)


def test_dual_vertices_of_a_conforming_mesh_have_no_nearer_vertex() -> None:
    """The definition of a Voronoi vertex, which a segment spoils that hides one vertex from another."""
    spatial = pytest.importorskip("scipy.spatial")
    plate = dmr.read(ROOT / "meshes" / "plate.ele")
    assert isinstance(plate, dmr.Mesh)
    fine = dmr.refine(plate, conforming=True, device="cpu").mesh

    def nearer(mesh: dmr.Mesh) -> int:
        centers = dmr.voronoi(mesh).vertices
        radius = np.hypot(*(centers - mesh.vertices[mesh.triangles[:, 0]]).T)
        distance, _ = spatial.cKDTree(mesh.vertices[np.unique(mesh.triangles)]).query(centers)
        return int((distance < radius * (1 - 1e-9)).sum())

    assert nearer(fine) == 0
    # A segment between two triangles; each apex lies in the other one's circumcircle.
    hidden = dmr.Mesh([[0, 0], [4, 0], [2, 1], [2, -0.5]], [[0, 1, 2], [1, 0, 3]], segments=[[0, 1]])
    assert nearer(hidden) == 2


def test_precision_does_not_depend_on_the_origin() -> None:
    spatial = pytest.importorskip("scipy.spatial")
    random = np.random.default_rng(4)
    points = random.integers(-(2**12), 2**12, (300, 2)) / 2**13
    points = np.unique(points, axis=0)
    mesh = qhull_mesh(spatial.Delaunay(points))
    near = dmr.voronoi(mesh)
    assert_close_to_exact(mesh, near.vertices)
    for offset in ([2.0**20, -(2.0**30)], [1e9, 3.0]):
        far = dmr.Mesh(points + offset, mesh.triangles)
        assert np.array_equal(far.vertices - offset, points), "the offset mesh is the same mesh"
        dual = dmr.voronoi(far)
        assert_close_to_exact(far, dual.vertices)
        assert np.array_equal(dual.edges, near.edges) and np.array_equal(dual.rays, near.rays)


COORDINATES = st.one_of(
    st.integers(-20, 20).map(float),
    st.floats(-1e3, 1e3),
    st.floats(-1e-160, 1e-160),
    st.floats(-1e160, 1e160),
)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.tuples(COORDINATES, COORDINATES), min_size=3, max_size=3))
def test_dual_vertices_are_equidistant_from_the_corners(corners: list[tuple[float, float]]) -> None:
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in corners)
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    assume(turn != 0)
    triangle = [0, 1, 2] if turn > 0 else [0, 2, 1]
    mesh = dmr.Mesh(corners, [triangle])
    exact = exact_circumcenter(mesh.vertices[mesh.triangles[0]])
    assume(max(map(abs, exact)) < Fraction(10) ** 300)
    center = dmr.voronoi(mesh).vertices[0]
    tolerance = [Fraction(np.spacing(abs(float(x)))) for x in exact]
    square = [(Fraction(center[0]) - Fraction(x)) ** 2 + (Fraction(center[1]) - Fraction(y)) ** 2 for x, y in corners]
    largest = max(square)
    # |d(a) - d(b)| <= 2 error, and d(a)^2 - d(b)^2 = (d(a) - d(b)) (d(a) + d(b)); error <= 2^-39 d + both roundings.
    rounding = tolerance[0] + tolerance[1]
    difference = largest - min(square)
    scale = 4 * largest / 2**39
    assert difference <= scale or (difference - scale) ** 2 <= (4 * rounding) ** 2 * largest * 2


def test_slivers_are_computed_exactly() -> None:
    vertices = [[0, 0], [1, 0], [0.5, 1e-300], [3, 1], [1.5, 0.5 + 2**-53], [0.3, 1e-12]]
    for triangle in ([0, 1, 2], [0, 3, 4]):
        mesh = dmr.Mesh(vertices, [triangle])
        exact = exact_circumcenter(mesh.vertices[triangle])
        assert dmr.voronoi(mesh).vertices.tolist() == [[float(exact[0]), float(exact[1])]]
    mesh = dmr.Mesh(vertices, [[0, 1, 5]])  # no digits cancel here
    assert_close_to_exact(mesh, dmr.voronoi(mesh).vertices)


def test_meshes_without_a_dual_are_refused() -> None:
    square = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 2]]
    with pytest.raises(InvalidMeshError, match="triangle 1: is flat"):
        dmr.voronoi(dmr.Mesh(square, [[0, 1, 2], [0, 2, 4]]))
    with pytest.raises(InvalidMeshError, match="triangle 0: runs clockwise"):
        dmr.voronoi(dmr.Mesh(square, [[0, 2, 1]]))
    with pytest.raises(InvalidMeshError, match=r"^triangle 0: "):
        dmr.voronoi(dmr.Mesh([[0, 0], [1, 0], [0.5, 1e-310]], [[0, 1, 2]]))
    with pytest.raises(InvalidMeshError, match=r"^triangle 1: "):
        dmr.voronoi(dmr.Mesh(square, [[0, 1, 2], [0, 1, 3]]))
    empty = dmr.voronoi(dmr.Mesh(np.empty((0, 2)), np.empty((0, 3), np.int32)))
    assert (empty.vertices.shape, empty.edges.shape, empty.rays.shape) == ((0, 2), (0, 2), (0, 2))


# ---- Files ----------------------------------------------------------------------------------------------------------

TWO = dmr.Mesh([[0, 0], [4, 0], [3, 3], [0, 4]], [[0, 1, 2], [0, 2, 3]])


def test_dual_files_follow_triangles_format(tmp_path: Path) -> None:
    written = dmr.write(tmp_path / "a.1.ele", TWO, base=1, voronoi=True)
    assert [path.name for path in written] == ["a.1.node", "a.1.v.node", "a.1.v.edge", "a.1.ele"]
    assert (tmp_path / "a.1.v.node").read_text() == "2 2 0 0\n1 2 1\n2 1 2\n"
    # Outward of (4, 0)-(3, 3), (0, 0)-(4, 0), (3, 3)-(0, 4), (0, 4)-(0, 0); by triangles, then by corners.
    assert (tmp_path / "a.1.v.edge").read_text() == (
        "5 0\n1 1 2\n2 1 -1 3 1\n3 1 -1 0 -4\n4 2 -1 1 3\n5 2 -1 -4 0\n"
    )  # fmt: skip


def test_the_files_hold_the_dual_to_the_bit(tmp_path: Path) -> None:
    mesh = dmr.read(ROOT / "meshes" / "sample.ele")
    assert isinstance(mesh, dmr.Mesh)
    dual = dmr.voronoi(mesh)
    dmr.write(tmp_path / "a.node", mesh, voronoi=True)
    rows = [line.split() for line in (tmp_path / "a.v.node").read_text().splitlines()]
    assert rows[0] == [str(len(mesh.triangles)), "2", "0", "0"]
    assert np.array([row[1:] for row in rows[1:]], float).tobytes() == dual.vertices.tobytes()
    rows = [line.split() for line in (tmp_path / "a.v.edge").read_text().splitlines()]
    assert rows[0] == [str(len(dual.edges)), "0"] and [int(row[0]) for row in rows[1:]] == list(range(len(dual.edges)))
    assert np.array([row[1:3] for row in rows[1:]], int).tolist() == dual.edges.tolist()
    assert [len(row) for row in rows[1:]] == [3] * dual.finite + [5] * (len(dual.edges) - dual.finite)
    rays = np.array([row[3:] for row in rows[1 + dual.finite :]], float)
    assert rays.tobytes() == dual.rays[dual.finite :].tobytes()


def test_an_old_dual_is_removed_with_a_new_mesh(tmp_path: Path) -> None:
    dmr.write(tmp_path / "a.ele", TWO, voronoi=True)
    dmr.write(tmp_path / "a.ele", TWO)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ele", "a.node"]
    (tmp_path / "a.v.node").write_text("somebody's points\n")
    dmr.write(tmp_path / "a.ele", TWO)
    assert (tmp_path / "a.v.node").read_text() == "somebody's points\n", "one of the two files is no dual"


def test_a_mesh_named_like_a_dual_is_kept(tmp_path: Path) -> None:
    dmr.write(tmp_path / "a.v.ele", TWO, edges=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) == {"a.v.node", "a.v.ele", "a.v.edge"}
    dmr.write(tmp_path / "a.ele", TWO)
    with pytest.raises(FileError, match="Voronoi dual"):
        dmr.write(tmp_path / "a.ele", TWO, voronoi=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()}.items() >= before.items()


def test_other_formats_refuse_a_dual(tmp_path: Path) -> None:
    for name in ("a.vtu", "a.npz", "a.poly", "a.edge"):
        with pytest.raises(OptionError, match="Voronoi dual"):
            dmr.write(tmp_path / name, TWO, voronoi=True)
    assert list(tmp_path.iterdir()) == []
