"""Frozen arrays stay read-only, also after copying and pickling."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from dmr.common.frozen import HoldsFrozen, freeze_fields, frozen, is_frozen

KINDS = ["f8", "f4", "i8", "i4", "i2", "u8", "u4", "u1", "?", [("vertex", "i4", 3)], [("a", "i4"), ("b", "f8")]]
SHAPES = [(), (0,), (0, 2), (2, 0), (1,), (7,), (4, 3)]


def cannot_be_written(array: np.ndarray) -> None:
    assert is_frozen(array)
    below = array
    while isinstance(below, np.ndarray):
        for view in (below, below.view(), below[...], below.T):
            assert not view.flags.writeable
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
                view.flags.writeable = True
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True"):
                view.setflags(write=True)
        below = below.base


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_frozen_arrays_cannot_be_made_writable(kind, shape):
    given = np.zeros(shape, kind)
    made = frozen(given)
    cannot_be_written(made)
    assert (made.dtype, made.shape, made.flags.aligned) == (given.dtype, given.shape, True)
    assert given.flags.writeable and frozen(made) is made
    if given.size:
        assert made.ctypes.data == given.ctypes.data
        given.view(np.uint8 if given.ndim else given.dtype)[...] = np.ones(1, np.uint8).view(bool)[0]
        assert made.tobytes() == given.tobytes()


def test_freezing_keeps_strides():
    base = np.arange(48.0).reshape(6, 8)
    for given in (base[::2, ::-1], np.asfortranarray(base), base.T, base[1:, 3], np.broadcast_to(base[0], (3, 8))):
        made = frozen(given)
        assert made.strides == given.strides and made.ctypes.data == given.ctypes.data
        assert np.array_equal(made, given)
        cannot_be_written(made)


def test_a_view_of_a_read_only_view_is_not_frozen():
    view = np.arange(3).view()
    view.flags.writeable = False
    assert not is_frozen(view)
    cannot_be_written(frozen(view))


@dataclass(frozen=True, eq=False)
class Holder(HoldsFrozen):
    values: np.ndarray
    by_name: dict[str, np.ndarray]
    name: str = "x"

    def __post_init__(self) -> None:
        freeze_fields(self)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_of_frozen_objects_are_frozen(copied):
    values = np.arange(12.0).reshape(3, 4).T
    one = Holder(values, {"a": np.arange(3)})
    again = copied(one)
    assert type(again) is Holder and again.name == "x"
    for array, original in ((again.values, one.values), (again.by_name["a"], one.by_name["a"])):
        cannot_be_written(array)
        assert array.dtype == original.dtype and np.array_equal(array, original)
    values[0, 0] = 99.0  # the caller's own array
    assert one.values[0, 0] == 99.0
    assert again.values[0, 0] == (99.0 if copied is copy.copy else 0.0)


def test_below_a_frozen_array_was_a_memoryview_whose_obj_could_be_written():
    item = frozen(np.zeros(3))
    below = item.base
    while isinstance(below, np.ndarray):
        below = below.base
    assert not hasattr(below, "obj")
    with pytest.raises(TypeError):
        memoryview(below)
