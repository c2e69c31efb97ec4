"""What the benchmarks of refinement share: the inputs, the time of a refinement alone, and digests of results."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import numpy as np

import dmr
from dmr.errors import OptionError
from dmr.generation import THESIS_INPUTS, THESIS_SEED

# How many uniform random points in the unit square; their Delaunay meshes have about twice as many triangles.
INPUTS = {"random-0.1m": 50_000, **THESIS_INPUTS}
# The phases of a run that are not refinement: building the data structures, and handing out the result.
AROUND = ("triangulate", "admit", "flip", "download", "total")


def points_of(name: str) -> int:
    """How many points a standard input has.

    Raises:
        OptionError: no such input.
    """
    number = re.fullmatch(r"random-(\d+)", name)
    if name not in INPUTS and number is None:
        raise OptionError(f"there is no input {name}: choose from {', '.join(INPUTS)} and random-N (N points)")
    return int(number[1]) if number else INPUTS[name]


def standard_input(name: str) -> dmr.Mesh:
    """One of `INPUTS`, or "random-N": N points of the same seed.

    Raises:
        OptionError: no such input, or fewer points than a mesh needs.
    """
    return dmr.generate("random", points_of(name), THESIS_SEED)


def refinement_phases(seconds: Mapping[str, float]) -> dict[str, float]:
    """Of `Refinement.seconds`, the phases that are refinement; their sum is its time."""
    return {phase: s for phase, s in seconds.items() if phase not in AROUND}


def digest(mesh: dmr.Mesh) -> str:
    """The sha256 of vertices and triangles."""
    found = hashlib.sha256(np.ascontiguousarray(mesh.vertices, "<f8").tobytes())
    found.update(np.ascontiguousarray(mesh.triangles, "<i4").tobytes())
    return found.hexdigest()
