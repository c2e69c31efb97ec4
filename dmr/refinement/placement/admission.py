"""Admits a mesh with placed points, as if refinement had split its segments and inserted the points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmr.memory import Device, constant
from dmr.mesh.location.background import DeviceBackground
from dmr.mesh.types import Int, Mesh
from dmr.refinement.placement.placing import Placement
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.demand import sum_of_aspects
from dmr.refinement.setup.flips import refuse_unless_delaunay
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.records import SUBSEGMENT
from dmr.triangulation.meshing import OnDevice
from dmr.triangulation.rounds.epochs import Epochs
from dmr.triangulation.segment_order import sorted_segments

INPUT_VERTEX, FREE_VERTEX = constant("INPUT_VERTEX"), constant("FREE_VERTEX")


def admit_placed(placement: Placement, device: Device, keep_segments: str) -> tuple[DeviceMesh, list[str]]:
    """Copies the mesh of a placement to a device; raises what `admit` does."""
    mesh, segments, given = placement.mesh, placement.segments, placement.given
    state, notes = admit(mesh, device, keep_segments, placed=True, on_device=placement.on_device)
    order = state.order.download()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    on_segments = slice(given, given + placement.on_segments)
    origin, parameter = np.full(len(order), FREE_VERTEX, np.int32), np.zeros(len(order))
    origin[:given], origin[on_segments] = INPUT_VERTEX, placement.division.segment
    parameter[on_segments] = placement.division.parameter
    parameter[placement.doubles.first] = placement.doubles.parameter  # for pieces that end there
    state.vertex_origin[: len(order)].upload(origin[order])
    state.vertex_parameter[: len(order)].upload(parameter[order])
    rows = sorted_segments(mesh)[2]
    state.subsegment_origin[: len(rows)].upload(placement.origin[rows])
    direct(state, rank[mesh.segments[rows, 0]])
    state.input_subsegments = len(rows)
    state.input_segments = device.array(segment_records(rank[segments.ends]))
    if state.any_acute:
        count = len(segments.ends)
        state.anchor.fill(255)
        device.launch("find_anchors", count, state.input_segments, state.acute, count, state.anchor)
        device.launch("name_anchors", state.anchor.size, state.input_segments, count, state.anchor)
    state.named, state.named_markers = segments.named, segments.markers
    state.given = given
    return state, notes


def interpolate_attributes(state: DeviceMesh, placement: Placement) -> None:
    """Interpolates the attributes of placed points in the triangles of the input; call it after the smoothing."""
    given = placement.given_mesh.vertex_attributes
    if state.attributes is None or given is None:
        return
    order = state.order.download()
    placed = np.flatnonzero(order >= placement.given + placement.on_segments)
    points = state.points[: len(order)].download().view(np.float64).reshape(-1, 2)
    places = DeviceBackground(placement.given_mesh, state.device).places(points[placed])
    weighted = given[places.corners] * places.weights[:, :, None]
    rows = state.attributes[: len(order) * state.width].download().reshape(-1, state.width)
    rows[placed] = weighted[:, 0] + weighted[:, 1] + weighted[:, 2]
    state.attributes[: rows.size].upload(rows.reshape(-1))


def direct(state: DeviceMesh, starts: Int) -> None:
    """Gives the subsegments the directions of their segments; those with a triangle on one side only keep theirs."""
    subsegments = state.subsegments[: len(starts)].download()
    turned = (subsegments["from"] != starts) & (subsegments["right"] >= 0)
    for one, other in (("from", "to"), ("left", "right")):
        subsegments[one][turned], subsegments[other][turned] = subsegments[other][turned], subsegments[one][turned]
    state.subsegments[: len(starts)].upload(subsegments)


def segment_records(ends: Int) -> NDArray[Any]:
    """Returns the records of input segments with these ends."""
    records: NDArray[Any] = np.zeros(len(ends), SUBSEGMENT)
    records["from"], records["to"] = ends.T
    records["left"] = records["right"] = -1
    return records


def checked(
    mesh: Mesh, device: Device, *, strict: bool, on_device: OnDevice | None = None
) -> tuple[Mesh, NDArray[np.uint8], float, list[str]]:
    """Checks a mesh, and turns clockwise triangles around.

    Args:
        mesh: the mesh, and `on_device` its triangulation, if that is still on the device; strict: as for `refine`.

    Returns:
        The mesh; (n,) uint8, 1 at vertices with a corner below 60 degrees; `sum_of_aspects`; and what was repaired.

    Raises:
        InvalidMeshError: no valid triangulation (or, if `strict`, not a Delaunay one).
    """
    state, notes = admit(mesh, device, ordered=strict, on_device=on_device)
    if strict:
        refuse_unless_delaunay(state, Epochs())
    acute = np.zeros(len(mesh.vertices), np.uint8)
    if state.any_acute:
        acute[state.order.download()] = state.acute.download()
    if notes:
        a, b, c = (mesh.vertices[corner] for corner in mesh.triangles.T)
        clockwise = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) < (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
        mesh = replace(mesh, triangles=np.where(clockwise[:, None], mesh.triangles[:, [0, 2, 1]], mesh.triangles))
    return mesh, acute, sum_of_aspects(state, ordered=False), notes
