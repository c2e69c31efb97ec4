"""Parents of the triangles of a refinement."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr.errors import OptionError
from dmr.mesh.location.parents import find_parents


def exact_parents(fine, coarse):
    """The lowest triangle that contains each centroid, from exact rational arithmetic."""
    corners = [[[Fraction(x) for x in coarse.vertices[v].tolist()] for v in t] for t in coarse.triangles.tolist()]
    a, b, c = (fine.vertices[fine.triangles[:, k]] for k in range(3))
    found = []
    for x, y in (((a + b) + c) / 3).tolist():
        px, py = Fraction(x), Fraction(y)
        sides = (
            [(u[0] - px) * (v[1] - py) - (u[1] - py) * (v[0] - px) for u, v in zip(t, [*t[1:], t[0]], strict=True)]
            for t in corners
        )
        found.append(next(t for t, areas in enumerate(sides) if min(areas) >= 0))
    return found


@pytest.mark.slow
def test_parents_contain_the_centroids():
    coarse = dmr.generate("plate", 60, seed=1)
    fine = dmr.refine(coarse, device="cpu", max_area=0.02)
    assert fine.input_mesh is coarse and fine.parents.dtype == np.int32 and not fine.parents.flags.writeable
    assert fine.parents.tolist() == exact_parents(fine.mesh, coarse)
    assert fine.parents is fine.parents


def test_an_unrefined_mesh_is_its_own_parent():
    fine = dmr.refine(dmr.generate("random", 100, seed=2), device="cpu")
    assert find_parents(fine.mesh, fine.mesh).tolist() == list(range(len(fine.mesh.triangles)))


def test_parents_of_an_outline_are_those_of_its_triangulation():
    outline = dmr.Pslg([[0, 0], [4, 0], [4, 3], [0, 3]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    fine = dmr.refine(outline, device="cpu", max_area=0.5)
    assert len(fine.input_mesh.triangles) == 2
    assert fine.parents.tolist() == exact_parents(fine.mesh, fine.input_mesh)


def test_a_centroid_that_rounding_puts_outside_has_the_nearest_triangle():
    coarse = dmr.Mesh([[0, 0], [1, 0], [0.5, 1], [0.5, -1]], [[0, 1, 2], [1, 0, 3]])
    beside = dmr.Mesh([[2, 0], [3, 0], [3, 0.25]], [[0, 1, 2]])
    assert find_parents(beside, coarse).tolist() == [0]


def test_parents_survive_pickling_and_need_the_input():
    fine = dmr.refine(dmr.generate("random", 60, seed=3), device="cpu")
    assert pickle.loads(pickle.dumps(fine)).parents.tolist() == fine.parents.tolist()
    with pytest.raises(OptionError, match="does not know its input"):
        _ = replace(fine, input_mesh=None).parents
