"""`dmr triangle` against Shewchuk's Triangle: the same files, counts and markers, and the same mesh where it is unique.

The oracle is the `triangle` package, in a separate process and on domains that it handles safely: general position,
so that the constrained Delaunay triangulation is unique.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from dmr import io
from dmr.mesh.shapes import min_angles
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.checker import validate
from tests.support.command_line import dmr, fails

pytest.importorskip("triangle")

ORACLE = """
import sys, numpy, triangle
with numpy.load(sys.argv[1]) as given:
    numpy.savez(sys.argv[2], **triangle.triangulate(dict(given), sys.argv[3]))
"""
SWITCHES_OF_LISTS = {"e": ".edge", "n": ".neigh", "v": ".v.node", "g": ".off"}


def shewchuk(folder, switches, **given):
    """Output of the real Triangle for arrays."""
    there, back = folder / "given.npz", folder / "made.npz"
    np.savez(there, **{name: array for name, array in given.items() if array is not None and len(array)})
    subprocess.run([sys.executable, "-c", ORACLE, there, back, switches], check=True, timeout=60)
    with np.load(back) as made:
        result = dict(made)
    there.unlink()
    back.unlink()
    return result


def plate(seed=5, points=60):
    """A square with a square hole, a line that cuts it in two regions, loose points, and two vertices in the hole."""
    ring = [[0, 0], [10, 0.25], [10.5, 10], [-0.125, 9.5]]
    hole = [[2, 2], [3.5, 2.25], [3.25, 3.75], [2.125, 3.5]]
    eaten = [[2.75, 3], [2.5, 2.75]]
    inner = np.random.default_rng(seed).uniform(0.5, 9.25, (points, 2))
    inner = inner[((inner < 1.75) | (inner > 4)).any(axis=1)]
    segments = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [1, 3]]
    return Pslg(
        np.vstack([ring, hole, eaten, inner]),
        segments,
        holes=[[2.9, 2.9]],
        regions=[[0.5, 0.5, 7, 0.5], [10, 9.5, -3, 1.5]],
        segment_markers=[5, 0, 0, 2, 0, 4, 0, 0, 9],
        vertex_markers=[0] * 9 + [11] + [0] * len(inner),
        vertex_attributes=np.arange(10.0 + len(inner))[:, None],
    )


def given(pslg):
    return {
        "vertices": pslg.vertices,
        "segments": pslg.segments,
        "holes": pslg.holes,
        "segment_markers": pslg.segment_markers,
        "vertex_markers": pslg.vertex_markers,
        "vertex_attributes": pslg.vertex_attributes,
    }


@pytest.fixture
def folder(folder):
    """A folder with a domain in it, A.poly, as the working directory. Its numbers start at 1."""
    io.write("A.poly", plate(), base=1)
    return folder


def new_names(folder, before=("A.poly",)):
    return sorted(path.name for path in folder.iterdir() if path.name not in before)


def header(path):
    return [int(field) for field in path.read_text().split("\n", 1)[0].split()]


def section_headers(path):
    """The headers of a .poly file whose vertices are elsewhere: segments, holes, and regions if any."""
    lines = [line.split() for line in path.read_text().splitlines()]
    headers, row = [], 1
    while row < len(lines):
        headers.append([int(field) for field in lines[row]])
        row += headers[-1][0] + 1
    return headers


def same_triangles(ours, theirs):
    """For each of our triangles the index of the same triangle among theirs, up to rotation of its corners."""

    def turned(triangles):
        first = triangles.argmin(axis=1)
        return np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1).tolist()

    places = {tuple(corners): k for k, corners in enumerate(turned(theirs))}
    assert len(places) == len(theirs) == len(ours)
    return np.array([places[tuple(corners)] for corners in turned(ours)])


def edge_table(edges, markers):
    """Edges by their ends, with their markers."""
    return {
        tuple(sorted(edge)): marker for edge, marker in zip(edges.tolist(), np.ravel(markers).tolist(), strict=True)
    }


# ---- Without refinement the mesh is the same one ----------------------------------------------------------------


def test_p_gives_triangles_mesh_and_markers(folder, capsys):
    assert dmr(capsys, "triangle", "-p", "A")[0] == 0
    theirs = shewchuk(folder, "p", **given(plate()))
    assert new_names(folder) == ["A.1.ele", "A.1.node", "A.1.poly"]
    assert header(folder / "A.1.node") == [len(theirs["vertices"]), 2, 1, 1]
    assert header(folder / "A.1.ele") == [len(theirs["triangles"]), 3, 0]
    assert section_headers(folder / "A.1.poly") == [[len(theirs["segments"]), 1], [1]]
    ours = io.read("A.1.ele")
    assert (folder / "A.1.node").read_text().splitlines()[1].split()[0] == "1"
    assert np.array_equal(ours.vertices, theirs["vertices"])
    assert np.array_equal(ours.vertex_attributes, theirs["vertex_attributes"])
    same_triangles(ours.triangles, theirs["triangles"])
    assert edge_table(ours.segments, ours.segment_markers) == edge_table(theirs["segments"], theirs["segment_markers"])
    # Where several segments with markers meet, Triangle takes any of them; see below for where they meet others.
    rest = np.delete(np.arange(len(ours.vertices)), [1, 3, 5])
    assert np.array_equal(ours.vertex_markers[rest], theirs["vertex_markers"].ravel()[rest])
    assert {ours.vertex_markers[1], theirs["vertex_markers"][1, 0]} <= {5, 9}


def test_a_segment_with_a_marker_goes_before_a_boundary_without(folder, capsys):
    assert dmr(capsys, "triangle", "-p", "A")[0] == 0
    theirs = shewchuk(folder, "p", **given(plate()))
    ours, theirs = io.read("A.1.ele").vertex_markers, theirs["vertex_markers"].ravel()
    assert ours[5] == theirs[5] == 4
    assert {ours[3], theirs[3]} <= {2, 9}


def test_regions_give_attributes_with_a_capital_a(folder, capsys):
    assert dmr(capsys, "triangle", "-pA", "A.poly")[0] == 0
    theirs = shewchuk(folder, "pA", regions=plate().regions, **given(plate()))
    ours = io.read("A.1.ele")
    assert header(folder / "A.1.ele") == [len(theirs["triangles"]), 3, 1]
    assert section_headers(folder / "A.1.poly") == [[len(theirs["segments"]), 1], [1], [2]]
    places = same_triangles(ours.triangles, theirs["triangles"])
    assert np.array_equal(ours.triangle_attributes, theirs["triangle_attributes"][places])
    assert set(ours.triangle_attributes.ravel()) == {7, -3}


def test_a_capital_a_without_regions_gives_zeros(folder, capsys):
    bare = plate()
    io.write("A.poly", Pslg(bare.vertices, bare.segments, holes=bare.holes))
    assert dmr(capsys, "triangle", "-pA", "A")[0] == 0
    assert header(folder / "A.1.ele")[2] == 1
    assert not io.read("A.1.ele").triangle_attributes.any()


def test_edges_and_neighbours(folder, capsys):
    assert dmr(capsys, "triangle", "-pen", "A")[0] == 0
    theirs = shewchuk(folder, "pen", **given(plate()))
    assert new_names(folder) == ["A.1.edge", "A.1.ele", "A.1.neigh", "A.1.node", "A.1.poly"]
    assert header(folder / "A.1.edge") == [len(theirs["edges"]), 1]
    assert header(folder / "A.1.neigh") == [len(theirs["triangles"]), 3]
    assert edge_table(*io.read_edges("A.1.edge")) == edge_table(theirs["edges"], theirs["edge_markers"])
    ours, neighbours = io.read("A.1.ele"), io.read_neighbours("A.1.neigh")
    places = same_triangles(ours.triangles, theirs["triangles"])
    ranks = np.append(places, -1)  # -1 is kept
    for k in range(len(neighbours)):
        assert set(ranks[neighbours[k]]) == set(theirs["neighbors"][places[k]])


def test_j_drops_unused_vertices(folder, capsys):
    assert dmr(capsys, "triangle", "-pj", "A")[0] == 0
    theirs = shewchuk(folder, "pj", **given(plate()))
    ours = io.read("A.1.ele")
    assert len(ours.vertices) == len(plate().vertices) - 2
    assert np.array_equal(ours.vertices, theirs["vertices"])
    same_triangles(ours.triangles, theirs["triangles"])
    assert edge_table(ours.segments, ours.segment_markers) == edge_table(theirs["segments"], theirs["segment_markers"])
    assert 11 not in ours.vertex_markers  # that vertex lay in the hole


def test_c_meshes_the_hull_and_lists_its_edges(folder, capsys):
    bare = plate()
    io.write("A.poly", Pslg(bare.vertices, bare.segments[4:], holes=bare.holes), base=1)
    assert dmr(capsys, "triangle", "-pc", "A")[0] == 0
    theirs = shewchuk(folder, "pc", vertices=bare.vertices, segments=bare.segments[4:], holes=bare.holes)
    ours = io.read("A.1.ele")
    same_triangles(ours.triangles, theirs["triangles"])
    assert edge_table(ours.segments, ours.segment_markers) == edge_table(theirs["segments"], theirs["segment_markers"])
    assert np.array_equal(ours.vertex_markers, theirs["vertex_markers"].ravel())


def test_o2_adds_the_midpoints(folder, capsys):
    assert dmr(capsys, "triangle", "-po2", "A")[0] == 0
    theirs = shewchuk(folder, "po2", **given(plate()))
    assert header(folder / "A.1.node") == [len(theirs["vertices"]), 2, 1, 1]
    assert header(folder / "A.1.ele") == [len(theirs["triangles"]), 6, 0]
    nodes = np.array([line.split() for line in (folder / "A.1.node").read_text().splitlines()[1:]], float)
    elements = np.array([line.split() for line in (folder / "A.1.ele").read_text().splitlines()[1:]], int)[:, 1:] - 1
    corners, middles = nodes[elements[:, :3], 1:3], nodes[elements[:, 3:], 1:3]
    assert np.allclose(middles, (corners[:, [1, 2, 0]] + corners[:, [2, 0, 1]]) / 2, rtol=1e-15)

    def markers(points, values):
        return {(x, y): marker for (x, y), marker in zip(points.tolist(), values.tolist(), strict=True)}

    n = len(plate().vertices)
    assert markers(nodes[n:, 1:3], nodes[n:, -1]) == markers(
        theirs["vertices"][n:], theirs["vertex_markers"][n:].ravel()
    )


def test_v_and_g_write_the_dual_and_an_off_file(folder, capsys):
    code, _, err = dmr(capsys, "triangle", "-pvge", "A")
    assert (code, err.count("warning")) == (0, 0)
    theirs = shewchuk(folder, "pe", **given(plate()))
    m, e = len(theirs["triangles"]), len(theirs["edges"])
    assert header(folder / "A.1.v.node") == [m, 2, 0, 0]
    assert header(folder / "A.1.v.edge") == [e, 0]
    lines = [line for line in (folder / "A.1.off").read_text().splitlines() if line and not line.startswith("#")]
    assert (lines[0], lines[1].split()[:2]) == ("OFF", [str(len(theirs["vertices"])), str(m)])
    assert np.array_equal(io.read("A.1.off").triangles, io.read("A.1.ele").triangles)


def test_points_alone_are_triangulated(folder, capsys):
    points = plate().vertices
    markers = np.arange(len(points)) % 3
    rows = [f"{k + 1} {x!r} {y!r} {m}" for k, ((x, y), m) in enumerate(zip(points.tolist(), markers, strict=True))]
    (folder / "dots.node").write_text("\n".join([f"{len(points)} 2 0 1", *rows, ""]))
    assert dmr(capsys, "triangle", "dots")[0] == 0
    theirs = shewchuk(folder, "", vertices=points, vertex_markers=markers)
    assert new_names(folder, ("A.poly", "dots.node")) == ["dots.1.ele", "dots.1.node"]
    ours = io.read("dots.1.ele")
    same_triangles(ours.triangles, theirs["triangles"])
    assert np.array_equal(ours.vertex_markers, theirs["vertex_markers"].ravel())
    assert dmr(capsys, "triangle", "-c", "dots.node")[0] == 0
    hull = shewchuk(folder, "c", vertices=points)
    ours = io.read("dots.1.ele")
    assert set(edge_table(ours.segments, ours.segment_markers)) == {
        *edge_table(hull["segments"], hull["segment_markers"])
    }


# ---- With refinement it is as good, and about as large -----------------------------------------------------------


@pytest.mark.parametrize("switches", ["pq", "pq25a0.2", "pqa", "pAa", "pqD", "pa3e-1q28.5"])
def test_refined_meshes_are_as_good_and_as_large(folder, capsys, switches):
    assert dmr(capsys, "triangle", f"-{switches}", "A")[0] == 0
    pslg, ours = plate(), io.read("A.1.ele")
    theirs = shewchuk(folder, switches.replace("a3e-1", "a0.3"), regions=pslg.regions, **given(pslg))
    assert 0.75 < len(ours.triangles) / len(theirs["triangles"]) < 1.3
    assert header(folder / "A.1.ele")[1:] == [3, int("A" in switches)]
    assert new_names(folder) == ["A.1.ele", "A.1.node", "A.1.poly"]
    assert np.array_equal(ours.vertices[: len(pslg.vertices)], pslg.vertices)
    angle = {"pq": 20, "pq25a0.2": 25, "pqa": 20, "pqD": 20, "pa3e-1q28.5": 28.5}.get(switches, 0)
    area = {"pq25a0.2": 0.2, "pa3e-1q28.5": 0.3}.get(switches)
    assert validate(ours, min_angle=angle, max_area=area).ok
    # The corner of 44 degrees may force one smaller angle, of arctan(sin 44 / (2 - cos 44)).
    smallest, next_one = np.sort(min_angles(ours))[:2]
    assert next_one >= angle * (1 - 1e-12) and smallest >= min(angle, 28.4)
    if switches in ("pqa", "pAa"):
        x, y = ours.vertices[ours.triangles].transpose(2, 0, 1)
        areas = 0.5 * np.abs((x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0]))
        (x1, y1), (x3, y3) = pslg.vertices[[1, 3]]
        below = (x3 - x1) * (y.mean(axis=1) - y1) - (y3 - y1) * (x.mean(axis=1) - x1) > 0
        assert areas[below].max() <= 0.5 < areas[~below].max() <= 1.5
    # New points on a segment have its marker, others on the boundary 1, the rest 0.
    implied = {vertex: {0} for vertex in range(len(ours.vertices))}
    for (u, v), marker in edge_table(ours.segments, ours.segment_markers).items():
        for end in (u, v):
            implied[end] = implied[end] - {0} | {marker}
    for vertex in range(len(pslg.vertices), len(ours.vertices)):
        assert ours.vertex_markers[vertex] in implied[vertex]


@pytest.mark.parametrize("keep", ["Y", "YY"])
def test_y_splits_no_segment(folder, capsys, keep):
    assert dmr(capsys, "triangle", f"-pqa0.2{keep}", "A")[0] == 0
    theirs = shewchuk(folder, f"pqa0.2{keep}", **given(plate()))
    ours = io.read("A.1.ele")
    on_boundary = {tuple(sorted(ends)) for ends in plate().segments[:8].tolist()}
    assert on_boundary <= {tuple(sorted(ends)) for ends in ours.segments.tolist()}
    assert (len(ours.segments) == 9) == (keep == "YY")
    assert (len(theirs["segments"]) == 9) == (keep == "YY")


def test_s_limits_the_points_and_exits_with_0(folder, capsys):
    code, _, err = dmr(capsys, "triangle", "-pqS5", "A")
    assert (code, len(io.read("A.1.ele").vertices)) == (0, len(plate().vertices) + 5)
    assert "warning: stopped at the limit of 5" in err
    assert dmr(capsys, "triangle", "-pqS", "A")[0] == 0
    assert len(io.read("A.1.ele").vertices) == len(plate().vertices)


def test_no_points_are_inserted_without_q_a_and_d(folder, capsys):
    assert "inserted" not in dmr(capsys, "triangle", "-pAcYS5", "A")[2]
    assert len(io.read("A.1.ele").vertices) == len(plate().vertices)


# ---- Refining a mesh ------------------------------------------------------------------------------------------------


def test_r_refines_a_mesh(folder, capsys):
    assert dmr(capsys, "triangle", "-pA", "A")[0] == 0
    assert dmr(capsys, "triangle", "-rpq30a0.5", "A.1")[0] == 0
    assert new_names(folder, ("A.poly", "A.1.ele", "A.1.node", "A.1.poly")) == ["A.2.ele", "A.2.node", "A.2.poly"]
    before, after = io.read("A.1.ele"), io.read("A.2.ele")
    assert validate(after, input=before, min_angle=30, max_area=0.5).ok
    assert set(after.triangle_attributes.ravel()) == {7, -3}
    assert section_headers(folder / "A.2.poly")[1:] == [[1]]  # the holes; regions belong to the first mesh
    theirs = shewchuk(
        folder,
        "rpq30a0.5",
        triangles=before.triangles,
        **{**given(plate()), "segments": before.segments, "segment_markers": before.segment_markers},
    )
    assert 0.75 < len(after.triangles) / len(theirs["triangles"]) < 1.3


def test_r_without_p_leaves_the_poly_file_alone(folder, capsys):
    assert dmr(capsys, "triangle", "-p", "A")[0] == 0
    (folder / "A.1.poly").write_text("this is no .poly file\n")
    assert dmr(capsys, "triangle", "-rq", "A.1")[0] == 0
    assert new_names(folder, ("A.poly", "A.1.ele", "A.1.node", "A.1.poly")) == ["A.2.ele", "A.2.node"]
    assert "A.1.poly:1" in fails(capsys, 1, "triangle", "-rpq", "A.1")


def test_a_bare_a_reads_the_area_file(folder, capsys):
    assert dmr(capsys, "triangle", "-p", "A")[0] == 0
    mesh = io.read("A.1.ele")
    left = mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] < 5
    bounds = np.where(left, 0.05, -1.0)
    assert fails(capsys, 1, "triangle", "-rpa", "A.1").endswith(
        "no A.1.area beside it, which would hold its area bounds"
    )
    rows = [f"{k + 1} {bound}" for k, bound in enumerate(bounds.tolist())]
    (folder / "A.1.area").write_text("\n".join([str(len(rows)), *rows, ""]))
    for line in (["-rpa", "A.1"], ["-p", "A.1.area"]):
        assert dmr(capsys, "triangle", *line)[0] == 0
        fine = io.read("A.2.ele")
        assert validate(fine, input=mesh).ok
        assert len(fine.triangles) > 4 * len(mesh.triangles)
        assert not (folder / "A.2.area").exists()
    assert dmr(capsys, "triangle", "-rp", "A.1")[0] == 0  # not requested, so not read
    assert np.array_equal(io.read("A.2.ele").triangles, mesh.triangles)


def test_rc_lists_the_convex_hull_edges(folder, capsys):
    assert dmr(capsys, "triangle", "-pP", "A")[0] == 0
    assert new_names(folder) == ["A.1.ele", "A.1.node"]
    assert dmr(capsys, "triangle", "-rc", "A.1")[0] == 0
    mesh = io.read("A.2.ele")
    theirs = shewchuk(folder, "rc", vertices=mesh.vertices, triangles=mesh.triangles)
    assert set(edge_table(mesh.segments, mesh.segment_markers)) == set(
        edge_table(theirs["segments"], theirs["segment_markers"])
    )
    assert mesh.segment_markers.tolist() == [1] * 8


# ---- Names, numbers and what is left out -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switches", "written"),
    [
        ("pP", ["A.1.ele", "A.1.node"]),
        ("pN", ["A.1.ele", "A.1.poly"]),
        ("pE", ["A.1.node", "A.1.poly"]),
        ("pNEPe", ["A.1.edge"]),
        ("pNEP", []),
        ("pIe", ["A.edge", "A.ele", "A.node"]),
        ("pIg", ["A.ele", "A.node", "A.off"]),
        ("pcI", ["A.ele", "A.node"]),
    ],
)
def test_n_e_p_switches_leave_files_out(folder, capsys, switches, written):
    domain = (folder / "A.poly").read_bytes()
    assert dmr(capsys, "triangle", f"-{switches}", "A.poly")[0] == 0
    assert new_names(folder) == written
    assert (folder / "A.poly").read_bytes() == domain


def test_files_left_out_stay_unchanged(folder, capsys):
    dmr(capsys, "triangle", "-pe", "A")
    old = {name: (folder / name).read_bytes() for name in new_names(folder)}
    assert "wrote no files" in dmr(capsys, "triangle", "-pNEP", "A")[2]
    assert {name: (folder / name).read_bytes() for name in new_names(folder)} == old
    err = dmr(capsys, "triangle", "-pqP", "A")[2]
    assert "warning: A.1.poly was there before, and may not belong to this mesh" in err
    assert (folder / "A.1.poly").read_bytes() == old["A.1.poly"]
    assert not (folder / "A.1.edge").exists()  # it was the old mesh's


def test_i_never_overwrites_its_input(folder, capsys):
    dmr(capsys, "triangle", "-pI", "A")
    points = (folder / "A.node").read_bytes()
    assert dmr(capsys, "triangle", "-I", "A.node")[0] == 0
    assert (folder / "A.node").read_bytes() == points
    for switches in ("-Iqa.1", "-Ij", "-Io2"):
        if switches == "-Ij":  # a duplicate point is used once
            (folder / "A.node").write_text("4 2\n1 0 0\n2 1 0\n3 0 1\n4 0 0\n")
            points = (folder / "A.node").read_bytes()
        assert "-I keeps the .node file" in fails_with_warnings(capsys, "triangle", switches, "A.node")
        assert (folder / "A.node").read_bytes() == points


def fails_with_warnings(capsys, *arguments):
    code, out, err = dmr(capsys, *arguments)
    assert (code, out) == (2, "")
    return err


def test_b_leaves_out_markers(folder, capsys):
    assert dmr(capsys, "triangle", "-pBe", "A")[0] == 0
    assert header(folder / "A.1.node")[2:] == [1, 0]
    assert header(folder / "A.1.edge")[1] == 0
    assert section_headers(folder / "A.1.poly")[0][1] == 0
    mesh = io.read("A.1.ele")
    assert mesh.vertex_markers is None
    assert not mesh.segment_markers.any()
    assert io.read_edges("A.1.edge")[1] is None


@pytest.mark.parametrize(
    ("first", "switches", "expected"), [(0, "", 0), (1, "", 1), (1, "z", 1), (5, "", 1), (5, "z", 0)]
)
def test_indices_start_as_in_the_input(folder, capsys, first, switches, expected):
    corners = [(0, 0), (1, 0), (0, 1), (0.25, 0.375)]
    rows = [f"{first + k} {x} {y}" for k, (x, y) in enumerate(corners)]
    (folder / "B.node").write_text("\n".join(["4 2", *rows, ""]))
    assert dmr(capsys, "triangle", f"-{switches}", "B")[0] == 0
    for name in ("B.1.node", "B.1.ele"):
        assert (folder / name).read_text().splitlines()[1].split()[0] == str(expected)


def test_capital_o_ignores_holes(folder, capsys):
    dmr(capsys, "triangle", "-p", "A")
    with_hole = len(io.read("A.1.ele").triangles)
    assert dmr(capsys, "triangle", "-pO", "A")[0] == 0
    filled = io.read("A.1.ele")
    assert len(filled.triangles) == with_hole + 6  # two vertices inside of four
    assert section_headers(folder / "A.1.poly")[1] == [1]  # still in the file, as with Triangle


def test_an_existing_domain_is_not_overwritten(folder, capsys):
    shutil.copy("A.poly", "A.1.poly")
    assert "A.1.poly: holds a domain with vertices of its own" in fails(capsys, 1, "triangle", "-p", "A")
    assert dmr(capsys, "triangle", "-pP", "A")[0] == 0


def test_capital_c_proves_the_mesh(folder, capsys):
    code, out, _ = dmr(capsys, "triangle", "-pqC", "A")
    assert (code, out.splitlines()[-1]) == (0, "valid")
    assert dmr(capsys, "triangle", "-pqCQ", "A") == (0, "", "")


def test_capital_c_fails_for_an_invalid_mesh(folder, capsys):
    io.write("bad.ele", Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [0, 1, 3]]))
    code, out, err = dmr(capsys, "triangle", "-rC", "bad.1" if (folder / "bad.1.ele").exists() else "bad")
    assert code == 5
    assert "overlap" in out
    assert "invalid" in err


@pytest.mark.parametrize("base", [0, 1])
def test_capital_c_reports_the_indices_of_the_files(folder, capsys, base):
    io.write("bad.ele", Mesh([[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [0, 1, 3]]), base=base)
    _, out, _ = dmr(capsys, "triangle", "-rC", "bad")
    assert f"triangle {base + 1}: lies on the same side of the edge from {base} at (0.0, 0.0) to {base + 1} at " in out
    assert (folder / "bad.1.node").read_text().splitlines()[1].startswith(f"{base} ")


# ---- Messages -----------------------------------------------------------------------------------------------------


def test_quiet_verbose_and_help(folder, capsys):
    assert dmr(capsys, "triangle", "-pqQ", "A") == (0, "", "")
    assert "seconds on" in dmr(capsys, "triangle", "-pqV", "A", "--device", "cpu", "--threads", "1")[2]
    assert "-X has no effect: predicates are always exact" in dmr(capsys, "triangle", "-pX", "A")[2]
    for line in (["-h"], ["-pqh", "A"], ["--help"]):
        code, out, err = dmr(capsys, "triangle", *line)
        assert (code, err) == (0, "")
        assert out.startswith("examples:\n  dmr triangle -pq30a0.01 A.poly")
        assert "\n  q  no angle below" in out


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ([], 2, "no input file"),
        (["-pk", "A"], 2, "unknown switch 'k' (character 3 of -pk)"),
        (["-pq", "30", "A"], 2, "several input files: 30, A"),
        (["-p", "B"], 1, "B.poly: does not exist"),
        (["B"], 1, "B.node: does not exist"),
        (["-r", "A"], 1, "A.ele: does not exist"),
        (["-p", "nowhere/A"], 1, "nowhere/A.poly: does not exist"),
    ],
)
def test_errors_are_one_sentence(folder, capsys, line, code, sentence):
    assert sentence in fails(capsys, code, "triangle", *line)
    assert new_names(folder) == []
