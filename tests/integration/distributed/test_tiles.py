"""Refinement in tiles: the rule at cuts, the bands, and what the union of the pieces is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dmr
from dmr.distributed.jobs.task import Resources
from dmr.distributed.tiles import cutting, passes, refining, tasks
from dmr.distributed.tiles.bands import (
    LARGE_TILE,
    UNREACHED,
    are_nearest,
    layers_of,
    margin_of,
    parted,
    reach,
    reached_by,
    spread,
)
from dmr.distributed.tiles.bounds import FOR_A_SKINNY_TRIANGLE, Bounds, predicted_triangles
from dmr.distributed.tiles.cuts import border_vertices, edges_of
from dmr.distributed.tiles.patch import REASONS, Patch, glued, with_numbers
from dmr.distributed.tiles.refining import refine_coarsely, refine_patch
from dmr.distributed.tiles.separation import dividing
from dmr.distributed.tiles.separation.margin import Division
from dmr.distributed.tiles.stored import InMemory
from dmr.distributed.unions.native import blocks_of, components
from dmr.distributed.unions.numbering import Union
from dmr.errors import OptionError, OutOfMemoryError
from dmr.memory import open_device
from dmr.memory.host.device import HostDevice
from dmr.refinement import run
from dmr.refinement.options import RefineOptions
from tests.support.digests import mesh_digest
from tests.support.distributed.tiled import tiled, whole_mesh
from tests.support.meshes import plate_outline

ANGLE = Bounds(options=RefineOptions())
WAITING = REASONS.index("waiting") + 1
EVERYTHING = 10**3  # layers of triangles in a margin


def unrefined_patch(mesh: dmr.Mesh, bounds: Bounds = ANGLE):
    """A mesh as one patch without new points, and what tiles need to know of it."""
    options = replace(bounds.options, min_angle=0.0, max_area=None)
    patch, edges, whole, report = refine_coarsely(
        mesh, Bounds(options=options), 1.0, fully=True, device=open_device("cpu", 1)
    )
    assert report.inserted == 0
    for listed, searched in zip((edges.neighbours, edges.segments), vars(edges_of(patch)).values(), strict=True):
        np.testing.assert_array_equal(listed, searched)
    return patch, whole


def cut_by(patch: Patch, labels) -> list[Patch]:
    """The parts of a patch by labels of its triangles, however scattered."""
    return [patch.taken(np.flatnonzero(np.asarray(labels) == label), 2) for label in np.unique(labels)]


def refined(tiles, whole, bounds=ANGLE, first=0):
    """Refines tiles, and numbers their vertices from `first` on."""
    done = []
    for tile in tiles:
        found = refine_patch(tile, whole, bounds, open_device("cpu", 1), EVERYTHING)
        both = [found.margin, *([] if found.core is None else [Patch.load(found.core)])]
        done.append(glued([each.numbered(first) for each in both]))
        first += found.inserted
    return done, first


def border_of(patch, whole):
    return border_vertices(patch, edges_of(patch), ~whole.boundary[patch.segment_origin])


def incircle(a, b, c, d) -> Fraction:
    """Above 0 if d lies inside the circle of the counterclockwise triangle abc: exact."""
    rows = [[Fraction(p[0]) - Fraction(d[0]), Fraction(p[1]) - Fraction(d[1])] for p in (a, b, c)]
    (ax, ay), (bx, by), (cx, cy) = rows
    square = [x * x + y * y for x, y in rows]
    return square[0] * (bx * cy - by * cx) - square[1] * (ax * cy - ay * cx) + square[2] * (ax * by - ay * bx)


def test_triangles_on_both_sides_of_a_cut_are_frozen():
    """Points that are outside the circle of the triangle beyond the cut can still be inside one another's."""
    u, v, above, below, p, q = (0, 0), (1, 0), (0.5, 2), (0.5, -2), (0.5, 0.3), (0.5, -0.3)
    assert incircle(v, u, below, p) < 0 and incircle(u, v, above, q) < 0
    assert incircle(u, v, p, q) > 0
    patch, whole = unrefined_patch(dmr.Mesh([u, v, above, below], [[0, 1, 2], [1, 0, 3]]))
    tiles = cut_by(patch, [0, 1])
    assert all(edges_of(tile).frozen().all() for tile in tiles)
    alone, _ = refined(tiles, whole, Bounds(options=RefineOptions(max_area=0.1)), first=4)
    assert [len(tile.numbers) for tile in alone] == [3, 3]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_union_is_constrained_delaunay_after_every_tile(data):
    """For any mesh, any segments within it, any cut, and either order of the tiles."""
    places = data.draw(
        st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=8, max_size=60, unique=True)
    )
    points = np.array(places, float)
    if np.linalg.matrix_rank(points[1:] - points[0]) < 2:
        return
    plain = dmr.triangulate(dmr.Pslg(points), convex_hull=True)
    edges = plain.edges[data.draw(st.lists(st.integers(0, len(plain.edges) - 1), max_size=6))]
    mesh = replace(plain, segments=edges, segment_markers=np.arange(len(edges)) + 2)
    patch, whole = unrefined_patch(mesh)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(mesh.triangles), max_size=len(mesh.triangles)))
    if data.draw(st.booleans()):  # a straight cut
        labels = (points[mesh.triangles].mean(axis=1)[:, 0] > data.draw(st.integers(1, 11))).astype(int)
    bounds = Bounds(options=RefineOptions(max_area=data.draw(st.sampled_from([None, 0.6, 0.1]))))
    tiles = cut_by(patch, labels)
    done, _ = refined(tiles, whole, bounds, len(points))
    kept = list(tiles)
    for k in data.draw(st.permutations(range(len(tiles)))):
        kept[k] = done[k]
        union = glued(kept)
        numbers = np.unique(union.numbers, return_inverse=True)[1]
        together = replace(union, piece=type(union.piece)(union.mesh, numbers))
        report = dmr.validate(whole_mesh(together.published(whole.named)), input=mesh)
        assert report.ok, report


@pytest.mark.parametrize(
    ("kind", "count", "tile", "options"),
    [
        ("random", 800, 1500, {}),
        ("random", 400, 900, {"steiner": "circumcenter", "min_angle": 25.0}),
        pytest.param("random", 500, 900, {"steiner": "off-center", "conforming": True}, marks=pytest.mark.slow),
        pytest.param("graded", 600, 1200, {"min_angle": 32.0}, marks=pytest.mark.slow),
        pytest.param("random", 300, 1800, {"max_area": 3e-4}, marks=pytest.mark.slow),
        ("random", 300, 900, {"max_edge": 0.08}),
        ("plate", 300, 1500, {"keep_segments": "boundary", "max_area": 2e-3}),
    ],
)
def test_the_union_meets_all_bounds(kind, count, tile, options, tmp_path):
    mesh = dmr.generate(kind, count, seed=3)
    done, union = tiled(mesh, tile, tmp_path, **options)
    plain = dmr.refine(mesh, device="cpu", threads=1, **options)
    assert done.passes[0][0] > 1 and done.complete
    bounds = {"min_angle": options.get("min_angle", 30.0), "max_area": options.get("max_area")}
    if "keep_segments" not in options:
        assert dmr.validate(union, input=mesh, **bounds).ok
    else:
        assert dmr.validate(union, input=mesh).ok
        assert set(done.unrefined) <= {"kept_segment"}
    if options.get("conforming"):
        triangle, k = np.nonzero(union.neighbours < 0)
        apex, u, v = (union.vertices[union.triangles[triangle, (k + j) % 3]] for j in range(3))
        assert (((u - apex) * (v - apex)).sum(axis=1) > -1e-12).all()  # no vertex in the circle around an edge
    assert done.triangles == len(union.triangles) and done.vertices == len(union.vertices)
    assert 0.93 < len(union.triangles) / len(plain.mesh.triangles) < 1.07


@pytest.mark.slow
def test_regions_markers_attributes_and_corners_mean_what_they_mean_on_one_device(tmp_path):
    wedge = dmr.Pslg(
        [(0, 0), (4, 0), (4, 1.2), (2, 0), (2, 0.6), (4, 4), (0, 4), (2.5, 2.5), (3, 2.5), (3, 3), (2.5, 3)],
        [(0, 3), (3, 1), (1, 2), (2, 4), (4, 0), (2, 5), (5, 6), (6, 0), (3, 4), (7, 8), (8, 9), (9, 10), (10, 7)],
        holes=[(2.75, 2.75)],
        regions=[(1, 0.1, 1.0, 0.01), (3.5, 0.1, 2.0, -1.0), (1, 3, 3.0, 0.02)],
        segment_markers=[5, 5, 6, 7, 7, 8, 9, 10, 11, 12, 12, 12, 12],
        vertex_markers=np.arange(11) + 20,
        vertex_attributes=np.arange(11.0)[:, None],
        names={"regions": {1: "steel"}},
    )
    done, union = tiled(wedge, 400, tmp_path)
    plain = dmr.refine(wedge, device="cpu", threads=1)
    assert done.passes[0][0] > 2
    report = dmr.validate(union, input=wedge, min_angle=30)
    assert report.ok, report
    assert set(done.unrefined) == set(plain.unrefined) == {"small_input_angle"}

    def areas(mesh):
        regions = mesh.triangle_attributes[:, 0]
        return {region: mesh.areas[regions == region].sum() for region in np.unique(regions)}

    assert areas(union) == pytest.approx(areas(plain.mesh))
    np.testing.assert_array_equal(np.unique(union.area_bounds), np.unique(plain.mesh.area_bounds))
    bounded = union.area_bounds > 0
    assert (union.areas[bounded] <= union.area_bounds[bounded]).all()

    def lengths(mesh):
        a, b = mesh.vertices[mesh.segments].transpose(1, 0, 2)
        return {m: np.hypot(*(b - a)[mesh.segment_markers == m].T).sum() for m in np.unique(mesh.segment_markers)}

    assert lengths(union) == pytest.approx(lengths(plain.mesh))
    # Whatever interpolates linear attributes in triangles keeps them within their range.
    assert union.vertex_attributes.min() >= 0 and union.vertex_attributes.max() <= 10
    np.testing.assert_array_equal(union.vertex_attributes[:11], wedge.vertex_attributes)
    np.testing.assert_array_equal(union.vertex_markers[:11], wedge.vertex_markers)
    on_boundary = np.unique(union.segments[union.segment_markers == 9])
    assert set(union.vertex_markers[on_boundary[on_boundary >= 11]]) == {9}


def test_a_linear_attribute_stays_linear(tmp_path):
    mesh = dmr.generate("random", 800, seed=4)
    mesh = replace(mesh, vertex_attributes=mesh.vertices @ [[2.0], [3.0]])
    _, union = tiled(mesh, 900, tmp_path)
    np.testing.assert_allclose(union.vertex_attributes, union.vertices @ [[2.0], [3.0]], atol=1e-12)


def test_one_tile_gives_the_bits_of_a_plain_run(tmp_path):
    outline = plate_outline()
    done, union = tiled(outline, 10**6, tmp_path, max_area=0.05)
    plain = dmr.refine(outline, max_area=0.05, device="cpu", threads=1)
    assert done.passes == () and mesh_digest(union) == mesh_digest(plain.mesh)
    assert done.unrefined == plain.unrefined


@pytest.mark.slow
def test_the_bits_depend_on_nothing_but_source_options_and_size_of_tiles(tmp_path):
    mesh = dmr.generate("random", 1500, seed=6)
    digests = {
        mesh_digest(tiled(mesh, tile, tmp_path / f"{tile}-{threads}", Resources("cpu", threads))[1])
        for tile, threads in ((1500, 1), (1500, 3))
    }
    assert len(digests) == 1
    assert mesh_digest(tiled(mesh, 1000, tmp_path / "other")[1]) not in digests


@pytest.mark.gpu
def test_a_gpu_gives_the_bits_of_the_cpu(gpu, tmp_path):
    mesh = dmr.generate("random", 20_000, seed=6)
    on_gpu = tiled(mesh, 20_000, tmp_path / "gpu", Resources("cuda", None), max_area=1e-5)[1]
    assert mesh_digest(on_gpu) == mesh_digest(tiled(mesh, 20_000, tmp_path / "cpu", max_area=1e-5)[1])


def test_a_band_is_what_lies_around_the_seeds():
    mesh = dmr.generate("grid", 900, seed=1)
    patch, whole = unrefined_patch(mesh)
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    left = centroids[:, 0] < 0.5
    middle = np.argmin(np.hypot(*(centroids - (0.48, 0.5)).T))
    marked = replace(patch, seeds=np.arange(len(left)) == middle)
    both = [marked.taken(np.flatnonzero(each), 1) for each in (left, ~left)]
    reaches = [reach(each, border_of(each, whole), 3, 2)[0] for each in both]
    assert are_nearest(reaches, 3) == [True, False]  # the band crosses the border, from the left one only
    bands = [parted(each, reached_by(each, reaches, 3, 2), 2)[1] for each in both]
    alone = parted(marked, reached_by(marked, [reach(marked, border_of(marked, whole), 3, 1)[0]], 3, 1), 1)[1]
    found = {tuple(sorted(t)) for band in bands for t in band.numbers[band.mesh.triangles].tolist()}
    assert found == {tuple(sorted(t)) for t in alone.numbers[alone.mesh.triangles].tolist()}


@pytest.mark.parametrize("wall", [[], [(4, 5)]])
def test_tiles_divide_their_margins_for_the_first_band_whatever_others_have(wall, tmp_path):
    """The band is around all borders, also where a segment is between two tiles, beside which nothing is a seed."""
    corners = [(0, 0), (2, 0), (2, 1), (0, 1), (1, 0.1), (1, 0.9)]
    plate = dmr.Pslg(corners, [(0, 1), (1, 2), (2, 3), (3, 0), *wall])
    done, union = tiled(plate, 2000, tmp_path / "tasks", max_area=1e-3)
    assert len(done.passes) == 2 and done.passes[0][0] > 1
    called = {path.name.split("-")[0] for path in (tmp_path / "tasks").iterdir()}
    assert "join" in called and not called & {"match_reaches", "divide"}
    assert dmr.validate(union, input=plate, min_angle=30, max_area=1e-3).ok


@pytest.mark.parametrize("depth", [3, 12, EVERYTHING])  # with a core, without one, and if all is near
def test_the_device_divides_a_margin_as_if_seeds_of_others_were_at_the_border(depth):
    mesh = replace(dmr.generate("random", 300, seed=3), triangle_attributes=np.arange(582.0)[:, None])
    patch, whole = unrefined_patch(mesh)
    bounds = Bounds(options=RefineOptions(max_area=2e-4))
    device = open_device("cpu", 1)
    for tile in cut_by(patch, mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] > 0.5):
        parts = []
        division = Division(2, InMemory())
        done = refine_patch(tile, whole, bounds, device, depth, division=division, found=parts.append)
        (part,) = parts
        undivided = refine_patch(tile, whole, bounds, device, depth)
        margin = undivided.margin
        near = np.full(len(margin.numbers), UNREACHED, np.int32)
        near[undivided.tile_border] = 0
        rest, band = parted(margin, spread(margin, near, 2, 1)[0], 1)
        assert same_arrays(part.load(), band) and same_arrays(Patch.load(division.rest), rest)
        shared = np.intersect1d(rest.numbers, np.append(band.numbers, done.core_border))
        np.testing.assert_array_equal(np.sort(done.rest_border), shared)
        np.testing.assert_array_equal(done.core_border, undivided.core_border)
        assert (done.core is not None) == (undivided.core is not None) == (depth == 3)
        beside = np.intersect1d(band.numbers, np.append(rest.numbers, done.core_border))
        beside = np.union1d(beside, margin.numbers[undivided.tile_border])
        assert np.isin(beside, band.numbers[part.border]).all() and len(part.border) < len(band.numbers) / 1.5
        assert part.in_core == done.core_triangles == undivided.core_triangles
        assert part.triangles == len(margin.mesh.triangles) + part.in_core
        assert (part.inserted, part.has_rest, done.margin) == (undivided.inserted, True, None)


def same_arrays(one: Patch, other: Patch) -> bool:
    """Whether patches are equal, bit for bit."""
    stored: list[dict] = [{}, {}]
    one.save(stored[0])
    other.save(stored[1])
    return stored[0].keys() == stored[1].keys() and all(
        np.array_equal(stored[0][name], stored[1][name]) for name in stored[0]
    )


def corners_of(patch):
    return {tuple(sorted(corners)) for corners in patch.numbers[patch.mesh.triangles].tolist()}


def test_core_and_margin_are_the_tile_and_share_the_vertices_between_them():
    mesh = dmr.generate("random", 300, seed=3)
    patch, whole = unrefined_patch(mesh)
    bounds = Bounds(options=RefineOptions(max_area=2e-4))
    for tile in cut_by(patch, mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] > 0.5):
        done = refine_patch(tile, whole, bounds, open_device("cpu", 1), 2)
        core, margin = Patch.load(done.core), done.margin
        all_of_it = glued(refined([tile], whole, bounds, len(mesh.vertices))[0])
        core, margin = core.numbered(len(mesh.vertices)), margin.numbered(len(mesh.vertices))
        assert corners_of(core).isdisjoint(corners_of(margin))
        assert corners_of(core) | corners_of(margin) == corners_of(all_of_it)
        shared = np.intersect1d(core.numbers, margin.numbers)
        np.testing.assert_array_equal(np.sort(with_numbers(done.core_border, len(mesh.vertices))), shared)
        outer = all_of_it.numbers[border_of(all_of_it, whole)]
        np.testing.assert_array_equal(np.sort(margin.numbers[done.margin_border]), np.union1d(outer, shared))
        assert not core.seeds.any() and margin.seeds.any() and not np.isin(outer, core.numbers).any()
        together = glued([core, margin])
        np.testing.assert_array_equal(together.numbers, all_of_it.numbers)
        np.testing.assert_array_equal(together.mesh.vertices, all_of_it.mesh.vertices)
        np.testing.assert_array_equal(together.vertex_origin, all_of_it.vertex_origin)
        assert len(together.mesh.segments) == len(all_of_it.mesh.segments)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sets(st.integers(0, 40)), min_size=1, max_size=4))
def test_a_union_is_that_of_sets(sets):
    random = np.random.default_rng(1)
    lists = [
        np.array(sorted(sets[0]), np.int64),
        *(random.permutation(np.array([*each], np.int64)) for each in sets[1:]),
    ]
    union = Union(lists)
    assert union.numbers.tolist() == sorted(set().union(*sets))
    for place, each in zip(union.places, lists, strict=True):
        np.testing.assert_array_equal(union.numbers[place], each)
    np.testing.assert_array_equal(union.rows([np.stack([each, -each], axis=1) for each in lists])[:, 0], union.numbers)


OUTLINES = {
    "channel": [(0, 0), (1000, 0), (1000, 1), (0, 1)],
    "slanted": [(0, 0), (1000, 0), (1005, 1), (5, 1)],
    "taper": [(0, 0), (1000, 0), (1000, 10), (0, 0.1)],
    "bent": [(0, 0), (30, 0), (30, 30), (0, 30), (0, 29), (29, 29), (29, 1), (0, 1)],
    "square": [(0, 0), (1, 0), (1, 1), (0, 1)],
}


@pytest.mark.parametrize("name", OUTLINES)
def test_the_distance_between_segments_predicts_the_result(name):
    outline = dmr.domains.polygon(OUTLINES[name])
    predicted = np.maximum(*predicted_triangles(dmr.triangulate(outline, device="cpu", threads=1), ANGLE)).sum()
    result = len(dmr.refine(outline, device="cpu", threads=1).mesh.triangles)
    assert result / 1.5 <= predicted <= 1.5 * result


@pytest.mark.parametrize(
    "walls",
    [
        [[(3, 5), (7, 5)], [(3, 5.003), (7, 5.003)]],
        [[(3, 5), (7, 7)], [(3, 5.01), (7, 7.01)]],  # slanted
        [[(3, 5), (7, 5)], [(3, 5.001), (7, 5.1)]],  # at an angle
        [[(3, 5), (7, 5)], [(3, 5.003), (7, 5.003)], [(3, 5.009), (7, 5.009)]],  # three
        [[(x, 5.0) for x in np.linspace(3, 7, 11)], [(x, 5.003) for x in np.linspace(3, 7, 11)]],  # in ten pieces
    ],
)
def test_channels_inside_a_domain_predict_what_lies_beyond_their_walls(walls):
    """Triangles outside of the walls, as small as the channel is wide, are most of the result."""
    vertices, segments = [(0, 0), (10, 0), (10, 10), (0, 10)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    for wall in walls:
        segments += [(len(vertices) + k, len(vertices) + k + 1) for k in range(len(wall) - 1)]
        vertices += wall
    outline = dmr.Pslg(vertices, segments)
    mesh = dmr.triangulate(outline, device="cpu", threads=1)
    for degrees, factor in ((30.0, 1.5), (22.0, 2.0)):
        predicted = np.maximum(*predicted_triangles(mesh, Bounds(options=RefineOptions(min_angle=degrees)))).sum()
        result = len(dmr.refine(mesh, min_angle=degrees, device="cpu", threads=1).mesh.triangles)
        assert result / factor <= predicted <= factor * result


@pytest.mark.parametrize("conforming", [False, True])
def test_sharp_corners_predict_no_channels(conforming, tmp_path):
    """Nothing that is skinny between the two sides of such a corner is refined."""
    vertices, segments = [(0, 0), (20, 0), (20, 20), (0, 20)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    for k in range(5):
        n = len(vertices)
        vertices += [(1, 2 + 4 * k), (19, 2.002 + 4 * k), (19, 1.998 + 4 * k)]
        segments += [(n, n + 1), (n, n + 2), (n + 1, n + 2)]
    needles = dmr.Pslg(vertices, segments)
    options = {"conforming": conforming, "device": "cpu", "threads": 1}
    plain = len(dmr.refine(needles, **options).mesh.triangles)
    mesh = dmr.triangulate(needles, device="cpu", threads=1)
    assert plain / 1.5 < np.maximum(*predicted_triangles(mesh, ANGLE)).sum() < 1.5 * plain
    parts = dmr.distributed.refine(needles, tmp_path / "out", tile_triangles=100, **options)
    assert parts.manifest["passes"][0]["tiles"] < 9  # not hundreds of a few triangles each
    assert dmr.distributed.validate(parts, input=needles, min_angle=30, threads=1).ok


def test_a_near_vertex_obtuse_corners_and_segments_that_all_but_touch_predict_few_triangles():
    near = dmr.Pslg([(0, 0), (100, 0), (100, 100), (0, 100), (50, 1e-3)], [(0, 1), (1, 2), (2, 3), (3, 0)])
    touching = dmr.domains.polygon([(0, 0), (1, 0), (1, 1e-12), (0, 1e-12)])
    for outline in (near, dmr.domains.regular_polygon(2000), touching):
        mesh = dmr.triangulate(outline, device="cpu", threads=1)
        assert np.maximum(*predicted_triangles(mesh, ANGLE)).max() <= FOR_A_SKINNY_TRIANGLE


@pytest.mark.slow
def test_a_channel_of_two_triangles_is_cut(tmp_path):
    found = dmr.distributed.refine(
        dmr.domains.polygon(OUTLINES["channel"]), tmp_path / "out", tile_triangles=300, device="cpu", threads=1
    )
    assert found.manifest["passes"][0]["tiles"] > 1


def test_blocks_have_about_equal_weights():
    random = np.random.default_rng(1)
    places, weights = random.random((4000, 2)), random.integers(1, 20, 4000)
    triangles = np.repeat(np.arange(4000, dtype=np.int32)[:, None], 3, axis=1)
    for shift in (0.0, 0.31):
        block = blocks_of(places, triangles, weights, 7, shift, 2)
        shares = np.bincount(block, weights) / weights.sum() * 7
        assert len(shares) == 7 and shares.max() < 1 + 2 * shift + 0.05
    assert len(np.unique(blocks_of(places, triangles[:5], np.array([1000, 1, 1, 1, 1]), 5, 0.0, 1))) == 5


def test_components_are_those_that_edges_connect():
    mesh = dmr.generate("grid", 400, seed=1)
    centroids = mesh.vertices[mesh.triangles].mean(axis=1)
    rings = (4 * np.abs(centroids - 0.5).max(axis=1)).astype(int)
    neighbours = np.where(rings[mesh.neighbours] == rings[:, None], mesh.neighbours, -1)
    neighbours[mesh.neighbours < 0] = -1
    found = components(neighbours.astype(np.int32))
    assert {tuple(np.unique(rings[found == label])) for label in np.unique(found)} == {(ring,) for ring in set(rings)}


@pytest.mark.slow
def test_tiles_that_are_too_small_for_the_circles_of_a_mesh_grow(tmp_path):
    mesh = dmr.generate("random", 24, seed=1)
    done, union = tiled(mesh, 8, tmp_path)
    assert done.complete and dmr.validate(union, input=mesh, min_angle=30).ok
    assert any("circumcircles reach across tiles of 8 triangles" in each for each in done.warnings)


def test_a_tile_without_cuts_keeps_the_attributes_of_its_triangles(tmp_path):
    """Nothing of such a tile is near a border, so its margin would have no triangles, and lose their width."""
    square = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], triangle_attributes=[[7.0], [8.0]])
    done, union = tiled(square, 1, tmp_path)
    assert len(done.passes) > 1
    assert sorted(union.triangle_attributes.ravel()) == [7.0, 8.0]


def test_margins_have_layers_for_two_bands():
    small, large = (layers_of(0, tile_triangles) for tile_triangles in (LARGE_TILE - 1, LARGE_TILE))
    assert (small, margin_of(0, small), margin_of(1, small)) == (3, 12, 6)
    assert (large, margin_of(0, large), margin_of(1, large)) == (4, 8, 8)


def test_the_last_band_has_a_margin_of_one_layer(tmp_path, monkeypatch):
    calls = []

    def noted(*given, only, **named):
        calls.append((only, given, named, refine_patch(*given, only=only, **named)))
        return calls[-1][-1]

    monkeypatch.setattr(tasks, "refine_patch", noted)
    done, _ = tiled(dmr.domains.rectangle(1, 1), 20_000, tmp_path, max_area=2e-5)
    *first, (only, given, named, last) = calls
    assert only and not any(each[0] for each in first) and len(done.passes) == 2
    assert last.margin is None  # it was found before
    patch, whole, bounds, device, depth, _, *rest = given
    named["found"] = None
    last = refine_patch(patch, whole, bounds, device, depth, None, *rest, only=True, **named)
    with_band = refine_patch(patch, whole, bounds, device, depth, None, *rest, only=False, **named)
    whole_of = [each.core_triangles + len(each.margin.mesh.triangles) for each in (last, with_band)]
    assert whole_of[0] == whole_of[1] and last.inserted == with_band.inserted
    assert 2 * len(last.margin.mesh.triangles) < len(with_band.margin.mesh.triangles)
    assert last.beside[1] == 2 * len(last.margin.mesh.triangles)
    parts = []
    named["found"] = parts.append
    refine_patch(patch, whole, bounds, device, depth, None, *rest, only=True, **named)
    (first,) = parts  # what others wait for is its margin
    assert same_arrays(first.load(), last.margin) and first.in_core == last.core_triangles > 0
    np.testing.assert_array_equal(first.border, last.tile_border)


@pytest.mark.parametrize("squares", [4, 80])  # per side; small tiles have no core
def test_divided_margins_are_pieces_of_the_result_if_all_cuts_are_segments(squares, tmp_path, monkeypatch):
    """Such cuts freeze nothing: if nothing is refined, either, no band takes the parts of margins."""
    x, y = (each.ravel() for each in np.meshgrid(np.arange(squares + 1.0), np.arange(squares + 1.0), indexing="ij"))
    of_grid = np.arange(len(x)).reshape(squares + 1, -1)
    a, b, c, d = (of_grid[i : squares + i, k : squares + k].ravel() for i, k in ((0, 0), (1, 0), (1, 1), (0, 1)))
    middle = of_grid[squares // 2]
    mesh = dmr.Mesh(
        np.stack([x, y], axis=1), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]),
        segments=np.stack([middle[:-1], middle[1:]], axis=1),
    )  # fmt: skip

    def by_side(mesh, *given):
        return (mesh.vertices[mesh.triangles].mean(axis=1)[:, 0] > squares / 2).astype(np.int32), 2

    monkeypatch.setattr(cutting, "_blocks", by_side)
    done, union = tiled(mesh, squares**2, tmp_path / "tasks")
    assert len(done.passes) == 1 and len(done.pieces) == 2 and done.triangles == len(mesh.triangles)
    assert all(dividing.BAND in piece.places and (tasks.CORE in piece.places) == (squares > 4) for piece in done.pieces)
    assert len(union.triangles) == len(mesh.triangles) and dmr.validate(union, input=mesh, min_angle=30).ok
    parts = dmr.distributed.refine(mesh, tmp_path / "out", tile_triangles=squares**2, device="cpu", threads=1)
    assert (
        dmr.distributed.validate(parts, input=mesh, min_angle=30).ok
        and min(len(parts.part(k).ghost_numbers) for k in (0, 1)) > 0
    )


def test_the_last_tile_returns_the_memory_of_its_device(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(HostDevice, "trim_memory", lambda self: calls.append("trim"))
    monkeypatch.setattr(HostDevice, "release_memory", lambda self: calls.append("release"))
    tiled(dmr.domains.rectangle(1, 1), 20_000, tmp_path, max_area=2e-5)
    assert calls.count("trim") >= 5 and calls[-1] == "release"
    calls.clear()
    with refining._counted(open_device("cpu", 1)):  # another tile waits
        refining.release(open_device("cpu", 1))
    assert not calls


@pytest.mark.slow
def test_tiles_that_grow_beyond_a_device_are_an_error(tmp_path, monkeypatch):
    refine = tasks.refine_patch

    def refine_small_ones(load, *rest, **named):
        if len(load().mesh.triangles) > 40:
            raise OutOfMemoryError("too little memory")
        return refine(load, *rest, **named)

    monkeypatch.setattr(tasks, "refine_patch", refine_small_ones)
    with pytest.raises(OutOfMemoryError, match=r"reach across tiles of 8 triangles.*too little memory for tiles of"):
        tiled(dmr.generate("random", 24, seed=1), 8, tmp_path / "device")
    monkeypatch.undo()
    monkeypatch.setattr(passes, "MOST_TRIANGLES", 30)
    with pytest.raises(OptionError, match="no larger ones can be refined"):
        tiled(dmr.generate("random", 24, seed=1), 8, tmp_path / "mesh")


def test_a_tile_that_reaches_its_limit_on_points_leaves_a_valid_union(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "default_budget", lambda *_, **__: 5)
    mesh = dmr.generate("random", 400, seed=1)
    done, union = tiled(mesh, 900, tmp_path)
    assert not done.complete and done.unrefined["budget"] > 0
    assert any("limits on Steiner points" in each for each in done.warnings)
    assert dmr.validate(union, input=mesh).ok


@pytest.mark.parametrize("options", [{"max_steiner": 3}, {"max_seconds": 1.0}, {"optimize": True}])
def test_options_that_tiles_do_not_support_are_refused(options):
    with pytest.raises(OptionError, match="cannot be combined with tiles"):
        Bounds.checked(RefineOptions(**options), {}, dmr.Mesh)


def test_markings_that_race_are_refused():
    with pytest.raises(OptionError, match="must not depend on the schedule"):
        Bounds.checked(RefineOptions(marking="three-phase"), {}, dmr.Mesh)
