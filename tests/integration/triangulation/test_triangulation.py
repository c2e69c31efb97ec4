"""`dmr.triangulate`: markers, options, errors with file and line, determinism, and hard input."""

from __future__ import annotations

import hashlib
import logging
import subprocess
import sys
from time import process_time

import numpy as np
import pytest

import dmr
from dmr import Pslg, io
from dmr.cli import main
from dmr.errors import InvalidMeshError, OptionError
from tests.support.paths import ROOT
from tests.support.planar import edge_set, triangle_set

ISSUES = ROOT.parent / "shared" / "hard_meshes"
SQUARE = [[0, 0], [8, 0], [8, 8], [0, 8]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


# ---- Markers -------------------------------------------------------------------------------------------------------


def test_markers_follow_triangles_rule():
    """Boundary pieces without a marker have 1; a vertex its own, else a segment's, else 1 on the boundary."""
    domain = Pslg(
        [*SQUARE, [4, 4], [6, 4], [2, 2]],
        [*RING, [4, 5]],
        segment_markers=[0, 7, 0, -3, 0],
        vertex_markers=[0, 0, 9, 0, 0, 0, 0],
    )
    mesh = dmr.triangulate(domain)
    found = dict(zip(map(tuple, mesh.segments.tolist()), mesh.segment_markers.tolist(), strict=True))
    assert found == {(0, 1): 1, (1, 2): 7, (2, 3): 1, (3, 0): -3, (4, 5): 0}
    assert mesh.vertex_markers.tolist() == [-3, 7, 9, -3, 0, 0, 0]


def test_default_vertex_markers():
    mesh = dmr.triangulate(Pslg([*SQUARE, [4, 4], [5, 5]], [*RING, [4, 5]]))
    assert mesh.vertex_markers.tolist() == [1, 1, 1, 1, 0, 0]
    assert mesh.segment_markers.tolist() == [1, 1, 1, 1, 0]


def test_markers_on_the_boundary_of_a_hole():
    inner = [[3, 3], [5, 3], [5, 5], [3, 5]]
    domain = Pslg(
        [*SQUARE, *inner], [*RING, [4, 5], [5, 6], [6, 7], [7, 4]], holes=[[4, 4]], segment_markers=[2] * 4 + [0] * 4
    )
    mesh = dmr.triangulate(domain)
    assert mesh.segment_markers.tolist() == [2] * 4 + [1] * 4
    assert mesh.vertex_markers.tolist() == [2] * 4 + [1] * 4
    filled = dmr.triangulate(Pslg(domain.vertices, domain.segments, segment_markers=domain.segment_markers))
    assert filled.segment_markers.tolist() == [2] * 4 + [0] * 4


def test_convex_hull_edges_are_boundary_but_not_segments():
    mesh = dmr.triangulate(Pslg([*SQUARE, [4, 4], [4, 0]], [[0, 2]]), convex_hull=True)
    assert edge_set(mesh.segments) == {(0, 4), (2, 4)}
    assert mesh.vertex_markers.tolist() == [1, 1, 1, 1, 0, 1]
    assert mesh.segment_markers.tolist() == [0, 0]


def test_duplicate_vertices_share_a_marker():
    domain = Pslg([*SQUARE, [8, 0], [0, 0], [0, 0]], RING, vertex_markers=[0, 0, 0, 0, 5, 6, 7])
    assert dmr.triangulate(domain).vertex_markers.tolist() == [6, 5, 1, 1, 5, 6, 7]


def test_a_crossing_has_the_first_nonzero_marker():
    domain = Pslg(SQUARE, [*RING, [0, 2], [1, 3]], segment_markers=[0, 0, 0, 0, 0, 6])
    assert dmr.triangulate(domain).vertex_markers.tolist() == [1, 6, 1, 6, 6]


# ---- Options and errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", [{"on_conflict": "ignore"}, {"mesher": "gmsh"}])
def test_an_unknown_option_is_refused(option):
    with pytest.raises(OptionError, match=f"{next(iter(option))} .*'{next(iter(option.values()))}'"):
        dmr.triangulate(Pslg(SQUARE, RING), **option)


@pytest.mark.parametrize("place", [(1e70, 0), (0, 1e-50)])
def test_coordinates_out_of_range_name_the_vertex(place):
    with pytest.raises(InvalidMeshError, match="outside the range") as caught:
        dmr.triangulate(Pslg([*SQUARE, place], RING))
    assert (caught.value.element, caught.value.index) == ("vertex", 4)


POLY = """\
# a square, cracks, holes and regions
8 2 0 0
1 0 0
2 8 0
3 8 8
4 0 8
5 2 2
6 6 6
7 2 6
8 6 2
6 0
1 1 2
2 2 3

3 3 4
4 4 1
5 5 6
# the next one crosses it
6 7 8
2
1 {hole}
2 4 5
# regions
2
1 {first} 1 0.5
2 {second} 2 0.5
"""


@pytest.mark.parametrize(
    ("holes_and_regions", "options", "line", "sentence"),
    [
        (("1 1", "3 4", "7 4"), ["--on-conflict", "error"], 17, "segment 5: crosses segment 6, at (4, 4)"),
        (("9 1", "3 4", "7 4"), [], 21, "hole 1: its point (9, 1)"),
        (("4 4", "3 4", "7 4"), [], 21, "hole 1: its point (4, 4)"),
    ],
)  # fmt: skip
def test_the_command_line_names_file_and_line(tmp_path, capsys, holes_and_regions, options, line, sentence):
    hole, first, second = holes_and_regions
    file = tmp_path / "a.poly"
    file.write_text(POLY.format(hole=hole, first=first, second=second))
    assert main(["refine", str(file), *options]) == 1
    assert f"a.poly:{line}: {sentence}" in capsys.readouterr().err


def test_the_command_line_names_the_line_of_a_region(tmp_path, capsys):
    file = tmp_path / "a.poly"
    text = POLY.format(hole="9 9", first="3 4", second="7 4")
    holes = "2\n1 9 9\n2 4 5\n"
    assert holes in text
    file.write_text(text.replace(holes, "0\n"))
    assert main(["refine", str(file)]) == 1
    assert "a.poly:24: region 2: lies in the same part of the domain as region 1" in capsys.readouterr().err


# ---- The same bits every time --------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, numpy, dmr
random = numpy.random.default_rng(7)
vertices = numpy.concatenate([random.random((3000, 2)), random.integers(0, 9, (200, 2)) / 9])
domain = dmr.Pslg(vertices, random.integers(0, 3200, (300, 2)), segment_markers=random.integers(0, 3, 300))
mesh = dmr.triangulate(domain, convex_hull=True)
arrays = (mesh.vertices, mesh.triangles, mesh.segments, mesh.segment_markers, mesh.vertex_markers)
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.mark.slow
def test_two_processes_make_the_same_bits():
    outputs = {
        subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1
    assert len(outputs.pop().strip()) == hashlib.sha256().digest_size * 2


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_segments_changes_only_the_numbering(seed):
    """The same domain, pieces and new vertices, in another order."""
    random = np.random.default_rng(seed)
    vertices = random.random((60, 2))
    segments = random.integers(0, 60, (40, 2))
    order = random.permutation(40)

    def places(mesh):
        corners = {tuple(sorted(map(tuple, mesh.vertices[t].tolist()))) for t in mesh.triangles}
        ends = {tuple(sorted(map(tuple, mesh.vertices[pair].tolist()))) for pair in mesh.segments}
        return corners, ends

    one, other = (
        dmr.triangulate(Pslg(vertices, chosen), convex_hull=True) for chosen in (segments, segments[order])
    )  # fmt: skip
    assert len(one.vertices) > 150
    assert places(one) == places(other)


def test_the_input_is_not_changed():
    vertices, segments = np.array(SQUARE, float), np.array([*RING, [0, 2], [1, 3]], np.int32)
    before = vertices.copy(), segments.copy()
    dmr.triangulate(Pslg(vertices, segments))
    assert np.array_equal(vertices, before[0]) and np.array_equal(segments, before[1])


# ---- Hard input, in little time ------------------------------------------------------------------------------------


def lines(count, random):
    k = np.arange(count)
    return np.stack([k, k + count], axis=1), random.random((2 * count, 2))


def hatching(count):
    """Slanted parallel lines, one after another, and one that crosses them all."""
    k = np.arange(count)
    left, right = (np.stack([np.full(count, x), k / count + 0.7 * x], axis=1) for x in (0.0, 1.0))
    segments = np.stack([k, k + count], axis=1)
    return Pslg(np.concatenate([left, right, [[0.5, -1], [0.5, 3]]]), [[2 * count, 2 * count + 1], *segments])


def nested(count):
    """Segments on one line, each within the one before."""
    k = np.arange(count)
    line = np.stack([np.arange(2 * count), np.zeros(2 * count)], axis=1)
    return Pslg([*line, [0, 1]], np.stack([k, 2 * count - 1 - k], axis=1))


def comb(count):
    """A polygon of long teeth."""
    k = np.arange(count)
    teeth = np.stack([k / count, np.where(k % 2, 1.0, 0.0)], axis=1)
    k = np.arange(count + 2)
    return Pslg([*teeth, [1, -1], [0, -1]], np.stack([k, (k + 1) % (count + 2)], axis=1))


def hub(count):
    angle = np.arange(count) * 2 * np.pi / count
    spokes = np.stack([np.zeros(count, int), np.arange(1, count + 1)], axis=1)
    return Pslg([[0, 0], *np.stack([np.cos(angle), np.sin(angle)], axis=1)], spokes)


def long_segments(count):
    """Fifty lines each way across a cloud of points."""
    random = np.random.default_rng(1)
    k = np.arange(50)
    ends = np.stack([np.full(50, -0.1), k / 50 + 1e-3], axis=1)
    across = [ends, np.add(ends, (1.2, 1e-4))]
    points = [random.random((count, 2)), *across, *(end[:, ::-1] for end in across)]
    ways = [np.stack([k, k + 50], axis=1), np.stack([k + 100, k + 150], axis=1)]
    return Pslg(np.concatenate(points), np.concatenate(ways) + count)


def chords(count):
    random = np.random.default_rng(1)
    return Pslg(random.random((2 * count, 2)), np.arange(2 * count).reshape(count, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "count", "seconds"),
    [
        (hatching, 4000, 2),  # was: 22 seconds
        (nested, 2000, 3),  # was: 10 seconds and half a GiB
        (comb, 50_000, 2),
        (hub, 20_000, 2),
        (long_segments, 100_000, 3),
        (chords, 500, 2),
    ],
)
def test_hard_outlines_take_less_than_seconds(make, count, seconds):
    """The limit is generous: it detects quadratic costs, not small changes."""
    domain = make(count)
    started = process_time()
    mesh = dmr.triangulate(domain, convex_hull=True)
    assert process_time() - started < 5 * seconds
    assert np.array_equal(mesh.vertices[: len(domain.vertices)], domain.vertices)
    assert dmr.validate(mesh).ok


@pytest.mark.parametrize("factor", [2.0**-86, 2.0**199])
def test_scaling_by_a_power_of_two_changes_nothing(factor):
    """To both ends of the range of coordinates."""
    random = np.random.default_rng(3)
    vertices, segments = random.integers(-8, 9, (60, 2)) / 4, random.integers(0, 60, (30, 2))
    one = dmr.triangulate(Pslg(vertices, segments), convex_hull=True)
    other = dmr.triangulate(Pslg(vertices * factor, segments), convex_hull=True)
    assert len(one.vertices) > 100
    assert np.array_equal(one.vertices * factor, other.vertices)
    assert np.array_equal(one.triangles, other.triangles)


@pytest.mark.slow
def test_the_hard_collection_is_triangulated_or_refused_with_a_reason(caplog):
    """Outlines on which other meshers crash, hang or fail."""
    if not ISSUES.exists():
        pytest.skip("shared/hard_meshes is not here")
    caplog.set_level(logging.CRITICAL, "dmr")
    meshed = 0
    for path in sorted(ISSUES.rglob("*.poly")):
        try:
            domain = io.read(path)
            if not isinstance(domain, Pslg) or len(domain.vertices) > 20_000:
                continue
            mesh = dmr.triangulate(domain)
        except dmr.DmrError as error:
            assert str(error)
            continue
        meshed += 1
        assert dmr.validate(mesh).ok, path
        assert triangle_set(mesh.triangles) == triangle_set(dmr.triangulate(domain).triangles)
    assert meshed > 20
