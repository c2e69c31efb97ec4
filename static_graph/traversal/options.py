"""Options of the schemes, shared by `bfs`, `sssp` and the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from dmr.common.arguments import real_option, shortened, switch, whole_option
from static_graph.errors import OptionError

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
            number = whole_option(name, value, 'a whole number, or "auto"' if name == "mda" else "a whole number")
            if abs(number) > LARGEST:
                raise OptionError(f"{name} = {shortened(number)}: it must be 2^62 at most")
            object.__setattr__(self, name, number)
        if self.atomic is not None:
            object.__setattr__(self, "atomic", switch("atomic", self.atomic))
        if self.delta is not None:
            delta = real_option("delta", self.delta)
            if not 0 < delta < float("inf"):
                raise OptionError(f"delta = {delta}: it must be above 0, and finite")
            object.__setattr__(self, "delta", delta)

    def given(self) -> dict[str, Any]:
        """Returns the options that were given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}
