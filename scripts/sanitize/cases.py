"""Types and helpers of the families of `families.py`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dmr.memory import Device

Case = tuple[str, Callable[[], str | None]]  # name, and function that runs the case and returns its result's digest
Family = Callable[[Device], Iterator[Case]]


def digest(*arrays: Any) -> str:
    """Shortened SHA-256 of the bytes of some arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]
