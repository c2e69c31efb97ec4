"""The options of a refinement: one frozen object, checked in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dmr.common.arguments import chosen, kind_of, real_option, shortened, switch, whole_option
from dmr.common.text import option
from dmr.errors import OptionError, WrongTypeError
from dmr.refinement import strategy_tables

MARKINGS = tuple(strategy_tables.MARKINGS)
BALANCES = tuple(strategy_tables.BALANCES)
CHILD_LAUNCHES = tuple(name for name, balance in strategy_tables.BALANCES.items() if balance.launches_children)
LOOPS = ("auto", "host", "device")
STEINER_RULES = ("petal", "off-center", "circumcenter")
KEPT_SEGMENTS = ("none", "boundary", "all")

USUAL_ROUNDS = 8  # of an optimisation

# Called after each round with its number, the bad triangles left and the number of triangles; False stops the run.
Progress = Callable[[int, int, int], bool | None]

# Above these bounds some runs do not terminate: with lenses, and with circles (conforming).
OBSERVED_LIMIT = 33.0
OBSERVED_CONFORMING_LIMIT = 30.0


def check_run(device: object, progress: object, *, profile: object) -> bool:
    """Checks the arguments of `refine` that control how it runs.

    Returns:
        Whether to profile.

    Raises:
        OptionError: `device` is not a string, `progress` cannot be called, or `profile` is neither true nor false.
    """
    if not isinstance(device, str):
        raise OptionError(f"{option('device')} must be auto, cpu, cuda or cuda:N, not {shortened(device)}")
    if progress is not None and not callable(progress):
        raise OptionError(f"{option('progress')} must be a function of three numbers, not {shortened(progress)}")
    return switch("profile", profile)


def optimization_rounds(value: bool | int, name: str = "optimize") -> int:
    """Returns the most rounds of an optimisation, 0 for none: `True` stands for 8, `False` for 0.

    Args:
        value: what the user gave.
        name: of the option, for messages.

    Raises:
        OptionError: a negative number; a WrongTypeError if it is not a whole number.
    """
    if type(value).__name__ in ("bool", "bool_"):  # of Python and of numpy
        return USUAL_ROUNDS if value else 0
    rounds = whole_option(name, value, "True, False or a number of rounds")
    if rounds < 0:
        raise OptionError(f"{option(name)} must be True, False or a number of rounds, not {rounds}")
    return rounds


@dataclass(frozen=True, kw_only=True)
class RefineOptions:
    """The options of `dmr.refine`, with the same names and defaults.

    `dmr.refine` describes each of them: its meaning, range and units.

    Raises:
        OptionError: a value cannot be used; the message names it.
    """

    min_angle: float = 30.0
    max_area: float | None = None
    grading: float | None = None
    steiner: str = "petal"
    conforming: bool = False
    keep_segments: str = "none"
    max_steiner: int | None = None
    max_seconds: float | None = None
    marking: str = "deterministic"
    balance: str = "work-stealing"
    loop: str = "auto"
    strict: bool = False
    optimize: bool | int = False

    def __post_init__(self) -> None:
        # Convert to plain Python numbers.
        object.__setattr__(self, "min_angle", real_option("min_angle", self.min_angle))
        if self.max_area is not None:
            area: object = self.max_area
            if callable(area) or isinstance(area, list | tuple) or getattr(area, "shape", ()) != ():
                raise WrongTypeError(
                    f"{option('max_area')} must be a number, not {kind_of(area)}: {option('area')} takes an array with "
                    "an area per triangle of the mesh, or a function of position"
                )
            object.__setattr__(self, "max_area", real_option("max_area", self.max_area))
        if self.grading is not None:
            object.__setattr__(self, "grading", real_option("grading", self.grading))
        if self.max_steiner is not None:
            object.__setattr__(self, "max_steiner", whole_option("max_steiner", self.max_steiner))
        if self.max_seconds is not None:
            object.__setattr__(self, "max_seconds", real_option("max_seconds", self.max_seconds))
        if not (math.isfinite(self.min_angle) and 0 <= self.min_angle < 60):
            raise OptionError(f"{option('min_angle')} must be at least 0 and below 60 degrees, not {self.min_angle:g}")
        if self.max_area is not None and not (math.isfinite(self.max_area) and self.max_area > 0):
            raise OptionError(f"{option('max_area')} must be a finite number above 0, not {self.max_area:g}")
        if self.grading is not None and not (math.isfinite(self.grading) and self.grading >= 0):
            raise OptionError(f"{option('grading')} must be finite and at least 0, not {self.grading:g}")
        if self.max_steiner is not None and self.max_steiner < 0:
            raise OptionError(f"{option('max_steiner')} must not be negative, not {self.max_steiner}")
        if self.max_seconds is not None and not (math.isfinite(self.max_seconds) and self.max_seconds >= 0):
            raise OptionError(
                f"{option('max_seconds')} must be a finite number of seconds, at least 0, not {self.max_seconds:g}"
            )
        for name, value, known in (
            ("steiner", self.steiner, STEINER_RULES),
            ("keep_segments", self.keep_segments, KEPT_SEGMENTS),
            ("marking", self.marking, MARKINGS),
            ("balance", self.balance, BALANCES),
            ("loop", self.loop, LOOPS),
        ):
            object.__setattr__(self, name, chosen(name, value, known))
        for name in ("conforming", "strict"):
            object.__setattr__(self, name, switch(name, getattr(self, name)))
        object.__setattr__(self, "optimize", optimization_rounds(self.optimize))
        self.check_loop()

    def needs_host(self, *, progress: bool = False, profile: bool = False) -> str | None:
        """Returns what needs the host between rounds, or None if the device can drive them by itself.

        Args:
            progress, profile: whether there is a progress callback or a profile.
        """
        if self.marking != MARKINGS[0]:
            return option("marking", self.marking)
        # Kernels that run whole rounds distribute checks evenly: with another balance there are none.
        if self.balance != BALANCES[0]:
            return option("balance", self.balance)
        asked = {"a progress callback": progress, "a profile": profile}
        return next((name for name, wanted in asked.items() if wanted), None)

    def check_loop(self, **asked: bool) -> None:
        """Refuses `loop` "device" if something needs the host between rounds.

        Args:
            asked: as for `needs_host`.

        Raises:
            OptionError: names what needs the host.
        """
        reason = self.needs_host(**asked)
        if self.loop == "device" and reason is not None:
            raise OptionError(
                f"{option('loop', 'device')} cannot be combined with {reason}: use {option('loop', 'host')} or 'auto'"
            )

    def check_device(self, device: str, *, launches_children: bool) -> None:
        """Refuses options that the device does not support.

        Raises:
            OptionError: the balance launches kernels from kernels, which the device cannot do.
        """
        if self.balance in CHILD_LAUNCHES and not launches_children:
            raise OptionError(
                f"{option('balance', self.balance)} is not available on {device}: only a GPU's kernels can "
                "launch kernels; use 'work-stealing' (the default) or 'none', or a GPU"
            )
