"""The report of an optimisation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dmr.mesh.types import Mesh


@dataclass(frozen=True, kw_only=True)
class Smoothing:
    """Result of an optimisation.

    Attributes:
        rounds: rounds that were kept; moves: moves of vertices in them (a vertex moves at most once per round).
        flips: edges flipped in them; repeated: how often the flips of a round were repeated without some of its moves,
            because a triangle missed a bound after them.
        mean_min_angle_before, mean_min_angle: mean over the triangles of the smallest angle in degrees, before the
            first round and after the last one.
    """

    rounds: int
    moves: int
    flips: int
    repeated: int
    mean_min_angle_before: float
    mean_min_angle: float

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as plain numbers."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimization:
    """The result of `dmr.optimize`.

    Attributes:
        mesh: the result, with as many vertices and triangles as the input, and the input's numbers of vertices.
        smoothing: what was done.
        device: where it ran; threads: CPU threads (0 on a GPU); seconds: wall-clock time.
        warnings: what a user should know about the input, one sentence each.
    """

    mesh: Mesh
    smoothing: Smoothing
    device: str
    threads: int
    seconds: float
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the fields that `dmr optimize --json` prints."""
        return {
            "device": self.device,
            "threads": self.threads,
            "vertices": len(self.mesh.vertices),
            "triangles": len(self.mesh.triangles),
            "smoothing": self.smoothing.to_json(),
            "seconds": self.seconds,
            "warnings": list(self.warnings),
        }
