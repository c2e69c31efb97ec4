"""Options of the schemes, shared by `bfs`, `sssp` and the command line, and checks of option values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dmr.memory import TooLargeError, shortened
from dmr.memory import real as real_number
from dmr.memory import whole as whole_number
from static_graph.errors import OptionError, WrongTypeError

LARGEST = 2**62  # largest integer option: above any degree, and within the range of kernel arguments


@dataclass(frozen=True, kw_only=True)
class SchemeOptions:
    """Options of a scheme; None if not given. Each scheme has some of them, with a default for each.

    Attributes:
        mda: for "split": the maximum degree allowed, or "auto".
        threshold: for "child-launch": nodes with more edges launch a child.
        warp_size, chunk, defer: for "warp": lanes per virtual warp; nodes that a warp takes from the work queue at a
            time; nodes with more edges than `defer` are left to whole blocks.
        atomic: for "none", "split", "child-launch": whether edges are relaxed by an atomic minimum.
        delta: for "auto" with weights: the increment of the near bound.

    Raises:
        OptionError: a value of the wrong type. The schemes check the ranges of integers.
    """

    mda: int | Literal["auto"] | None = None
    threshold: int | None = None
    warp_size: int | None = None
    chunk: int | None = None
    defer: int | None = None
    atomic: bool | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        for name in ("mda", "threshold", "warp_size", "chunk", "defer"):
            value = getattr(self, name)
            if value is None or (name == "mda" and isinstance(value, str) and value == "auto"):
                continue
            number = whole(name, value, 'a whole number, or "auto"' if name == "mda" else "a whole number")
            if abs(number) > LARGEST:
                raise OptionError(f"{name} = {shortened(number)}: it must be 2^62 at most")
            object.__setattr__(self, name, number)
        if self.atomic is not None:
            object.__setattr__(self, "atomic", flag("atomic", self.atomic))
        if self.delta is not None:
            delta = real("delta", self.delta)
            if not 0 < delta < float("inf"):
                raise OptionError(f"delta = {delta}: it must be above 0, and finite")
            object.__setattr__(self, "delta", delta)

    def given(self) -> dict[str, Any]:
        """Returns the options that were given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


def whole(name: str, value: Any, kind: str = "a whole number") -> int:
    """Checks and returns an integer; messages call the required type `kind`.

    Raises:
        WrongTypeError: the value is not an integer.
    """
    try:
        return whole_number(value)
    except ValueError:
        raise WrongTypeError(f"{name} = {shortened(value)}: it must be {kind}") from None


def real(name: str, value: Any) -> float:
    """Checks and returns a real number.

    Raises:
        WrongTypeError: the value is not a number, but, e.g., a string or an array. OptionError: it exceeds float64.
    """
    try:
        if getattr(value, "shape", ()) != ():
            raise ValueError
        return real_number(value)
    except TooLargeError:
        raise OptionError(f"{name} = {shortened(value)}: it is too large for a float") from None
    except ValueError:
        raise WrongTypeError(f"{name} = {shortened(value)}: it must be a number") from None


def flag(name: str, value: Any) -> bool:
    """Checks and returns a Boolean value.

    Raises:
        WrongTypeError: the value is not Boolean.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise WrongTypeError(f"{name} = {shortened(value)}: it must be True or False")


def choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Checks and returns one of several strings.

    Raises:
        OptionError: the value is not among the choices. WrongTypeError: it is not a string.
    """
    if not isinstance(value, str):
        raise WrongTypeError(f"{name} = {shortened(value)}: it must be one of {', '.join(choices)}")
    if value not in choices:
        raise OptionError(f"{name} = {shortened(value)}: it is one of {', '.join(choices)}")
    return str(value)
