"""Proves many results of one input in parallel, each in a separate process.

The processes are forked, so that meshes of gigabytes need not be copied. They use only numpy on the CPU, because a CUDA
context does not survive a fork.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

import dmr
from dmr.common.available import available_memory
from dmr.common.threads import available_threads
from dmr.errors import OutOfMemoryError

# Peak memory of a proof without the mesh itself; 140 were observed, for 1.5 and 3.1 million triangles.
BYTES_A_TRIANGLE = 200


@dataclass
class _Task:
    """Data that the forked processes inherit."""

    meshes: Mapping[str, dmr.Mesh] = field(default_factory=dict)
    given: dmr.Mesh | None = None
    min_angle: float = 0.0


_task = _Task()


def failures(mesh: dmr.Mesh, given: dmr.Mesh | None, min_angle: float) -> list[str]:
    """Failures that the exact checker finds in one result; empty if it is proved."""
    return [str(failure) for failure in dmr.validate(mesh, input=given, min_angle=min_angle).failures]


def prove(
    meshes: Mapping[str, dmr.Mesh],
    given: dmr.Mesh,
    min_angle: float,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, list[str]]:
    """Proves results of one input.

    Args:
        meshes: the results by their digests.
        given: the mesh that was refined.
        min_angle: the bound, in degrees.
        jobs: number of processes; by default one per core, or fewer if memory is short.
        progress: called after each proof with the number of those done.

    Returns:
        Failures by digest, an empty list where the mesh is proved.

    Raises:
        OutOfMemoryError: the system killed a process, as it does when memory runs out.
    """
    if not meshes:
        return {}
    largest = max(len(mesh.triangles) for mesh in meshes.values())
    fitting = available_memory() // (BYTES_A_TRIANGLE * largest + 2**26)
    workers = max(1, min(jobs or min(available_threads(), fitting), len(meshes)))
    _task.meshes, _task.given, _task.min_angle = meshes, given, min_angle
    # A garbage collection in a child must not free the parent's objects, which include device memory.
    gc.collect()
    gc.freeze()
    found: dict[str, list[str]] = {}
    try:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
            waiting = {pool.submit(_prove, name): name for name in meshes}
            for done in as_completed(waiting):
                found[waiting[done]] = done.result()
                if progress is not None:
                    progress(len(found))
    except BrokenProcessPool:
        raise OutOfMemoryError(
            f"a process that proved a result was killed, as happens when memory runs out: {workers} ran in parallel; "
            "ask for fewer with --jobs"
        ) from None
    finally:
        gc.unfreeze()
        _task.meshes, _task.given = {}, None
    return found


def _prove(name: str) -> list[str]:
    return failures(_task.meshes[name], _task.given, _task.min_angle)
