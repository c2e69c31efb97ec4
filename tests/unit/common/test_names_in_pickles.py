"""Pickles of earlier versions name classes and functions where they were then."""

from __future__ import annotations

import pickle
from importlib import import_module

import pytest

import dmr
from dmr import memory
from dmr.common.moved import NAMES_OF_MEMORY, SUCCESSORS


@pytest.mark.parametrize("module", SUCCESSORS)
def test_moved_modules_are_found_by_their_old_names(module):
    assert import_module(module) is import_module(SUCCESSORS[module])


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("dmr.errors", "_restored"),
        ("dmr.memory.frozen", "_restored"),
        ("dmr.meshes", "Mesh"),
        ("dmr.sizing", "_OnGrid"),
        ("dmr.sizing", "_OnTriangles"),
        ("dmr.sizing", "_OnVertices"),
        ("dmr.background.location", "Background"),
        ("dmr.background.grid", "TriangleGrid"),
        ("static_graph.graphs", "CsrGraph"),
        ("static_graph.results", "Traversal"),
        ("static_graph.trees", "Tree"),
    ],
)
def test_names_in_pickles_are_found(module, name):
    # As the unpickler does: a global name, in protocol 0.
    assert pickle.loads(f"c{module}\n{name}\n.".encode()) is getattr(import_module(module), name)


def test_the_error_of_a_wrong_type_is_one_class():
    import dmr.errors
    import static_graph.errors

    assert dmr.errors.KindError is dmr.errors.WrongTypeError is static_graph.errors.WrongTypeError
    with pytest.raises(dmr.errors.KindError):
        static_graph.read(5)
    with pytest.raises(static_graph.errors.WrongTypeError):
        dmr.read(5)


def test_an_error_of_an_earlier_version_is_restored():
    old = b"cdmr.errors\n_restored\n(cdmr.errors\nKindError\n(Vno mesh\nt(dtR."
    error = pickle.loads(old)
    assert type(error) is dmr.errors.WrongTypeError and str(error) == "no mesh" and error.exit_code == 2


def test_names_that_the_memory_layer_exported_are_still_there():
    for name in (*NAMES_OF_MEMORY, "Device", "open_device"):
        assert getattr(memory, name) is not None
