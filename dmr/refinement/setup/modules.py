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
PLACEMENT = (
    "placement/front",
    "placement/lattice",
    "placement/outline",
    "placement/smoothing",
    "placement/lifting",
    "primitives/device_loop",
    "sizing/sizes",
)
FINE_OUTLINES = (
    "locate/building",
    "sizing/mesh_sizes",
    "sizing/segment_sizes",
)  # for the sizes beside parts of an outline that are finer
ALWAYS = (
    *ADMISSION,
    "mesh/angles",
    "refine/cavity/growth",
    "refine/retriangulation/retriangulation",
    "refine/rounds/rounds",
)
ESTIMATION = ("mesh/samples", "sizing/sizes")
OPTIMIZATION = ("optimize/checks", "optimize/moves")
ROUNDS_ON_DEVICE = (
    "primitives/device_loop",
    "refine/rounds/large_passes",
    "refine/rounds/persistent_rounds",
    "refine/rounds/single_block_rounds",
)


def refinement_modules(
    options: RefineOptions, *, rounds_on_device: bool, placed: bool = False, estimated: bool = False
) -> tuple[str, ...]:
    """Returns the module names for `Device.prepare`.

    Args:
        options: options of the refinement.
        rounds_on_device: whether the device runs rounds without the host.
        placed: whether points are placed by size first; estimated: whether the number of triangles is estimated.
    """
    driver = ROUNDS_ON_DEVICE if rounds_on_device else ()
    further = ((*PLACEMENT, *FINE_OUTLINES) if placed else ()) + (OPTIMIZATION if options.optimize else ())
    further += ESTIMATION if estimated else ()
    return ALWAYS + driver + further + MARKINGS[options.marking].gpu_modules + BALANCES[options.balance].gpu_modules
