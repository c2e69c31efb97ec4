"""What a refinement is asked to do: one frozen object, checked in one place."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from dmr.errors import OptionError

MARKINGS = ("deterministic", "two-stage", "atomic", "three-phase", "three-phase-barrier")
# The balances that need a GPU, and the host: a graph that launches itself may hold no kernel that launches kernels.
CHILD_LAUNCHES = ("child-launch", "child-launch-per-cavity")
BALANCES = ("work-stealing", "none", *CHILD_LAUNCHES)
LOOPS = ("auto", "host", "device")
STEINER_RULES = ("petal", "off-center", "circumcenter")
KEPT_SEGMENTS = ("none", "boundary", "all")
CONFLICT_POLICIES = ("resolve", "error")
MESHERS = ("dmr", "triangle")

# Above these bounds runs are seen that do not end: with lenses, and with circles (conforming).
PROMISED_ANGLE = 33.0
PROMISED_CONFORMING_ANGLE = 30.0


@dataclass(frozen=True, kw_only=True)
class RefineOptions:
    """The options of `dmr.refine`, by the same names.

    Attributes:
        min_angle: degrees, 0 <= min_angle < 60; 0 switches the angle criterion off.
        max_area: largest triangle area, in squared units of the coordinates; None for no bound.
        steiner: where points go: "petal" (the off-center, or another place beside it that leaves fewer skinny
            triangles), "off-center" (Ungor) or "circumcenter" (Ruppert, Chew).
        conforming: every triangle stays Delaunay, not only constrained Delaunay: segments whose diametral circle
            holds a vertex are split (Ruppert), in place of those whose diametral lens does (Chew).
        keep_segments: which segments are never split: "none", those on the "boundary", or "all". Triangles that would
            need a split stay as they are, and are listed with the reason "kept_segment".
        max_steiner: how many points may be inserted; None takes a bound far above what a sound run needs.
        marking: how cavities settle their conflicts, one of `MARKINGS`. "deterministic" and "atomic" give the same bits
            everywhere; the others race by design: their meshes are as valid, and may differ from run to run.
        balance: how new triangles are shared out for their quality check, one of `BALANCES`; the two "child-launch"
            ones need a GPU.
        loop: who drives the rounds: the "host", or the "device" (GPU or CPU) by itself, with the default marking and no
            child launches, size function, progress callback or profile; "auto" takes the device where it can. The mesh
            is the same.
        strict: refuse a mesh that is not Delaunay instead of flipping it.

    Raises:
        OptionError: a value that cannot be used; the message names it.
    """

    min_angle: float = 30.0
    max_area: float | None = None
    steiner: str = "petal"
    conforming: bool = False
    keep_segments: str = "none"
    max_steiner: int | None = None
    marking: str = "deterministic"
    balance: str = "work-stealing"
    loop: str = "auto"
    strict: bool = False

    def __post_init__(self) -> None:
        # Plain numbers from here on, whatever kind of number was given.
        object.__setattr__(self, "min_angle", _real("min_angle", self.min_angle))
        if self.max_area is not None:
            object.__setattr__(self, "max_area", _real("max_area", self.max_area))
        if self.max_steiner is not None:
            object.__setattr__(self, "max_steiner", _whole("max_steiner", self.max_steiner))
        if not (math.isfinite(self.min_angle) and 0 <= self.min_angle < 60):
            raise OptionError(f"min_angle must be at least 0 and below 60 degrees, not {self.min_angle:g}")
        if self.max_area is not None and not (math.isfinite(self.max_area) and self.max_area > 0):
            raise OptionError(f"max_area must be positive, not {self.max_area:g}")
        if self.max_steiner is not None and self.max_steiner < 0:
            raise OptionError(f"max_steiner must not be negative, not {self.max_steiner}")
        for name, value, known in (
            ("steiner", self.steiner, STEINER_RULES),
            ("keep_segments", self.keep_segments, KEPT_SEGMENTS),
            ("marking", self.marking, MARKINGS),
            ("balance", self.balance, BALANCES),
            ("loop", self.loop, LOOPS),
        ):
            if value not in known:
                raise OptionError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        self.check_loop()

    def needs_host(self, *, size: bool = False, progress: bool = False, profile: bool = False) -> str | None:
        """What a refinement needs the host for between rounds, or None: then the device can drive them by itself.

        Args:
            size, progress, profile: whether there is a size function, a progress callback, a profile.
        """
        if self.marking != MARKINGS[0]:
            return f"marking {self.marking!r}"
        if self.balance in CHILD_LAUNCHES:
            return f"balance {self.balance!r}"
        asked = {"a size function": size, "a progress callback": progress, "a profile": profile}
        return next((name for name, wanted in asked.items() if wanted), None)

    def check_loop(self, **asked: bool) -> None:
        """Refuses what needs the host between rounds, where the device is to drive them.

        Args:
            asked: as for `needs_host`.

        Raises:
            OptionError: says what.
        """
        reason = self.needs_host(**asked)
        if self.loop == "device" and reason is not None:
            raise OptionError(f"loop 'device' does not go with {reason}: take loop 'host' or 'auto'")

    def check_device(self, device: str, *, launches_children: bool) -> None:
        """Refuses what a device cannot do.

        Raises:
            OptionError: kernels are to launch kernels, and cannot there.
        """
        if self.balance in CHILD_LAUNCHES and not launches_children:
            raise OptionError(
                f"balance {self.balance!r} is not available on {device}: only a GPU's kernels can launch kernels; "
                "take 'work-stealing' (the default) or 'none', or a GPU"
            )


def _real(name: str, value: Any) -> float:
    if isinstance(value, str):
        raise OptionError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{name} must be a number, not {value!r}") from None


def _whole(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise OptionError(f"{name} must be a whole number, not {value!r}") from None
