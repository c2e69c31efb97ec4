"""Supports of size fields: the places at which the sizes of a field are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray

from dmr.memory import Device
from dmr.mesh.types import Float
from dmr.sizing.source import Step


class Support(ABC):
    """The nodes (vertices, triangles, grid points or samples) on which sizes are given, by index."""

    @abstractmethod
    def step(self, device: Device, values: Float) -> Step:
        """Uploads the nodes and their values; the step lowers sizes to those interpolated."""

    @abstractmethod
    def network(self) -> tuple[Float, NDArray[Any]]:
        """The coordinates of the nodes, and the (e, 2) pairs of adjacent nodes."""

    @abstractmethod
    def name(self, place: int) -> str:
        """The name of a node, for messages."""
