"""Generators of invalid arguments, and a check of how public calls may end, for the tests of both packages."""

from __future__ import annotations

import decimal
import fractions
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dmr.errors import DmrError, InternalError


class CallbackError(Exception):
    """Raised by a user's callback; calls must pass it through."""


class Text(str):
    """A subclass of str."""


def _raise(*_: object) -> None:
    raise CallbackError


def _masked() -> Any:
    return np.ma.array([[0.0, 1.0], [2.0, 3.0]], mask=[[True, False], [False, False]])


# Factories rather than values, because some calls may change their arguments.
JUNK: list[Callable[[], Any]] = [
    *(
        lambda value=value: value
        for value in (
            None,
            True,
            False,
            0,
            1,
            -1,
            2,
            3,
            2**31,
            -(2**31) - 1,
            2**63,
            10**12,
            10**400,
            -(10**400),
            10**5000,
            0.0,
            -0.0,
            0.5,
            -1.5,
            1e300,
            -1e300,
            5e-324,
            float("nan"),
            float("inf"),
            float("-inf"),
            1j,
            "",
            "x",
            "\0",
            "\033[31m",
            "cpu",
            "nan",
            "1",
            Text("dmr"),
            "a" * 5000,
            "\ud800",
            b"",
            b"x\xff",
            (),
            (1,),
            (0, 0),
            object(),
            Ellipsis,
            NotImplemented,
            range(3),
            decimal.Decimal("1e999"),
            decimal.Decimal("NaN"),
            fractions.Fraction(10**400, 3),
            fractions.Fraction(1, 3),
            np.float32(1),
            np.int64(3),
            np.uint64(2**64 - 1),
            np.bool_(True),
            np.datetime64("2026-01-01"),
            Path("x"),
            lambda *_: None,
            _raise,
        )
    ),
    list,
    dict,
    set,
    lambda: [None],
    lambda: [[]],
    lambda: [[1, 2], [3]],
    lambda: [10**400],
    lambda: [[10**400, 0]],
    lambda: {"type": "Polygon", "coordinates": [[[0, 0], [10**400, 0], [0, 1]]]},
    lambda: {1: 2},
    lambda: {None: None},
    lambda: np.array(1),
    lambda: np.array(1.5),
    lambda: np.array([]),
    lambda: np.empty((0, 2)),
    lambda: np.empty((3, 0)),
    lambda: np.zeros((2, 2)),
    lambda: np.zeros((1, 2, 3)),
    lambda: np.ones(3),
    lambda: np.arange(5),
    lambda: np.arange(4.0),
    lambda: np.array([np.nan, 1.0]),
    lambda: np.full((3, 2), np.inf),
    lambda: np.array([[0, 0], [1e308, -1e308], [0, 1]]),
    lambda: np.array([None, object()]),
    lambda: np.array(["a", "b"]),
    lambda: np.array([b"a"]),
    lambda: np.array([1 + 2j]),
    lambda: np.array(["2026-01-01"], "M8[D]"),
    lambda: np.zeros(2, [("x", "f8"), ("y", "i4")]),
    lambda: np.array([True, False]),
    lambda: np.array([2**64 - 1], np.uint64),
    lambda: np.array([[-1, 10**9]], np.int64),
    lambda: np.array([[0, 1, 2**62]]),
    lambda: np.matrix([[0, 1], [2, 3]]),
    _masked,
    lambda: np.ma.masked,
    lambda: np.zeros((6, 4))[::2, ::-2],
    lambda: np.asfortranarray(np.arange(12).reshape(4, 3)),
    lambda: np.broadcast_to(np.float64(1), (4, 2)),
    lambda: np.arange(6, dtype=">i4").reshape(2, 3),
    lambda: np.frombuffer(b"\0" * 25, np.uint8)[1:].view("f8"),
    lambda: np.array([1e4000], np.longdouble),
    lambda: np.zeros((3, 2), np.float16),
    lambda: iter([1, 2]),
    lambda: (k for k in range(3)),
    lambda: memoryview(b"abcd"),
    lambda: bytearray(8),
]


def spoiled(value: Any) -> st.SearchStrategy[Any]:
    """Strategy for arrays like `value` that are invalid, or valid but unusual."""
    array = np.array(value)
    numbers = [0, -1, 1, 7, 2**31 - 1, -(2**31), 10**9, np.nan, np.inf, -np.inf, 1e308, 1e-320, 0.5]

    def put(array: Any, place: int, number: Any) -> Any:
        made = array.astype(float) if isinstance(number, float) else array.copy()
        with np.errstate(all="ignore"):
            made.reshape(-1)[place % made.size] = number
        return made

    changes: list[st.SearchStrategy[Any]] = [
        st.sampled_from(["f4", "f8", "i2", "i4", "i8", "u8", "?", "c16", "O", "U9", ">i4", ">f8"]).map(
            lambda kind: array.astype(kind)
        ),
        st.sampled_from(
            [
                lambda: array[:0],
                lambda: array[:-1],
                lambda: array.T,
                lambda: array[::-1],
                lambda: np.repeat(array, 2, axis=0)[::2],
                lambda: np.asfortranarray(array),
                lambda: array.ravel(),
                lambda: array[None],
                lambda: array[..., None],
                lambda: np.matrix(array) if array.ndim < 3 else array,
                lambda: np.ma.array(array),
                lambda: np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 0),
                lambda: np.concatenate([array, array]),
                lambda: array.tolist(),
                lambda: _read_only(array),
            ]
        ).map(lambda make: make()),
    ]
    if array.size and array.dtype.kind in "iuf":
        changes.append(st.tuples(st.integers(0, 99), st.sampled_from(numbers)).map(lambda change: put(array, *change)))
    return st.one_of(changes)


def _read_only(array: Any) -> Any:
    made = array.copy()
    made.flags.writeable = False
    return made


def arguments(fitting: dict[str, Any], fixed: tuple[str, ...] = ()) -> st.SearchStrategy[dict[str, Any]]:
    """Strategy for named arguments of a call: fitting ones, with one to three of them spoiled or replaced by junk."""

    def replaced(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
        junk = st.sampled_from(JUNK).map(lambda make: make())
        made = {
            name: st.one_of(junk, spoiled(fitting[name])) if isinstance(fitting[name], np.ndarray) else junk
            for name in names
        }
        return st.fixed_dictionaries(made).map(lambda changed: {**fitting, **changed})

    free = [name for name in fitting if name not in fixed]
    return st.lists(st.sampled_from(free), min_size=1, max_size=3, unique=True).flatmap(replaced)


def check_call(call: Callable[..., Any], **arguments: Any) -> None:
    """Calls a function; fails unless it returns or raises as a public function may."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Warning: converting a masked element to nan")  # numpy's, for lists
        try:
            call(**arguments)
        except InternalError:
            raise
        except (DmrError, CallbackError, MemoryError, ImportError) as error:
            text = str(error)
            assert text or isinstance(error, CallbackError | MemoryError), f"{type(error).__name__} without a sentence"
