"""Edges, areas and boundary of a mesh, and its conversion for scikit-fem."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.errors import DmrError, InvalidMeshError
from tests.support.planar import orientation

HOLED = domains.polygon(
    [(0, 0), (4, 0), (4, 2), (0, 2)], [domains.circle_points(0.5, 16, (1, 1))], markers=[[10, 20, 0, 40], 50]
)
MESH = dmr.refine(HOLED, max_area=0.05, device="cpu", threads=1).mesh
SQUARE = dmr.Mesh([[9, 9], [0, 0], [1, 0], [1, 1], [0, 1]], [[1, 2, 3], [1, 3, 4]], [[1, 3], [2, 3]], [7, 8])


def test_edges_are_all_sides_once():
    sides = {tuple(sorted((t[k], t[k - 1]))) for t in MESH.triangles.tolist() for k in range(3)}
    assert MESH.edges.tolist() == [list(side) for side in sorted(sides)]


def test_areas_are_exact_to_rounding():
    exact = [float(orientation(*corners) / 2) for corners in MESH.vertices[MESH.triangles]]
    assert MESH.areas == pytest.approx(exact, rel=1e-12)
    assert dmr.Mesh([[0, 0], [0, 1], [1, 0]], [[0, 1, 2]]).areas.tolist() == [-0.5]


def test_the_boundary_has_the_mesh_on_its_left():
    start, end = MESH.vertices[MESH.boundary[:, 0]], MESH.vertices[MESH.boundary[:, 1]]
    enclosed = (start[:, 0] * end[:, 1] - end[:, 0] * start[:, 1]).sum() / 2
    assert enclosed == pytest.approx(MESH.areas.sum())  # with the hole clockwise
    uses = dict.fromkeys(map(tuple, MESH.edges.tolist()), 0)
    for t in MESH.triangles.tolist():
        for k in range(3):
            uses[tuple(sorted((t[k], t[k - 1])))] += 1
    assert {tuple(sorted(edge)) for edge in MESH.boundary.tolist()} == {edge for edge, n in uses.items() if n == 1}


def test_they_are_computed_once_and_cannot_be_changed():
    for name in ("edges", "areas", "boundary"):
        assert getattr(MESH, name) is getattr(MESH, name)
        with pytest.raises(ValueError, match="read-only"):
            getattr(MESH, name)[0] = 0


def test_overlapping_triangles_have_no_boundary():
    with pytest.raises(InvalidMeshError, match="lies on the same side of edge"):
        _ = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 1, 3]]).boundary


# ---- scikit-fem ----------------------------------------------------------------------------------------------------


def test_markers_become_boundaries():
    pytest.importorskip("skfem")
    found = MESH.to_skfem()
    assert found.p.T.tolist() == MESH.vertices.tolist()
    assert np.sort(found.t.T).tolist() == np.sort(MESH.triangles).tolist()
    assert set(found.boundaries) == {f"boundary_{marker}" for marker in (1, 10, 20, 40, 50)}
    for name, facets in found.boundaries.items():
        marked = MESH.segments[MESH.segment_markers == int(name.removeprefix("boundary_"))]
        assert sorted(found.facets[:, facets].T.tolist()) == np.sort(np.unique(np.sort(marked), axis=0)).tolist()
    assert sorted(np.concatenate(list(found.boundaries.values()))) == sorted(found.boundary_facets())


def test_regions_become_subdomains_and_idle_vertices_are_left_out():
    pytest.importorskip("skfem")
    regions = dmr.Mesh(
        SQUARE.vertices, SQUARE.triangles, SQUARE.segments, SQUARE.segment_markers, None, None, [[2], [3]]
    )
    found = regions.to_skfem()
    assert found.p.T.tolist() == SQUARE.vertices[1:].tolist()
    assert {name: list(elements) for name, elements in found.subdomains.items()} == {"region_2": [0], "region_3": [1]}
    inner, outer = found.boundaries["boundary_7"], found.boundaries["boundary_8"]
    assert found.facets[:, inner].T.tolist() == [[0, 2]] and found.facets[:, outer].T.tolist() == [[1, 2]]


def test_meshes_without_triangles_are_not_converted():
    pytest.importorskip("skfem")
    with pytest.raises(dmr.DmrError, match="the mesh has no triangles, which scikit-fem does not take"):
        dmr.Mesh(SQUARE.vertices, np.empty((0, 3), np.int32)).to_skfem()


def test_segments_that_are_no_edges_are_reported(caplog):
    pytest.importorskip("skfem")
    loose = dmr.Mesh(SQUARE.vertices, SQUARE.triangles, [[2, 4], [0, 1], [1, 2]], [1, 2, 3]).to_skfem()
    assert set(loose.boundaries) == {"boundary_3"}
    assert "2 segments are not edges of triangles and were left out" in caplog.text


def test_a_harmonic_function_is_solved_exactly():
    """x + 2 y on the boundary gives x + 2 y inside: linear elements have no error."""
    skfem = pytest.importorskip("skfem")
    from skfem.models.poisson import laplace

    basis = skfem.Basis(MESH.to_skfem(), skfem.ElementTriP1())
    values = basis.doflocs[0] + 2 * basis.doflocs[1]
    fixed = basis.get_dofs([f"boundary_{marker}" for marker in (1, 10, 20, 40, 50)])
    solved = skfem.solve(
        *skfem.condense(
            laplace.assemble(basis), x=np.where(np.isin(range(len(values)), fixed.all()), values, 0), D=fixed
        )
    )
    assert solved == pytest.approx(values, abs=1e-12)


def test_without_scikit_fem_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfem", None)
    with pytest.raises(DmrError, match=r"the extra \[skfem\] of this package: pip install scikit-fem"):
        MESH.to_skfem()
