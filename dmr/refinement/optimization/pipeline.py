"""Optimisation of a given mesh, behind `dmr.optimize`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields

import numpy as np

from dmr.common.arguments import checks_keywords
from dmr.memory import open_device
from dmr.mesh.arguments import check_kind
from dmr.mesh.provenance import record_refinement
from dmr.mesh.types import Mesh
from dmr.refinement.optimization.rounds import optimize_mesh
from dmr.refinement.options import RefineOptions, optimization_rounds
from dmr.refinement.results import Optimization
from dmr.refinement.setup.admission import admit
from dmr.refinement.setup.borders import border_warnings
from dmr.refinement.setup.flips import make_delaunay
from dmr.refinement.setup.modules import ADMISSION, OPTIMIZATION
from dmr.refinement.state.device_mesh import DeviceMesh
from dmr.refinement.state.workspace import Workspace
from dmr.refinement.steps.local_bounds import LocalBounds
from dmr.refinement.steps.quality_check import QualityCheck
from dmr.refinement.steps.thresholds import thresholds
from dmr.triangulation.rounds.epochs import Epochs


@checks_keywords
def optimize(
    mesh: Mesh,
    *,
    rounds: bool | int = True,
    device: str = "auto",
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Optimization:
    """Moves the inner vertices of a mesh and flips edges, until the smallest angles of triangles are better on average.

    Vertices on the boundary and on segments stay, bit for bit; all others may move. The result is a constrained
    Delaunay triangulation of the same domain, whose smallest angle is no smaller than that of the constrained Delaunay
    triangulation of the given vertices. No triangle exceeds its area bound that did not before. The same input gives
    the same bits on every device and with any number of threads. `refine(..., optimize=True)` optimises what it has
    refined, and moves only the points that it has inserted.

    Each round moves every vertex once, to the best of a few places in the star of its triangles, rated by the sum of
    the cotangents of their smallest angles; vertices of one colour move at the same time (after Freitag, Jones and
    Plassmann, "A Parallel Algorithm for Mesh Smoothing", 1999). Flips then restore the constrained Delaunay property.

    Args:
        mesh: a triangulation.
        rounds: the maximum number of rounds, or True for 8. A round that gains less than 0.01 degrees is the last one.
        device: "auto" (a GPU if one works, otherwise the CPU), "cpu", "cuda" or "cuda:N".
        threads: CPU threads, 1 to 1,024 (or the number of cores, if that is larger); by default every core.
        progress: called several times per round with the part of the work that is done, estimated, from 0 to 1.

    Returns:
        The mesh, with vertices in the order of the input, and a report. Attributes of moved vertices are interpolated
        at their new places.

    Raises:
        OptionError: an option that cannot be used; a negative number of rounds.
        WrongTypeError: `mesh` is not a Mesh.
        InvalidMeshError: no valid triangulation.
        DeviceUnavailableError: the requested device is not available.
        OutOfMemoryError: the device has too little memory; the input is untouched.
    """
    check_kind(mesh, Mesh, indices=False)  # the device checks the corners of triangles
    most = optimization_rounds(rounds, "rounds")
    started = time.perf_counter()
    opened = open_device(device, threads)
    opened.prepare(*ADMISSION, *OPTIMIZATION)
    with opened.lock, opened.current:
        state, warnings = admit(mesh, opened)
        epochs = Epochs()
        flipped = make_delaunay(state, epochs)
        if flipped:
            warnings.append(f"the mesh was not Delaunay: {flipped} edges were flipped first")
        warnings += border_warnings(mesh)
        limits = thresholds(RefineOptions(min_angle=0))
        space = Workspace(opened)
        quality = QualityCheck(state, space, limits, LocalBounds(), None, counts_shares=False)
        everything = space.array("fresh", state.slots, np.int32)
        opened.launch("fill_indices", state.slots, everything)
        quality.check(everything, state.slots)
        smoothing = optimize_mesh(state, quality, limits, epochs, keeps_input=False, rounds=most, report=progress)
        result = state.to_mesh(_with_vertices_of(state, mesh))
    record_refinement(result, mesh)
    return Optimization(
        mesh=result,
        smoothing=smoothing,
        device=opened.name if opened.threads else opened.description,
        threads=opened.threads,
        seconds=time.perf_counter() - started,
        warnings=tuple(warnings),
    )


def _with_vertices_of(state: DeviceMesh, mesh: Mesh) -> Mesh:
    """Returns the mesh with the places and attributes that its vertices have on the device."""
    order = state.order.download()
    arrays = {field.name: getattr(mesh, field.name) for field in fields(mesh)}
    arrays["vertices"] = np.empty_like(mesh.vertices)
    arrays["vertices"][order] = state.points[: state.vertices].download().view(np.float64).reshape(-1, 2)
    if state.attributes is not None:
        arrays["vertex_attributes"] = np.empty((state.vertices, state.width))
        arrays["vertex_attributes"][order] = (
            state.attributes[: state.vertices * state.width].download().reshape(-1, state.width)
        )
    return Mesh.sound(**arrays)
