"""The check of a mesh in parts finds what is wrong in one part, between parts, and in the whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr import Mesh, Pslg
from dmr.distributed import Parts, partition, validate
from dmr.distributed.output.partition import write_divided
from dmr.errors import FileError, OptionError
from tests.support.meshes import plate, plate_outline

ONLY_PARTS = {"parts", "shared vertices", "shared edges", "ghosts"}


def written(mesh: Mesh, owners: np.ndarray, out: Path) -> Parts:
    """Writes a mesh, right or wrong, in parts of given triangles."""
    return write_divided(mesh, [np.flatnonzero(owners == index) for index in np.unique(owners)], out)


def bands(mesh: Mesh, count: int) -> np.ndarray:
    """The part of each triangle, where parts are bands of the plane."""
    x = mesh.vertices[mesh.triangles].mean(axis=1)[:, 0]
    return np.clip(((x - x.min()) / np.ptp(x) * count).astype(int), 0, count - 1)


def changed(parts: Parts, index: int, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the arrays in the file of a part."""
    with np.load(parts.path(index)) as archive:
        arrays = {name: archive[name].copy() for name in archive}
    change(arrays)
    np.savez(parts.path(index), **arrays)


@pytest.fixture
def parts(tmp_path) -> Parts:
    return partition(plate(), tmp_path / "out", 6)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("source", ["mesh", "outline", "none"])
def test_the_same_checks_as_of_the_whole(count, source, tmp_path):
    parts = written(plate(), bands(plate(), count), tmp_path)
    input = {"mesh": plate(), "outline": plate_outline(), "none": None}[source]
    for bounds in ({"min_angle": 30, "max_area": 0.02}, {"min_angle": 31.0, "max_area": 0.006, "max_edge": 0.2}):
        found, expected = validate(parts, input=input, **bounds), dmr.validate(plate(), input=input, **bounds)
        assert found.counts == expected.counts
        assert set(found.checked) == set(expected.checked) - {"neighbours"} | ONLY_PARTS  # files have no such table
        assert found.skipped.items() <= expected.skipped.items()
        for name in ("vertices", "triangles", "segments", "boundary_edges", "min_angle", "max_angle", "max_area"):
            assert found.statistics[name] == expected.statistics[name]
    assert {path.name for path in parts.folder.iterdir()} == {
        "manifest.json",
        *(parts.path(k).name for k in range(count)),
    }


def test_failures_have_the_numbers_of_the_whole(parts):
    whole = parts.gather()
    found, expected = (check(mesh, min_angle=31) for check, mesh in ((validate, parts), (dmr.validate, whole)))
    assert {(f.index, f.message) for f in found.failures} == {(f.index, f.message) for f in expected.failures}


@pytest.mark.slow
def test_small_corners_are_excused(tmp_path):
    """Beside a corner of 20 degrees, in whichever part."""
    wedge = Pslg([[0, 0], [3, 0], [3, 3 * np.tan(np.radians(20))]], [[0, 1], [1, 2], [2, 0]])
    mesh = dmr.refine(wedge, min_angle=30, max_area=0.003).mesh
    parts = written(mesh, np.arange(len(mesh.triangles)) % 5, tmp_path)
    for input in (wedge, mesh, None):
        found, expected = (
            check(m, input=input, min_angle=30) for check, m in ((validate, parts), (dmr.validate, mesh))
        )
        assert expected.exceptions and found.ok
        corners = mesh.vertices[[small.corner for small in expected.exceptions]]
        assert len(found.exceptions) == len(expected.exceptions)
        np.testing.assert_array_equal(parts.gather().vertices[[small.corner for small in found.exceptions]], corners)
        assert sorted(s.angle for s in found.exceptions) == sorted(s.angle for s in expected.exceptions)


def test_region_areas(tmp_path):
    mesh = dmr.refine(plate_outline(), min_angle=25).mesh
    outline = plate_outline()
    strict = Pslg(outline.vertices, outline.segments, holes=outline.holes, regions=outline.regions * [1, 1, 1, 0.4],
                  segment_markers=outline.segment_markers, vertex_markers=outline.vertex_markers)  # fmt: skip
    parts = written(mesh, bands(mesh, 4), tmp_path)
    found, expected = (check(m, input=strict, min_angle=20) for check, m in ((validate, parts), (dmr.validate, mesh)))
    assert found.counts == expected.counts and expected.counts["region areas"] > 10


def moved(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    vertices = mesh.vertices.copy()
    vertices[rng.choice(mesh.triangles.ravel())] += rng.normal(scale=0.05, size=2)
    return renewed(mesh, vertices=vertices)


def flipped(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    triangles = mesh.triangles.copy()
    t, k = next((t, k) for t in rng.permutation(len(triangles)) for k in range(3) if mesh.neighbours[t, k] >= 0)
    u = mesh.neighbours[t, k]
    far = next(v for v in triangles[u] if v not in triangles[t])
    a, b, c = np.roll(triangles[t], -k)
    triangles[t], triangles[u] = (a, b, far), (a, far, c)
    return renewed(mesh, triangles=triangles)


def dropped(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    keep = np.arange(len(mesh.triangles)) != rng.integers(len(mesh.triangles))
    return renewed(mesh, triangles=mesh.triangles[keep], triangle_attributes=mesh.triangle_attributes[keep],
                   area_bounds=None if mesh.area_bounds is None else mesh.area_bounds[keep])  # fmt: skip


def other_region(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    values = mesh.triangle_attributes.copy()
    values[rng.integers(len(values)), 0] += 1
    return renewed(mesh, triangle_attributes=values)


def other_marker(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    markers = mesh.segment_markers.copy()
    markers[rng.integers(len(markers))] += 50
    return renewed(mesh, segment_markers=markers)


def other_vertex_marker(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    markers = mesh.vertex_markers.copy()
    markers[rng.choice(mesh.triangles.ravel())] += 50
    return renewed(mesh, vertex_markers=markers)


def lost_segment(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    keep = np.arange(len(mesh.segments)) != rng.integers(len(mesh.segments))
    return renewed(mesh, segments=mesh.segments[keep], segment_markers=mesh.segment_markers[keep])


def stray_segment(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    known = {frozenset(ends) for ends in mesh.segments.tolist()}
    edge = next(ends for ends in rng.permutation(mesh.edges).tolist() if frozenset(ends) not in known)
    return renewed(mesh, segments=np.vstack([mesh.segments, edge]), segment_markers=np.append(mesh.segment_markers, 0))


def renewed(mesh: Mesh, **arrays: Any) -> Mesh:
    names = (
        "vertices",
        "triangles",
        "segments",
        "segment_markers",
        "vertex_markers",
        "triangle_attributes",
        "area_bounds",
    )
    return Mesh(**{name: getattr(mesh, name) for name in names} | arrays)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**20), count=st.integers(2, 5), data=st.data())
def test_what_is_wrong_in_the_whole_is_found_in_parts(seed, count, data, tmp_path_factory):
    """The same checks fail, of whatever kind the fault is, inside a part or between parts."""
    change = data.draw(st.sampled_from(
        [moved, flipped, dropped, other_region, other_marker, other_vertex_marker, lost_segment, stray_segment]
    ))  # fmt: skip
    mesh = change(plate(), np.random.default_rng(seed))
    owners = bands(mesh, count) if seed % 2 else np.random.default_rng(seed).integers(0, count, len(mesh.triangles))
    parts = written(mesh, owners, tmp_path_factory.mktemp("parts"))
    expected = dmr.validate(mesh, input=plate_outline(), min_angle=0)
    found = validate(parts, input=plate_outline(), min_angle=0)
    # In the whole, an overlap names a boundary edge; between parts, it may be one side of an edge with two triangles.
    assert found.ok == expected.ok
    # Segments that are no edges, because a triangle in a corner or the edge itself has gone, belong to no part.
    no_edges = {"segments"} if change in (dropped, flipped) else set()
    assert set(found.counts) - {"shared edges"} - no_edges == set(expected.counts) - no_edges


def test_an_edge_at_a_cut_flipped(tmp_path):
    """The mesh is right in all but this edge, and both parts agree about it."""
    mesh, owners = plate(), bands(plate(), 3)
    for t, k in np.argwhere(mesh.neighbours >= 0):
        u = mesh.neighbours[t, k]
        if owners[t] == owners[u] or mesh.triangle_attributes[t, 0] != mesh.triangle_attributes[u, 0]:
            continue
        far = next(v for v in mesh.triangles[u] if v not in mesh.triangles[t])
        a, b, c = np.roll(mesh.triangles[t], -k)
        triangles = mesh.triangles.copy()
        triangles[t], triangles[u] = (a, b, far), (a, far, c)
        wrong = renewed(mesh, triangles=triangles)
        if list(dmr.validate(wrong).counts) == ["delaunay"]:
            break
    report = validate(written(wrong, owners, tmp_path))
    assert list(report.counts) == ["delaunay"]
    assert {f.index for f in report.failures} <= set(range(len(mesh.triangles)))


def test_an_edge_at_a_cut_flipped_in_one_part(parts):
    part = parts.part(2)
    touching = part.mesh.neighbours[part.own :]
    ghost, k = np.argwhere((touching >= 0) & (touching < part.own))[0]
    t, u = part.own + ghost, touching[ghost, k]

    def flip(arrays: dict[str, Any]) -> None:
        far = next(v for v in arrays["triangles"][u] if v not in arrays["triangles"][t])
        a, b, c = np.roll(arrays["triangles"][t], -k)
        arrays["triangles"][t], arrays["triangles"][u] = (a, b, far), (a, far, c)

    changed(parts, 2, flip)
    assert {"ghosts", "shared edges"} <= set(validate(parts).counts)


def test_a_shared_vertex_moved_by_an_ulp(parts):
    part = parts.part(3)
    shared = np.intersect1d(part.mesh.triangles[: part.own], part.mesh.triangles[part.own :])
    vertex = next(v for v in shared if part.numbers[v] >= 11)

    def move(arrays: dict[str, Any]) -> None:
        arrays["vertices"][vertex, 0] = np.nextafter(arrays["vertices"][vertex, 0], np.inf)

    changed(parts, 3, move)
    report = validate(parts)
    assert {"shared vertices", "ghosts"} <= set(report.counts)
    (failure,) = {(f.element, f.index) for f in report.failures if f.check == "shared vertices"}
    assert failure == ("vertex", part.numbers[vertex])


def test_an_input_vertex_moved_by_an_ulp_in_all_parts(tmp_path):
    mesh = plate()
    vertices = mesh.vertices.copy()
    vertices[2, 0] = np.nextafter(4, 5)
    report = validate(written(renewed(mesh, vertices=vertices), bands(mesh, 3), tmp_path), input=plate_outline())
    assert "input vertices" in report.counts and not ONLY_PARTS & set(report.counts)


def test_a_part_lost(parts):
    parts.path(4).unlink()
    report = validate(parts, input=plate_outline())
    assert list(report.counts) == ["parts"]
    assert "part 4 cannot be used" in str(report.failures[0]) and "overlap" in report.skipped


def test_a_part_lost_with_its_entry(parts):
    manifest = json.loads((parts.folder / "manifest.json").read_text())
    manifest["triangles"] -= manifest["parts"].pop()["triangles"]
    (parts.folder / "manifest.json").write_text(json.dumps(manifest))
    report = validate(parts.folder)
    assert "does not list ghosts by ascending numbers" in str(report.failures[0])


def test_two_parts_exchanged(parts):
    one, other = parts.path(1), parts.path(2)
    swapped = one.read_bytes(), other.read_bytes()
    other.write_bytes(swapped[0])
    one.write_bytes(swapped[1])
    report = validate(parts)
    assert [str(f) for f in report.failures] == [
        "parts: mesh: part-00001.npz holds part 2, not part 1",
        "parts: mesh: part-00002.npz holds part 1, not part 2",
    ]


def test_two_parts_exchanged_under_each_other_s_numbers(tmp_path):
    """Two exchanged files, each of which states the index of the part that it replaces, with equal counts."""
    square = Pslg([[0, 0], [4, 0], [4, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    mesh = dmr.refine(square, max_area=0.01).mesh
    parts = partition(mesh, tmp_path / "out", 4)
    files = [dict(np.load(parts.path(k))) for k in (0, 1)]
    for k in (0, 1):
        np.savez(parts.path(k), **files[1 - k] | {name: files[k][name] for name in ("index", "first")})
    manifest = parts.manifest
    for k in (0, 1):
        manifest["parts"][k] |= {"triangles": int(files[1 - k]["own"]), "ghosts": len(files[1 - k]["ghost_numbers"])}
    assert not validate(parts).ok


@pytest.mark.parametrize("name", ["triangle_attributes", "vertex_markers", "segment_markers", "vertex_attributes"])
def test_a_stale_ghost(parts, name):
    part = parts.part(5)
    alone = np.setdiff1d(part.mesh.triangles[part.own :], part.mesh.triangles[: part.own])
    inside = np.isin(part.mesh.segments, alone).any(axis=1)
    row = {"triangle_attributes": part.own, "segment_markers": np.flatnonzero(inside)[0]}.get(name, alone[0])

    def age(arrays: dict[str, Any]) -> None:
        arrays[name][row] += 1

    changed(parts, 5, age)
    report = validate(parts, input=plate_outline(), min_angle=30)
    assert list(report.counts) == ["ghosts"]
    assert "in the ghosts of part 5" in str(report.failures[0])


def test_a_ghost_lost(parts):
    def lose(arrays: dict[str, Any]) -> None:
        for name in ("triangles", "ghost_numbers", "ghost_owners", "triangle_attributes", "area_bounds"):
            if name in arrays:
                arrays[name] = arrays[name][:-1]

    changed(parts, 0, lose)
    parts.manifest["parts"][0]["ghosts"] -= 1
    assert "ghosts" in validate(parts).counts


def test_two_numbers_of_one_place(tmp_path):
    """Two triangles that meet in a vertex of two numbers, one in each part."""
    mesh = Mesh([[0, 0], [1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]], [[0, 1, 2], [3, 4, 5]])
    assert list(validate(written(mesh, np.array([0, 1]), tmp_path)).counts) == ["duplicates"]


def test_parts_that_overlap(tmp_path):
    mesh = Mesh([[0, 0], [2, 0], [0, 2], [0.5, 0.5], [3, 0.5], [0.5, 3]], [[0, 1, 2], [3, 4, 5]])
    assert list(validate(written(mesh, np.array([0, 1]), tmp_path)).counts) == ["overlap"]


def test_a_part_twice(tmp_path):
    mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    parts = written(mesh, np.array([0]), tmp_path)
    part = parts.path(0).read_bytes()
    (tmp_path / "part-00001.npz").write_bytes(part)
    parts.manifest["parts"].append(dict(parts.manifest["parts"][0], file="part-00001.npz"))
    changed(parts, 1, lambda arrays: arrays.update(index=1, first=1))
    parts.manifest["triangles"] = 2
    assert {"shared edges", "ghosts"} <= set(validate(parts).counts)


def test_refused_arguments(parts, tmp_path):
    with pytest.raises(OptionError, match="0 to 60 degrees"):
        validate(parts, min_angle=70)
    with pytest.raises(OptionError, match="needs an input Pslg"):
        validate(parts, convex_hull=True)
    with pytest.raises(FileError, match="does not exist"):
        validate(tmp_path / "none")


@pytest.mark.slow
def test_the_same_report_by_processes(parts):
    changed(parts, 3, lambda arrays: arrays["triangle_attributes"].__setitem__(0, 7))
    one = validate(parts, input=plate_outline(), min_angle=31, threads=1)
    with ThreadPoolExecutor(2) as executor:
        by_threads = validate(parts, input=plate_outline(), min_angle=31, executor=executor)
    by_processes = validate(parts, input=plate_outline(), min_angle=31, workers=2)
    assert by_threads.to_json() == by_processes.to_json() == one.to_json()
    assert {"regions", "angle"} <= set(one.counts)


def test_a_bound_on_edges_by_place(parts):
    whole = parts.gather()
    bound = dmr.SizeField(whole, np.linspace(0.1, 0.3, len(whole.vertices)))
    for input in (None, plate_outline()):
        found, expected = (
            check(m, input=input, max_edge=bound) for check, m in ((validate, parts), (dmr.validate, whole))
        )
        assert found.counts == expected.counts and found.counts["max edge"] > 5
    with pytest.raises(OptionError, match="max_edge must be a number or a SizeField"):
        validate(parts, max_edge=lambda points: points[:, 0])


@pytest.mark.parametrize("tile_triangles", [1000, 10**6])
def test_triangles_left_for_want_of_precision_are_listed_and_confirmed(tile_triangles, tmp_path):
    """A vertex lies within ulps of a segment: the coordinates have no room for the points that it needs."""
    height = 4 * np.spacing(4.0)
    graph = dmr.Pslg([(0, 0), (4, 0), (4, 4), (0, 4), (1.5, height)], [[0, 1], [1, 2], [2, 3], [3, 0]])
    parts = dmr.distributed.refine(graph, tmp_path / "out", max_area=0.01, tile_triangles=tile_triangles, device="cpu")
    assert (len(parts) > 1) == (tile_triangles == 1000)
    left = parts.unrefined_triangles
    assert {reason: len(triangles) for reason, triangles in left.items()} == parts.unrefined
    assert set(left) == {"precision"}
    report = dmr.distributed.validate(parts, input=graph, min_angle=30, max_area=0.01)
    assert report.ok, report.failures
    assert report.unrefined == {"precision": tuple(left["precision"].tolist())}
    assert dmr.validate(parts.gather(), input=graph, min_angle=30, max_area=0.01, unrefined=left).ok
    # A triangle that is only said to lack precision is not excused.
    for part in parts:
        with np.load(parts.path(part.index)) as archive:
            arrays = dict(archive)
        arrays["unrefined"] = np.arange(part.own, dtype=np.int32)
        arrays["unrefined_reasons"] = np.full(part.own, 2, np.uint8)
        np.savez(parts.path(part.index), **arrays)
    assert not dmr.distributed.validate(parts, input=graph, min_angle=45).ok


def without_list(arrays: dict[str, Any]) -> None:
    """Removes the list of unrefined triangles."""
    for name in ("unrefined", "unrefined_reasons"):
        arrays.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "kept", "tile_triangles"),
    [
        (plate_outline(), "boundary", 400),  # with regions and their largest areas
        (plate_outline(), "all", 400),
        (dmr.domains.regular_polygon(40), "all", 1000),
    ],
)
def test_kept_segments_in_tiles_leave_triangles_for_the_same_reason(domain, kept, tile_triangles, tmp_path):
    bounds = {"min_angle": 30, "max_area": 2e-3}
    plain = dmr.refine(domain, keep_segments=kept, device="cpu", threads=1, **bounds)
    parts = dmr.distributed.refine(
        domain, tmp_path / "out", tile_triangles=tile_triangles, keep_segments=kept, device="cpu", threads=1, **bounds
    )
    assert len(parts.manifest["passes"]) > 1
    assert set(parts.unrefined) == set(plain.unrefined) == {"kept_segment"}
    assert parts.unrefined["kept_segment"] == pytest.approx(plain.unrefined["kept_segment"], rel=0.1)
    left = parts.unrefined_triangles
    assert dmr.validate(parts.gather(), input=domain, unrefined=left, **bounds).ok
    for input in (domain, None):
        report = validate(parts, input=input, **bounds)
        assert report.ok, report.failures
        below = set(report.unrefined["kept_segment"])
        assert below == set(left["kept_segment"].tolist())
    # Without the list nothing is excused.
    for part in parts:
        changed(parts, part.index, without_list)
    expected = dmr.validate(parts.gather(), input=domain, **bounds).counts
    found = validate(parts, input=domain, **bounds).counts
    assert found == expected and found["angle"] > 5


def test_segments_that_were_split_confirm_no_reason(tmp_path):
    """All triangles are said to be left because of kept segments, but all segments were split."""
    square = dmr.domains.rectangle(1, 1)
    fine = dmr.refine(square, max_area=0.01, device="cpu", threads=1).mesh
    parts = partition(fine, tmp_path / "out", 3)
    for part in parts:
        lies = {"unrefined": np.arange(part.own, dtype=np.int32), "unrefined_reasons": np.full(part.own, 3, np.uint8)}
        changed(parts, part.index, lambda arrays, lies=lies: arrays.update(lies))
    for input in (square, None):
        report = validate(parts, input=input, min_angle=40, max_area=0.005)
        assert report.unrefined == {"kept_segment": ()}
        assert report.counts == dmr.validate(fine, input=input, min_angle=40, max_area=0.005).counts
