"""Converts the user's mesh to a `DeviceMesh`, or refuses it and names the offending element.

Checked here, in this order: coordinates (range in which the predicates are exact), triangles (area, orientation),
edges (no two triangles on one side), vertices (covered once), segments (edges of the mesh), the boundary (does not
cross itself). Meshes from `dmr.triangulate` cover each place once, so their vertices and boundary are not checked
(`dmr.mesh.provenance`). An admitted mesh is a triangulation of a domain that may have holes and several parts; if it is
not Delaunay, flips make it so (`dmr.refinement.setup.flips`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from dmr.common.available import require_memory
from dmr.common.text import counted
from dmr.errors import InvalidMeshError, OutOfMemoryError
from dmr.memory import Device, DeviceArray, Enumeration, argsort, constant, scan
from dmr.mesh.naming import number
from dmr.mesh.provenance import Links, links_of
from dmr.mesh.types import Int, Mesh, check_indices
from dmr.refinement.setup.boundary import check_boundary, outline_of
from dmr.refinement.state.device_mesh import FEW_TRIANGLES, DeviceMesh, usual_capacity
from dmr.refinement.state.records import POINT, SUBSEGMENT, TRIANGLE
from dmr.triangulation.deferred import triangle_count
from dmr.triangulation.meshing import OnDevice
from dmr.triangulation.rounds.curve import order_along_curve, surveyed
from dmr.triangulation.rounds.triangles import DeviceTriangles
from dmr.triangulation.segment_order import sorted_segments

BYTES_PER_TRIANGLE = 95  # peak memory of an admission, measured
PLACED_OVER_BAD = 8  # triangles around placed points, per one of them for which there is memory in case it is bad
MOST_WALLS = 64  # subsegments that are tested for each large cavity, if none may be split
NO_INDEX = constant("NO_INDEX")
INPUT_VERTEX = constant("INPUT_VERTEX")


class SplitState(Enumeration):
    """Whether a subsegment is to be split."""


def admit(
    mesh: Mesh,
    device: Device,
    keep_segments: str = "none",
    *,
    trusted: bool = False,
    placed: bool = False,
    ordered: bool = True,
    on_device: OnDevice | None = None,
) -> tuple[DeviceMesh, list[str]]:
    """Copies a mesh to a device, orders it along a space-filling curve, links its triangles and checks it.

    Args:
        mesh: the user's mesh.
        device: the target device.
        keep_segments: which segments will never be split, as in `RefineOptions`.
        trusted: whether the mesh is a part of an admitted one, so no triangles overlap.
        placed: whether its points were placed by size, so few triangles are bad.
        ordered: whether it is to be ordered; a few triangles that are only examined need not be.
        on_device: the triangulation of the mesh, if it is still on this device; its memory is released.

    Returns:
        The mesh on the device, and what was repaired on the way, one sentence each.

    Raises:
        InvalidMeshError: the arrays are not a valid triangulation; names the element.
        OutOfMemoryError: the device has too little memory.
    """
    n, m = len(mesh.vertices), triangle_count(mesh)
    if device.name == "cpu":  # a GPU's allocations are checked one by one
        require_memory(BYTES_PER_TRIANGLE * m, f"a refinement of {counted(m, 'triangle')}")
    notes: list[str] = []
    found = None if on_device is None else on_device.take()
    links = None if found else links_of(mesh)
    proven = found is not None or links is not None  # `dmr.triangulate` is exact: no triangles overlap
    if found is not None:
        given_points, corners = found.order.given, found.corner_table
    else:
        given_points = device.as_input(mesh.vertices.reshape(-1).view(POINT))
        # The triangulation has checked the coordinates. A GPU sorts points faster than their order is copied to it.
        along = links.along if links is not None and device.threads else None
        if along is None:
            box = surveyed(mesh.vertices, given_points)
        corners = device.as_input(mesh.triangles.reshape(-1)) if proven else device.array(mesh.triangles)
    if m == 0:
        raise InvalidMeshError("the mesh has no triangles")
    if not proven:
        reversed_count = _orient(device, given_points, corners, m)
        if reversed_count:
            notes.append(f"{reversed_count} clockwise triangles were turned around")
    bad = 0 if m > FEW_TRIANGLES else m // PLACED_OVER_BAD if placed else m
    vertex_capacity, triangle_capacity, _ = usual_capacity(n, m, 0, bad)
    all_points, all_triangles = (
        _room(device.empty, vertex_capacity, n, POINT),
        _room(device.empty, triangle_capacity, m, TRIANGLE),
    )
    points, triangles = all_points[:n], all_triangles[:m]
    if found is not None:
        order, rank = found.order.curve, found.order.places
        device.launch("gather_points", n, given_points, order, points)
    elif ordered:
        order = order_along_curve(given_points, box)[1] if along is None else device.array(along)
        rank = device.empty(n, np.int32)
        device.launch("reorder_points", n, given_points, order, points, rank)
    else:
        points.copy_from(given_points)
        order = rank = _in_order(device, n)
    triangle_order = _order_triangles(device, corners, rank, m) if ordered else _in_order(device, m)
    device.launch("make_triangles", m, corners, rank, triangle_order, triangles)
    first, half_edges = None, None
    known = _known_links(found, on_device, links, triangles, triangle_order)
    if known is None:
        first, half_edges = _list_half_edges(device, triangles, n)
        _link(device, triangles, first, half_edges, triangle_order, proven=proven)
    if not proven and not trusted:
        _check_windings(device, triangles, points, order)
    ends, named_markers, rows = sorted_segments(mesh) if proven else mesh.unique_segment_rows()
    sides = None if known is None else (device.as_input(known[0][rows]), known[1])
    named = _attach_segments(mesh, ends, triangles, first, half_edges, rank, sides, proven=proven)
    subsegments, acute, any_acute, anchor = _mark_corners(named, triangles, points)

    if found is not None and on_device is not None:
        regions, area_bounds = _of_parts(found, on_device, device)
        carries = regions is not None
    else:
        regions = None
        carries = mesh.triangle_attributes is not None and mesh.triangle_attributes.shape[1] > 0
        area_bounds = None if mesh.area_bounds is None else device.array(mesh.area_bounds)
    bounded = area_bounds is not None
    width = 0 if mesh.vertex_attributes is None else mesh.vertex_attributes.shape[1]
    s = subsegments.size
    vertex_origin = _room(device.empty, vertex_capacity, n, np.int32)
    device.launch("fill_int32", n, INPUT_VERTEX, vertex_origin)
    subsegment_origin = device.empty(s, np.int32)
    device.launch("fill_indices", s, subsegment_origin)
    input_segments = device.empty(s, SUBSEGMENT)
    input_segments.copy_from(subsegments)
    split_states = _split_states(subsegments, keep_segments)
    if not proven and not trusted:
        check_boundary(outline_of(subsegments, points), order, triangle_order)
    state = DeviceMesh(
        device=device, vertices=n, slots=m, subsegments_count=s, input_vertices=n,
        named=len(named_markers), named_markers=named_markers, order=order, width=width,
        triangles=all_triangles, points=all_points, subsegments=subsegments,
        quality=_room(device.zeros, triangle_capacity, m, np.uint32),
        rivals=_room(device.zeros, triangle_capacity, m, np.int32),
        vertex_origin=vertex_origin, vertex_parameter=_room(device.zeros, vertex_capacity, n, np.float64),
        subsegment_origin=subsegment_origin, split_states=split_states,
        input_segments=input_segments, acute=acute, any_acute=any_acute, anchor=anchor,
        ancestor=triangle_order if carries or bounded else None,
        area_bounds=area_bounds,
        regions=regions,
        attributes=_attributes(mesh, device, order) if width else None,
        walls=device.array(_longest(subsegments, points)) if _are_all_kept(split_states, keep_segments) else None,
    )  # fmt: skip
    if m <= FEW_TRIANGLES:
        state.reserve_for(bad)
    return state, notes


def _room(make: Callable[[int, DTypeLike], DeviceArray], capacity: int, count: int, dtype: DTypeLike) -> DeviceArray:
    """An array for `capacity` elements, or for the `count` that are needed now if the device has no more memory."""
    try:
        return make(capacity, dtype)
    except OutOfMemoryError:
        return make(count, dtype)


def _orient(device: Device, points: DeviceArray, corners: DeviceArray, count: int) -> int:
    reversed_count, least = device.zeros(1, np.int32), device.array(np.array([NO_INDEX, NO_INDEX], np.int32))
    device.launch("orient_triangles", count, points, points.size, corners, reversed_count, least[:1], least[1:])
    index, stray = (int(found) for found in least.download())
    if stray != NO_INDEX:
        a, b, c = (int(v) for v in corners[3 * stray : 3 * stray + 3].download())
        bad = next(v for v in (a, b, c) if not 0 <= v < points.size)
        raise InvalidMeshError(f"names vertex {bad}, but there are {points.size} vertices", "triangle", stray)
    if index != NO_INDEX:
        a, b, c = (int(v) for v in corners[3 * index : 3 * index + 3].download())
        corner_numbers = ", ".join(str(number("vertex", v)) for v in (a, b, c))
        if len({a, b, c}) < 3:
            raise InvalidMeshError(f"has the same vertex twice ({corner_numbers})", "triangle", index)
        raise InvalidMeshError(f"has no area: its corners {corner_numbers} lie on one line", "triangle", index)
    return int(reversed_count.download()[0])


def _in_order(device: Device, count: int) -> DeviceArray:
    numbers = device.empty(count, np.int32)
    device.launch("fill_indices", count, numbers)
    return numbers


def _order_triangles(device: Device, corners: DeviceArray, rank: DeviceArray, count: int) -> DeviceArray:
    keys = device.empty(count, np.uint32)
    device.launch("triangle_keys", count, corners, rank, keys)
    return argsort(keys, bits=max(8, rank.size.bit_length()))


def _list_half_edges(device: Device, triangles: DeviceArray, vertices: int) -> tuple[DeviceArray, DeviceArray]:
    counts = device.zeros(vertices, np.int32)
    device.launch("count_edges_out", triangles.size, triangles, counts)
    first = scan(counts)
    counts.fill(0)
    half_edges = device.empty(3 * triangles.size, np.int32)
    device.launch("list_edges_out", triangles.size, triangles, first, counts, half_edges)
    return first, half_edges


def _known_links(
    found: DeviceTriangles | None,
    on_device: OnDevice | None,
    links: Links | None,
    triangles: DeviceArray,
    triangle_order: DeviceArray,
) -> tuple[Int, DeviceArray] | None:
    """Links triangles as their triangulation has found them, on the device or on the host.

    Returns:
        The sides of its segments (`Links.sides`), and the places of its triangles; None if nothing is known.
    """
    device = triangles.device
    if found is not None and on_device is not None:
        return on_device.sides, _link_known(found.neighbour_table, triangles, triangle_order)
    if links is None or not device.threads:  # a GPU finds the links faster than they can be copied to it
        return None
    return links.sides, _link_known(device.as_input(links.neighbours.reshape(-1)), triangles, triangle_order)


def _link_known(neighbours: DeviceArray, triangles: DeviceArray, triangle_order: DeviceArray) -> DeviceArray:
    """Links triangles whose neighbours are known, by the user's numbers; returns the triangles' places."""
    device = triangles.device
    places = device.empty(triangles.size, np.int32)
    device.launch("invert_order", triangles.size, triangle_order, places)
    device.launch("link_neighbours", triangles.size, neighbours, triangle_order, places, triangles)
    return places


def _link(
    device: Device,
    triangles: DeviceArray,
    first: DeviceArray,
    half_edges: DeviceArray,
    triangle_order: DeviceArray,
    *,
    proven: bool,
) -> None:
    overlapping = device.empty(1, np.int32) if proven else device.array(np.array([NO_INDEX], np.int32))
    device.launch("link_triangles", triangles.size, first, half_edges, triangle_order, triangles, overlapping)
    index = NO_INDEX if proven else int(overlapping.download()[0])
    if index != NO_INDEX:
        raise InvalidMeshError("lies on the same side of one of its edges as another triangle", "triangle", index)


def _check_windings(device: Device, triangles: DeviceArray, points: DeviceArray, order: DeviceArray) -> None:
    windings = device.zeros(points.size, np.int32)
    folded = device.array(np.array([NO_INDEX], np.int32))
    device.launch("count_windings", triangles.size, triangles, points, windings)
    device.launch("report_windings", points.size, windings, order, folded)
    index = int(folded.download()[0])
    if index != NO_INDEX:
        raise InvalidMeshError("the triangles around it overlap", "vertex", index)


def _attach_segments(
    mesh: Mesh,
    ends: Int,
    triangles: DeviceArray,
    first: DeviceArray | None,
    half_edges: DeviceArray | None,
    rank: DeviceArray,
    sides: tuple[DeviceArray, DeviceArray] | None,
    *,
    proven: bool,
) -> DeviceArray:
    """Returns the subsegments that the user named.

    Args:
        ends: their ends, by the numbers of `mesh`.
        first, half_edges: the list of half-edges (`_list_half_edges`), in which the segments are searched; None if
            their sides are known.
        sides: a half-edge on each segment, by the user's numbers, and the triangles' places (`_link_known`).
        proven: whether all of them are edges of the mesh.
    """
    device, named = triangles.device, len(ends)
    found = device.empty(named, SUBSEGMENT)
    if not named:
        return found
    if not proven and not 0 <= ends.min() <= ends.max() < len(mesh.vertices):
        check_indices(mesh)  # names the index
    missing = device.empty(1, np.int32) if proven else device.array(np.array([NO_INDEX], np.int32))
    device.launch(
        "attach_segments", named, device.as_input(ends.reshape(-1)), rank, first, half_edges, *(sides or (None, None)),
        triangles, found, missing
    )  # fmt: skip
    index = NO_INDEX if proven else int(missing.download()[0])
    if index != NO_INDEX:
        u, v = (number("vertex", w) for w in ends[index])
        row = int(np.flatnonzero((np.sort(mesh.segments, axis=1) == ends[index]).all(axis=1))[0])
        raise InvalidMeshError(f"its ends {u} and {v} are not joined by an edge of the mesh", "segment", row)
    return found


def _split_states(subsegments: DeviceArray, keep_segments: str) -> DeviceArray:
    """Returns the initial split state of each subsegment: no request, or that it is kept."""
    device = subsegments.device
    states = device.empty(subsegments.size, np.int32)
    if keep_segments == "boundary":
        device.launch("keep_boundary", subsegments.size, subsegments, states)
    else:
        every = SplitState.KEPT if keep_segments == "all" else SplitState.NO_REQUEST
        device.launch("fill_int32", subsegments.size, every, states)
    return states


def _are_all_kept(states: DeviceArray, keep_segments: str) -> bool:
    """Whether there are subsegments, and none may be split: "boundary" keeps all where there are none inside."""
    if keep_segments == "none" or not states.size:
        return False
    return keep_segments == "all" or bool((states.download() == SplitState.KEPT).all())


def _longest(subsegments: DeviceArray, points: DeviceArray) -> Int:
    """Returns the numbers of the longest subsegments, at most MOST_WALLS."""
    ends, places = subsegments.content(), points.content().view(np.float64).reshape(-1, 2)
    ways = places[ends["to"]] - places[ends["from"]]
    squared = ways[:, 0] * ways[:, 0] + ways[:, 1] * ways[:, 1]
    found: Int = np.argsort(-squared, kind="stable")[:MOST_WALLS].astype(np.int32)
    return found


def _mark_corners(
    named: DeviceArray, triangles: DeviceArray, points: DeviceArray
) -> tuple[DeviceArray, DeviceArray, bool, DeviceArray]:
    """Returns all subsegments and (acute, any_acute, anchor) of `DeviceMesh`, which has values at their ends only.

    Subsegments are first those that the user named, and then every other boundary edge. Mostly there are no others, so
    that one transfer brings both their number and the answer whether there are acute corners.
    """
    device, subsegments = points.device, named
    acute = device.zeros(points.size, np.uint8)
    counts, found = device.empty(triangles.size, np.int32), device.zeros(2, np.int32)
    boundary, any_acute = found[:1], found[1:]
    device.launch("count_boundary", triangles.size, triangles, counts, boundary)
    device.launch("flag_acute_corners", named.size, named, triangles, points, acute, any_acute)
    others, there_are = found.download().tolist()
    if others:
        subsegments = device.empty(named.size + others, SUBSEGMENT)
        subsegments.copy_from(named)
        device.launch("attach_boundary", triangles.size, scan(counts), named.size, triangles, subsegments)
        rest = subsegments[named.size :]
        device.launch("flag_acute_corners", rest.size, rest, triangles, points, acute, any_acute)
        there_are = any_acute.download()[0]
    count = subsegments.size
    anchor = device.empty(points.size, np.int32)
    anchor.fill(255)
    if there_are:
        device.launch("find_anchors", count, subsegments, acute, count, anchor)
        device.launch("name_anchors", points.size, subsegments, count, anchor)
    return subsegments, acute, bool(there_are), anchor


def _of_parts(
    found: DeviceTriangles, on_device: OnDevice, device: Device
) -> tuple[tuple[DeviceArray, DeviceArray] | None, DeviceArray | None]:
    """Returns the regions (`DeviceMesh.regions`) and area bounds of the triangles that the device has made."""
    regions, bounds = None, None
    if on_device.attributes is not None:
        regions = found.label_table, device.array(on_device.attributes)
    if on_device.area_bounds is not None:
        bounds = device.empty(found.count, np.float64)
        device.launch("gather_float64", found.count, device.array(on_device.area_bounds), found.label_table, bounds)
    return regions, bounds


def _attributes(mesh: Mesh, device: Device, order: DeviceArray) -> DeviceArray:
    assert mesh.vertex_attributes is not None
    width = mesh.vertex_attributes.shape[1]
    ordered = device.empty(order.size * width, np.float64)
    device.launch("reorder_rows", order.size, device.array(mesh.vertex_attributes), order, width, ordered)
    return ordered
