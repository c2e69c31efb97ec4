"""The GPU modules of a refinement, compiled and loaded before it begins."""

from __future__ import annotations

from dmr.refinement.options import RefineOptions
from dmr.refinement.strategy_tables import BALANCES, MARKINGS

ALWAYS = (
    "geometry/points",
    "mesh/angles",
    "mesh/flips",
    "primitives/gathering",
    "refine/cavity/growth",
    "refine/marking/marking",
    "mesh/ordering",
    "refine/quality/quality",
    "refine/retriangulation/retriangulation",
    "refine/rounds/rounds",
    "primitives/scan",
    "primitives/sorting",
    "mesh/topology",
)
PLACEMENT = ("placement/front", "placement/outline", "placement/smoothing")
ROUNDS_ON_DEVICE = ("primitives/device_loop", "refine/rounds/persistent_rounds", "refine/rounds/single_block_rounds")


def refinement_modules(options: RefineOptions, *, rounds_on_device: bool, placed: bool = False) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`.

    Args:
        options: options of the refinement.
        rounds_on_device: whether the device runs rounds without the host.
        placed: whether points are placed by size first.
    """
    driver = (ROUNDS_ON_DEVICE if rounds_on_device else ()) + (PLACEMENT if placed else ())
    return ALWAYS + driver + MARKINGS[options.marking].gpu_modules + BALANCES[options.balance].gpu_modules
