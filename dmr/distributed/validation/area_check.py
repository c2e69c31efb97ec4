"""The check of a part against the area limits of regions, which only the union knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dmr.common.threads import thread_count
from dmr.distributed.jobs.folder import Folder
from dmr.distributed.jobs.task import Resources
from dmr.distributed.output.part import Part
from dmr.distributed.validation.findings import OwnFindings, Summary, numbered, renumbered, summary
from dmr.exact import Points
from dmr.validation.arrays.pieces import Workers
from dmr.validation.bounds.sizes import check_areas


def check_region_limits(inputs: Sequence[Folder], out: Folder, resources: Resources, *, file: str) -> Summary:
    """Checks that no triangle of a part exceeds the area limit of its region, except for excused triangles.

    Args:
        inputs: the outputs of `check_part` for the part, and of `check_union`. out, resources: as for all tasks; the
            output has no arrays.
        file: of the part.
    """
    part = Part.read(Path(file))
    labels, limits = inputs[1]["faces"], inputs[1]["limits"]
    own = np.full(len(part.mesh.triangles), np.inf)
    own[: part.own] = limits[np.searchsorted(labels, inputs[0]["faces"])]
    own[inputs[0]["excused"]] = np.inf
    findings = OwnFindings(part.own)
    findings.start("region areas")
    points = Points(part.mesh.vertices, Workers(thread_count(resources.threads)).map)
    with numbered(part.numbers, part.triangle_numbers):
        check_areas("region areas", part.mesh, points, own, findings)
    return summary(renumbered(findings, part.numbers, part.triangle_numbers))
