"""Vertex markers: each must be the one that docs/reference/guarantees.md defines."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import dmr
from dmr.cli import main
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.checker import validate

# A square; a divider that meets two of its sides; a cross, one of whose bars has no marker; segments that overlap,
# the first of them without a marker; a hole whose sides have the markers 0, 1 and 6; a vertex that is given twice.
VERTICES = [
    [0, 0], [10, 0], [10, 10], [0, 10],
    [5, 0], [5, 10],
    [1, 1], [4, 4], [1, 4], [4, 1],
    [6, 6], [9, 6], [7, 6], [8, 6],
    [6, 1], [9, 1], [7.5, 3],
    [5, 10], [7.5, 8.5],
]  # fmt: skip
SEGMENTS = [
    [4, 0], [4, 1], [1, 2], [2, 17], [5, 3], [3, 0],
    [4, 5],
    [6, 7], [8, 9],
    [10, 13], [12, 11], [10, 11],
    [14, 15], [15, 16], [16, 14],
]  # fmt: skip
MARKERS = [2, 0, 4, 1, 0, 3, 7, 8, 0, 0, 12, 11, 0, 1, 6]
GIVEN = [0, 0, 21, 0, 0, 0, 0, 22, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 24]
PLAIN = Pslg(VERTICES, SEGMENTS, holes=[[7.5, 2]], segment_markers=MARKERS)
MARKED = replace(PLAIN, vertex_markers=GIVEN)
GRAPHS = {"no markers of vertices": PLAIN, "some markers of vertices": MARKED}


def through(mesh: Mesh, pslg: Pslg, vertex: int) -> list[int]:
    """The numbers of the segments that a vertex lies on, in double precision."""
    found = []
    for i, (a, b) in enumerate(pslg.vertices[pslg.segments]):
        d, e = b - a, mesh.vertices[vertex] - a
        if abs(d[0] * e[1] - d[1] * e[0]) < 1e-12 and -1e-12 <= d @ e <= d @ d + 1e-12:
            found.append(i)
    return found


def others(mesh: Mesh, pslg: Pslg) -> dict[int, set[int]]:
    """Wrong but plausible markers of each used vertex."""
    result = {}
    for vertex in np.unique(mesh.triangles).tolist():
        near = {MARKERS[i] for i in through(mesh, pslg, vertex)} | {0, 1}
        result[vertex] = near - {int(mesh.vertex_markers[vertex])}
    return result


def assert_all_others_are_refused(mesh: Mesh, pslg: Pslg, **how) -> None:
    """Every vertex at once has each of the markers that are not its own, and fails with both numbers."""
    wrong = others(mesh, pslg)
    for turn in range(max(map(len, wrong.values()))):
        markers = mesh.vertex_markers.copy()
        for vertex, values in wrong.items():
            markers[vertex] = sorted(values)[turn % len(values)]
        report = validate(replace(mesh, vertex_markers=markers), input=pslg, **how)
        assert report.counts == {"vertex markers": len(wrong)}
        for failure in report.failures:
            found, wanted = map(int, re.search(r"has the marker (\d+), and must have (\d+)", failure.message).groups())
            assert (found, wanted) == (markers[failure.index], mesh.vertex_markers[failure.index])


@pytest.mark.parametrize("mesher", ["dmr", "triangle"])
@pytest.mark.parametrize("hull", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_triangulations_have_the_guaranteed_markers(name, hull, mesher):
    pslg = GRAPHS[name]
    if mesher == "triangle":
        pytest.importorskip("triangle")
        # Triangle takes no vertex twice.
        segments = np.where(pslg.segments == 17, 5, pslg.segments)
        markers = None if pslg.vertex_markers is None else np.delete(pslg.vertex_markers, 17)
        pslg = replace(
            pslg,
            vertices=np.delete(pslg.vertices, 17, axis=0),
            segments=segments,
            vertex_markers=markers,
            vertex_attributes=None,
        )
    mesh = dmr.triangulate(pslg, convex_hull=hull, mesher=mesher)
    assert validate(mesh, input=pslg, convex_hull=hull).ok
    markers = mesh.vertex_markers.tolist()
    given = pslg.vertex_markers is not None
    assert markers[:6] == [2, 4, 21 if given else 4, 3, 2, 23 if given and mesher == "dmr" else 1]
    assert markers[6:10] == [8, 22 if given else 8, 0, 0]
    assert markers[10:14] == [11, 12, 12, 12]
    assert markers[14:17] == [6, 1, 1]
    assert markers[-1] == 8  # the crossing
    assert_all_others_are_refused(mesh, pslg, convex_hull=hull)


@pytest.mark.parametrize("options", [{}, {"conforming": True}, {"convex_hull": True}, {"max_area": 0.3}])
def test_refinement_keeps_markers_on_split_segments(options):
    fine = dmr.refine(MARKED, min_angle=25, device="cpu", threads=1, **options).mesh
    hull = {"convex_hull": True} if "convex_hull" in options else {}
    assert len(fine.vertices) > len(VERTICES) + 1
    assert validate(fine, input=MARKED, min_angle=25, **hull).ok
    assert_all_others_are_refused(fine, MARKED, **hull)


def test_markers_from_file_to_file(tmp_path, capsys):
    """From a .poly file by way of the command line to a .node file, also of second order."""
    dmr.write(tmp_path / "domain.poly", MARKED)
    for order in ("1", "2"):
        out = tmp_path / f"fine{order}.ele"
        arguments = ["refine", str(tmp_path / "domain.poly"), "-o", str(out), "--order", order, "--device", "cpu"]
        assert main([*arguments, "--threads", "1", "--quiet"]) == 0
        check = ["validate", str(out), "--input", str(tmp_path / "domain.poly"), "--min-angle", "30"]
        assert main(check) == 0
        assert "ok  vertex markers" in capsys.readouterr().out
        # The first vertex, at a corner with the sides 0 and 5, gets the marker of the other one.
        node = out.with_suffix(".node")
        lines = node.read_text().splitlines()
        first = next(i for i, line in enumerate(lines[1:], 1) if not line.startswith("#"))
        assert lines[first].split()[-1] == "2"
        lines[first] = lines[first].rsplit(maxsplit=1)[0] + " 3"
        node.write_text("\n".join(lines) + "\n")
        assert main(check) == 5
        said = capsys.readouterr().out
        assert "has the marker 3, and must have 2, that of input segment" in said


def test_overlapping_segments_have_the_first_nonzero_marker():
    """Edges that segments share go to the first with a marker, also where a later one comes upon the edge first."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        spots = np.concatenate([[[0, 0], [9, 0], [9, 3], [0, 3]], [[x, 1] for x in range(1, 9)]])
        lines = np.sort([4 + rng.choice(8, 2, replace=False) for _ in range(5)], axis=1)
        pslg = Pslg(
            spots,
            np.concatenate([[[0, 1], [1, 2], [2, 3], [3, 0]], lines]),
            segment_markers=[1, 1, 1, 1, *rng.choice([0, 5, 6, 7], 5)],
        )
        mesh = dmr.triangulate(pslg)
        assert validate(mesh, input=pslg).ok
        for vertex in range(4, 12):
            x = spots[vertex, 0]
            first = [
                m
                for (u, v), m in zip(lines, pslg.segment_markers[4:], strict=True)
                if spots[u, 0] <= x <= spots[v, 0] and m
            ]
            assert mesh.vertex_markers[vertex] == (first[0] if first else 0)
        for (u, v), marker in zip(mesh.segments, mesh.segment_markers, strict=True):
            if min(u, v) >= 4:
                low, high = sorted((spots[u, 0], spots[v, 0]))
                first = [
                    m
                    for (a, b), m in zip(lines, pslg.segment_markers[4:], strict=True)
                    if spots[a, 0] <= low and high <= spots[b, 0] and m
                ]
                assert marker == (first[0] if first else 0)
