"""Samples of a mesh: places in its triangles, for estimates from sizes that depend on the place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dmr.memory import DeviceArray, open_device, scan, sum_float64, total
from dmr.mesh.coordinates import check_coordinates
from dmr.mesh.types import Float, Mesh, check_indices
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import POINT, TRIANGLE

SAMPLES = 2**14  # besides one in each triangle


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples, on the device of the mesh.

    Attributes:
        points: records of the type Point; shares: float64, the area that each stands for.
        demands: float64, the triangles that the bounds on areas need there, at least.
    """

    points: DeviceArray
    shares: DeviceArray
    demands: DeviceArray

    @property
    def count(self) -> int:
        """The number of samples."""
        return self.points.size

    @property
    def places(self) -> Float:
        """(k, 2) float64, on the host."""
        return self.points.content().view(np.float64).reshape(-1, 2)

    def raise_demands(self, lengths: DeviceArray, factor: float) -> None:
        """Raises each demand to `factor` times its area over the square of its length; float64, on the same device."""
        device = self.points.device
        device.launch("raise_demands", self.count, self.shares, lengths, factor, self.demands)


def samples_of(mesh: Mesh | DeviceMesh, max_area: float | None = None, *, count: int = SAMPLES) -> Samples:
    """Returns samples of a mesh; on the CPU, unless it is on another device.

    Args:
        mesh: at most 2^30 triangles, less `SAMPLES`; max_area: a bound on areas, besides those of the mesh.
        count: about how many, besides one in each triangle.

    Raises:
        InvalidMeshError: a coordinate or an index of a mesh that is not admitted yet is out of range; names it.
    """
    if isinstance(mesh, DeviceMesh):
        return _placed(mesh.triangles, mesh.slots, mesh.points, mesh.ancestor, mesh.area_bounds, max_area, count)
    check_indices(mesh)
    check_coordinates(mesh.vertices)  # areas that overflow would need any number of samples
    device = open_device("cpu")
    triangles: NDArray[np.void] = np.zeros(len(mesh.triangles), TRIANGLE)
    triangles["vertex"] = mesh.triangles
    points = device.as_input(np.ascontiguousarray(mesh.vertices).reshape(-1).view(POINT))
    bounds = None if mesh.area_bounds is None else device.as_input(mesh.area_bounds)
    return _placed(device.as_input(triangles), len(triangles), points, None, bounds, max_area, count)


def _placed(
    triangles: DeviceArray, slots: int, points: DeviceArray, ancestor: DeviceArray | None,
    bounds: DeviceArray | None, max_area: float | None, count: int,
) -> Samples:  # fmt: skip
    device = triangles.device
    areas, counts = device.empty(slots, np.float64), device.empty(slots, np.int32)
    device.launch("triangle_areas", slots, triangles, points, areas)
    area = max(sum_float64(areas), np.finfo(float).tiny)
    device.launch("count_samples", slots, areas, area, float(count), counts)
    offsets = scan(counts)
    made = total(offsets, slots)
    samples = Samples(device.empty(made, POINT), device.empty(made, np.float64), device.empty(made, np.float64))
    everywhere = math.inf if max_area is None else max_area
    device.launch(
        "place_samples", slots, triangles, points, areas, offsets, ancestor, bounds, everywhere,
        samples.points, samples.shares, samples.demands,
    )  # fmt: skip
    return samples
