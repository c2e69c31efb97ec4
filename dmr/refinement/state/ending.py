"""Why the rounds of a refinement ended."""

from __future__ import annotations

from enum import Enum


class Ending(Enum):
    """Why rounds ended. The value is the reason given for triangles that are left (`Refinement.unrefined`)."""

    COMPLETE = "unfinished"  # nothing is bad or encroached, so no triangle is left for this reason
    STRICT_ROUNDS_OVER = "strict order"  # the stage continues in the grouped order (rounds/grouped_order.py)
    BUDGET = "budget"  # the limit on points
    TIME = "time"  # the limit on seconds
    STOPPED = "stopped"  # the progress callback returned False
