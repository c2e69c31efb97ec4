"""The GPU modules of a refinement, compiled and loaded before it begins."""

from __future__ import annotations

from dmr.refinement.options import RefineOptions
from dmr.refinement.strategy_tables import BALANCES, MARKINGS

ADMISSION = (  # with the check of all triangles, and flips
    "geometry/points",
    "mesh/acute_corners",
    "mesh/flips",
    "mesh/ordering",
    "mesh/topology",
    "primitives/gathering",
    "primitives/scan",
    "primitives/sorting",
    "refine/marking/marking",
    "refine/quality/quality",
)
ALWAYS = (
    *ADMISSION,
    "mesh/angles",
    "refine/cavity/growth",
    "refine/retriangulation/retriangulation",
    "refine/rounds/rounds",
)
OPTIMIZATION = ("optimize/checks", "optimize/moves")
ROUNDS_ON_DEVICE = ("primitives/device_loop", "refine/rounds/persistent_rounds", "refine/rounds/single_block_rounds")


def refinement_modules(options: RefineOptions, *, rounds_on_device: bool) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`.

    Args:
        options: options of the refinement.
        rounds_on_device: whether the device runs rounds without the host.
    """
    driver = ROUNDS_ON_DEVICE if rounds_on_device else ()
    further = OPTIMIZATION if options.optimize else ()
    return ALWAYS + driver + further + MARKINGS[options.marking].gpu_modules + BALANCES[options.balance].gpu_modules
