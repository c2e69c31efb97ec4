"""The options of the schemes, as `bfs`, `sssp` and the command line take them: data, checked in one place."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal

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
            if value is None or (name == "mda" and value == "auto"):
                continue
            number = whole(name, value, 'a whole number, or "auto"' if name == "mda" else "a whole number")
            if abs(number) > LARGEST:
                raise OptionError(f"{name} = {number}: it must be 2^62 at most")
            object.__setattr__(self, name, number)
        if self.atomic not in (None, False, True):
            raise OptionError(f"atomic = {self.atomic!r}: it is True or False")
        if self.delta is not None and not 0 < real("delta", self.delta) < float("inf"):
            raise OptionError(f"delta = {self.delta}: it must be above 0, and finite")

    def given(self) -> dict[str, Any]:
        """Those that were asked for, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


def whole(name: str, value: Any, kind: str = "a whole number") -> int:
    """A whole number; `kind` is what it is called where it is something else.

    Raises:
        WrongTypeError: it is something else.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise WrongTypeError(f"{name} = {value!r}: it must be {kind}") from None


def real(name: str, value: Any) -> float:
    """A number.

    Raises:
        WrongTypeError: it is something else.
    """
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(f"{name} = {value!r}: it must be a number") from None
