"""The grouped order of bad triangles, for refinements of very many rounds.

Shortest edges first is a strict order: in some meshes, so few of the triangles that are left compete that a round
inserts one or two points. After STRICT_ROUNDS rounds, edges of nearly the same length are therefore ordered by the
cells of a grid (cuda_src/refine/quality/urgency.cuh).
"""

from __future__ import annotations

from dataclasses import replace

from dmr.refinement.rounds.work import Work
from dmr.refinement.state.progress import UNBOUNDED

STRICT_ROUNDS = 128


def strict_rounds_left(work: Work) -> int:
    """Returns how many rounds may still run before the order changes."""
    return UNBOUNDED if work.limits.grouped else STRICT_ROUNDS - work.statistics.rounds


def grouped(work: Work) -> Work:
    """Returns the work in the grouped order, for listed triangles and for new ones."""
    limits = replace(work.limits, grouped=1)
    if not limits.worst_first:
        listed = work.bad.buffers[work.bad.buffer]
        work.state.device.launch("group_listed", work.bad.count, work.state.view, listed)
    return work.with_limits(limits)
