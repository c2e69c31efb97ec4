"""The GPU modules of a refinement, compiled and loaded before it begins."""

from __future__ import annotations

from dmr.options import CHILD_LAUNCHES, RefineOptions

ALWAYS = (
    "angles",
    "flips",
    "gathering",
    "growth",
    "marking",
    "ordering",
    "quality",
    "retriangulation",
    "rounds",
    "scan",
    "sorting",
    "topology",
)
ROUNDS_ON_DEVICE = ("device_loop", "middle_rounds", "small_rounds")


def refinement_modules(options: RefineOptions, *, rounds_on_device: bool) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`.

    Args:
        options: options of the refinement.
        rounds_on_device: whether the device runs rounds without the host.
    """
    found: tuple[str, ...] = ALWAYS
    if rounds_on_device:
        found += ROUNDS_ON_DEVICE
    if options.marking == "three-phase-barrier":
        found += ("three_phases",)
    if options.balance in CHILD_LAUNCHES:
        found += ("child_launch",)
    return found
