"""Digests of arrays, meshes and graphs, and a summary of a refinement that must be the same on every device."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

import dmr
from static_graph import CsrGraph


def digest(*arrays: np.ndarray) -> str:
    """First 16 hexadecimal digits of the SHA-256 of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


def mesh_digest(mesh: dmr.Mesh) -> str:
    """Digest of a mesh's vertices, triangles, neighbours and segments."""
    return digest(mesh.vertices, mesh.triangles, mesh.neighbours, mesh.segments, mesh.segment_markers)


def graph_digest(graph: CsrGraph) -> str:
    """Digest of a graph's offsets, targets and weights."""
    return digest(*(array for array in (graph.offsets, graph.targets, graph.weights) if array is not None))


def result_summary(result: dmr.Refinement) -> tuple[Any, ...]:
    """Mesh digest, counts and history of a refinement: the same on every device, whoever drives the rounds."""
    history = [(r.attempted, r.inserted, r.lost, r.bad, r.triangles) for r in result.history]
    return mesh_digest(result.mesh), result.rounds, result.outcomes, result.steiner, result.unrefined, history
