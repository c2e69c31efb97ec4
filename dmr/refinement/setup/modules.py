"""The GPU modules of a refinement, compiled and loaded before it begins."""

from __future__ import annotations

from dmr.refinement.options import CHILD_LAUNCHES, RefineOptions

ALWAYS = (
    "mesh/angles",
    "mesh/flips",
    "primitives/gathering",
    "refine/cavity/growth",
    "refine/marking/marking",
    "mesh/ordering",
    "refine/quality/quality",
    "refine/retriangulation",
    "refine/rounds/rounds",
    "primitives/scan",
    "primitives/sorting",
    "mesh/topology",
)
ROUNDS_ON_DEVICE = ("primitives/device_loop", "refine/rounds/persistent_rounds", "refine/rounds/single_block_rounds")


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
        found += ("refine/marking/three_phases",)
    if options.balance in CHILD_LAUNCHES:
        found += ("refine/quality/child_launch",)
    return found
