"""Small functions of tasks, for the tests of engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources


def count_up(inputs: Sequence[Folder], out: Folder, resources: Resources, *, n: int) -> dict[str, Any]:
    """Writes 0 to n - 1."""
    out["numbers"] = np.arange(n)
    return {"count": n}


def add_up(inputs: Sequence[Folder], out: Folder, resources: Resources, *, factor: int) -> dict[str, Any]:
    """Sums the numbers of all inputs, and multiplies them."""
    total = factor * sum(int(each["numbers"].sum()) for each in inputs)
    out["numbers"] = np.array([total])
    return {"total": total, "range": (0, total)}


def fail(inputs: Sequence[Folder], out: Folder, resources: Resources) -> dict[str, Any]:
    """Raises after it has written a part."""
    out["numbers"] = np.arange(3)
    raise ValueError("as the test wants it")
