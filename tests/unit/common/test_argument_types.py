"""Arguments of the wrong type raise one error with the remedy, never an AttributeError."""

from __future__ import annotations

from pathlib import Path

import meshio
import numpy as np
import pytest

import dmr
from dmr.errors import DmrError, KindError, OptionError

MESH = dmr.Mesh([[0, 0], [1, 0], [1, 1]], [[0, 1, 2]])
PSLG = dmr.Pslg([[0, 0], [1, 0], [1, 1]], [[0, 1], [1, 2], [2, 0]])

TAKE_A_MESH = {
    "validate": dmr.validate,
    "measure": dmr.measure,
    "voronoi": dmr.voronoi,
    "second_order": dmr.second_order,
    "SizeField": lambda mesh: dmr.SizeField(mesh, [1.0]),
    "to_meshio": lambda mesh: dmr.io.to_meshio(mesh),
}
TAKE_BOTH = {
    "refine": dmr.refine,
    "view": dmr.view,
    "compare": lambda mesh: dmr.view(MESH, compare=mesh),
    "write .ele": lambda mesh: dmr.write("out.ele", mesh),
    "write .vtu": lambda mesh: dmr.write("out.vtu", mesh),
    "write .npz": lambda mesh: dmr.write("out.npz", mesh),
    "input": lambda mesh: dmr.validate(MESH, input=mesh),
}


@pytest.fixture(scope="module")
def refinement() -> dmr.Refinement:
    return dmr.refine(MESH, device="cpu", threads=1)


def said(function, item) -> str:
    with pytest.raises(KindError) as caught:
        function(item)
    assert isinstance(caught.value, DmrError) and isinstance(caught.value, TypeError)
    assert isinstance(caught.value, OptionError) and caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize("entry", [*TAKE_A_MESH, *TAKE_BOTH])
def test_wrong_types_instead_of_a_mesh_are_refused_with_the_remedy(entry, refinement, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = {**TAKE_A_MESH, **TAKE_BOTH}[entry]
    assert said(call, refinement).endswith("not a Refinement: pass its .mesh")
    for name in ("x.ele", Path("x.ele")):
        assert said(call, name).endswith("not the name of a file ('x.ele'): dmr.read it first")
    if entry not in ("refine", "input"):  # these take points
        assert "not an array: make one by dmr.Mesh(vertices, triangles)" in said(call, np.zeros((3, 2)))
    assert "not a Mesh from meshio: convert it with dmr.io.from_meshio" in said(call, meshio.Mesh(np.zeros((1, 3)), []))
    assert said(call, 7).endswith("not an int")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("entry", TAKE_A_MESH)
def test_an_outline_instead_of_a_mesh_is_refused(entry):
    assert "must be a Mesh, not a Pslg, which has no triangles" in said(TAKE_A_MESH[entry], PSLG)


def test_outlines_are_accepted_in_place_of_meshes():
    assert dmr.refine(PSLG, device="cpu", threads=1).complete
    assert dmr.validate(MESH, input=PSLG).ok


def test_objects_that_are_no_path_are_refused():
    assert said(dmr.read, MESH) == "path must be the name of a file, not a Mesh"
    assert said(lambda mesh: dmr.write(mesh, "out.ele"), MESH) == "path must be the name of a file, not a Mesh"
    assert said(dmr.read, None) == "path must be the name of a file, not None"


@pytest.mark.parametrize("domain", [MESH, "domain.poly", None, 7, object()])
def test_only_a_domain_is_triangulated(domain):
    with pytest.raises(KindError, match=r"domain must be a Pslg, points, .* or a geometry .*, not "):
        dmr.triangulate(domain)
