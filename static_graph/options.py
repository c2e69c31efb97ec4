"""The options of the schemes, as `bfs`, `sssp` and the command line take them: data, checked in one place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dmr.memory import TooLargeError, shortened
from dmr.memory import real as real_number
from dmr.memory import whole as whole_number
from static_graph.errors import OptionError, WrongTypeError

LARGEST = 2**62  # of whole numbers: beyond any degree, and what kernels can take


@dataclass(frozen=True, kw_only=True)
class SchemeOptions:
    """What was asked of a scheme; None where nothing was. Each scheme has some of them, and a default for each.

    Attributes:
        mda: of "split": the maximum degree allowed, or "auto".
        threshold: of "child-launch": nodes of more edges launch a child.
        warp_size, chunk, defer: of "warp": lanes of a virtual warp; nodes that one takes from the work queue at a time;
            nodes of more edges are left to whole blocks.
        atomic: of "none", "split", "child-launch": whether edges are relaxed by an atomic minimum.
        delta: of "auto", by weights: by how much the bound of what is near is raised.

    Raises:
        OptionError: a value of another kind. Which whole numbers a scheme takes is its own matter.
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
        """Those that were asked for, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


def whole(name: str, value: Any, kind: str = "a whole number") -> int:
    """Returns a whole number; `kind` is what it is called in the sentence about anything else.

    Raises:
        WrongTypeError: it is something else.
    """
    try:
        return whole_number(value)
    except ValueError:
        raise WrongTypeError(f"{name} = {shortened(value)}: it must be {kind}") from None


def real(name: str, value: Any) -> float:
    """Returns a number.

    Raises:
        WrongTypeError: it is something else, such as a string or an array. OptionError: it is beyond float64.
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
    """Returns True or False.

    Raises:
        WrongTypeError: it is something else.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise WrongTypeError(f"{name} = {shortened(value)}: it must be True or False")


def choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Returns one of some words.

    Raises:
        OptionError: it is none of them; a WrongTypeError where it is no string.
    """
    if not isinstance(value, str):
        raise WrongTypeError(f"{name} = {shortened(value)}: it must be one of {', '.join(choices)}")
    if value not in choices:
        raise OptionError(f"{name} = {shortened(value)}: it is one of {', '.join(choices)}")
    return str(value)
