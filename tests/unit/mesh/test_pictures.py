"""Plots by matplotlib, and the small pictures for notebooks."""

from __future__ import annotations

import dataclasses
import re
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.errors import DmrError, OptionError
from dmr.mesh.pictures.thumbnails import HEIGHT, UNITS, WIDTH, picture_of_graph, picture_of_mesh
from tests.support.planar import area_of

RING = domains.polygon(domains.circle_points(2, 40, (5, 5)), [domains.circle_points(1, 20, (5, 5))], markers=[1, 2])
MESH = dmr.refine(RING, max_area=0.05, device="cpu", threads=1).mesh
TWO = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], triangle_attributes=[[1.0], [5.0]])
NAMES = ["min_angle", "area", "region"]


@pytest.fixture
def plt(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def pixels(ax):
    """The colours of a figure, (height, width, 3)."""
    ax.figure.canvas.draw()
    return np.asarray(ax.figure.canvas.buffer_rgba())[..., :3]


# ---- matplotlib ----------------------------------------------------------------------------------------------------


def test_the_triangulation_is_that_of_the_mesh(plt):
    tri = MESH.triangulation
    assert np.array_equal(tri.triangles, MESH.triangles)
    assert np.array_equal(np.column_stack([tri.x, tri.y]), MESH.vertices)
    drawn = plt.subplots()[1].tricontourf(tri, MESH.vertices[:, 0])
    assert drawn.get_array() is not None


def test_edges_of_large_meshes_are_thin_and_do_not_cover_values(plt):
    few, many = (dmr.refine(domains.rectangle(2, 1), size=size).mesh for size in (0.1, 0.01))
    assert len(many.triangles) > 20_000

    def widths(ax):
        return [line.get_linewidth() for line in ax.lines if len(line.get_xdata())]

    (full,), (thin,) = widths(few.plot()), widths(many.plot())
    assert full == 0.3 and 0.05 < thin < 0.2
    assert widths(few.plot("area")) == [full] and widths(many.plot("area")) == []


@pytest.mark.parametrize("values", [None, "min_angle", "area", np.arange(len(MESH.vertices)), MESH.areas.tolist()])
def test_a_plot_shows_the_mesh_and_leaves_out_the_hole(plt, values):
    ax = MESH.plot(values)
    assert ax.get_aspect() == 1
    image = pixels(ax)

    def at(x, y):
        return image[::-1][tuple(np.rint(ax.transData.transform((x, y))).astype(int)[::-1])]

    assert at(5, 5).tolist() == [255, 255, 255] != at(5, 6.5).tolist()


def test_regions_are_two_colours_with_their_numbers(plt):
    ax = TWO.plot("region", cmap="cool")
    assert [tick.get_text() for tick in ax.child_axes[0].get_yticklabels()] == ["1", "5"]
    named = dataclasses.replace(TWO, names={"regions": {5: "clay"}}).plot("region")
    assert [tick.get_text() for tick in named.child_axes[0].get_yticklabels()] == ["1", "clay"]
    assert len(np.unique(pixels(ax).reshape(-1, 3), axis=0)) > 2


def test_with_as_many_vertices_as_triangles_numbers_belong_to_vertices(plt):
    frame = dmr.triangulate(domains.polygon([(0, 0), (3, 0), (3, 3), (0, 3)], [[(1, 1), (2, 1), (2, 2), (1, 2)]]))
    assert len(frame.triangles) == len(frame.vertices) == 8
    kinds = [type(frame.plot(values).collections[0]).__name__ for values in (np.arange(8), "area")]
    assert kinds == ["TriMesh", "PolyCollection"]


def test_axes_are_used_and_new_figures_are_made(plt):
    _, ax = plt.subplots()
    assert MESH.plot(ax=ax) is ax and RING.plot(ax=ax) is ax
    assert RING.plot().figure is not ax.figure
    assert dmr.refine(RING, device="cpu", threads=1).plot("area", ax=ax) is ax
    regions = domains.with_regions(RING, [[6.5, 5, 7, 0]])
    assert [text.get_text() for text in regions.plot().texts] == ["7"]
    named = domains.with_names(regions, regions={7: "steel"})
    assert [text.get_text() for text in named.plot().texts] == ["steel"]


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: MESH.plot("quality"), OptionError, "values must be one of min_angle, area, region, not 'quality'"),
        (lambda: MESH.plot([1.0, 2.0]), OptionError, r"values must have shape .* one for each vertex, not \(2,\)"),
        (lambda: MESH.plot([["a"]]), OptionError, "values must be real numbers"),
        (lambda: MESH.plot("region"), OptionError, "needs a mesh with a region attribute"),
        (lambda: MESH.plot(ax=7), OptionError, "ax must be matplotlib axes, not 7"),
        (lambda: dmr.Mesh([[0, 0]], []).plot(), DmrError, "the mesh has no triangles"),
        (lambda: dmr.Mesh([[0, 0]], []).triangulation, DmrError, "the mesh has no triangles"),
        (lambda: dmr.Pslg([], []).plot(), DmrError, "the graph has no vertices"),
    ],
)
def test_errors_are_one_sentence(plt, call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    for name in ("matplotlib", "matplotlib.tri", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (MESH.plot, RING.plot, lambda: MESH.triangulation):
        with pytest.raises(DmrError, match=r"the extra \[plot\] of this package: pip install matplotlib"):
            call()


# ---- Notebooks -----------------------------------------------------------------------------------------------------


def paths(item):
    """The polylines of each path of a picture, in pixels; closed ones end where they begin."""
    root = ElementTree.fromstring(picture_of_mesh(item) if isinstance(item, dmr.Mesh) else picture_of_graph(item))
    assert 0 < float(root.get("width")) <= WIDTH and 0 < float(root.get("height")) <= HEIGHT
    found = []
    for path in root:
        lines = []
        for start, steps, closed in re.findall(r"M([-\d ]+)(?:l([-\d ]+)|h0)(z?)", path.get("d")):
            moves = np.array([start.split(), *np.reshape(steps.split(), (-1, 2))], float)
            line = np.cumsum(moves, axis=0) / UNITS
            lines.append(np.concatenate([line, line[:1]]) if closed else line)
        found.append(lines)
    return found


def enclosed(lines):
    """The area within closed polylines by the shoelace formula, holes subtracted."""
    return abs(sum((line[:-1, 0] * line[1:, 1] - line[1:, 0] * line[:-1, 1]).sum() / 2 for line in lines))


def test_a_picture_has_outline_edges_and_the_right_area():
    outline, edges = paths(MESH)
    assert len(outline) == 2 and len(edges) == len(MESH.edges)
    scale = np.ptp(np.concatenate(outline), axis=0) / np.ptp(MESH.vertices, axis=0)
    assert scale[0] == pytest.approx(scale[1], rel=0.01)
    assert enclosed(outline) == pytest.approx(area_of(MESH) * scale[0] ** 2, rel=0.01)
    everything = np.concatenate([*outline, *edges])
    assert (everything >= 0).all() and (everything <= (WIDTH, HEIGHT)).all()


def test_many_regions_have_different_colours_beside_each_other_and_few_labels(plt):
    squares = [([(k, 0), (k + 1, 0), (k + 1, 1), (k, 1)], []) for k in range(30)]
    ax = dmr.triangulate(domains.polygons(squares, attributes=list(range(1, 31)))).plot("region")
    image = pixels(ax)[::-1]
    found = [image[tuple(np.rint(ax.transData.transform((k + 0.4, 0.3))).astype(int)[::-1])] for k in range(30)]
    assert all((one != other).any() for one, other in pairwise(found))
    bar = ax.child_axes[0]
    assert [label.get_text() for label in bar.get_yticklabels()] == [str(k) for k in range(1, 31, 2)]


@pytest.mark.parametrize("item", [MESH, RING])
def test_pictures_have_a_background_for_dark_themes(item):
    assert re.search(r'<svg [^>]*style="background:#fff"', item._repr_html_())


def test_segments_inside_are_drawn_and_the_boundary_only_once():
    cracked = dmr.triangulate(domains.merge(domains.rectangle(4, 4), domains.polyline([(1, 1), (3, 3)])))
    outline, _, inside = paths(cracked)
    assert len(outline) == 1 and len(inside) == 1


def test_regions_are_filled_with_their_colours_and_holes_are_not():
    bore = domains.circle_points(0.4, 24, (1, 1))
    halves = domains.merge(
        domains.polygon([(0, 0), (4, 0), (4, 2), (0, 2)], [bore]), domains.polyline([(3, 0), (3, 2)])
    )
    mesh = dmr.refine(domains.with_regions(halves, [(0.1, 0.1, 7), (3.9, 1, -2)]), max_area=0.01).mesh
    right, left, outline, _, inside = paths(mesh)
    fills = re.findall(r'fill="([^"]+)" fill-rule', picture_of_mesh(mesh))
    assert fills == ["#77aadd", "#ee8866", "none"] and len(inside) > 1
    scale = np.ptp(np.concatenate(outline), axis=0)[0] / 4
    assert enclosed(right) == pytest.approx(2 * scale**2, rel=0.01)
    assert enclosed(left) == pytest.approx((area_of(mesh) - 2) * scale**2, rel=0.01) and len(left) == 2
    assert len(right[0]) <= 7  # points inside straight sides are left out, except the first
    overlapping = dmr.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]] * 3, triangle_attributes=[[1], [2], [2]])
    assert "#ee8866" not in overlapping._repr_html_()


def test_all_edges_of_meshes_of_some_thousand_triangles_are_drawn():
    mesh = dmr.refine(domains.rectangle(2, 1), size=0.032).mesh
    _, edges = paths(mesh)
    assert 4000 < len(mesh.triangles) < 5000 and len(edges) == len(mesh.edges)
    assert len(mesh._repr_html_()) < 130_000


@pytest.mark.slow
def test_pictures_of_large_items_are_small():
    rng = np.random.default_rng(5)
    angles = np.linspace(0, 2 * np.pi, 20_001)[:-1]
    star = (1 + 0.2 * np.sin(40 * angles))[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    rough = domains.polygon(star)
    meshed = dmr.triangulate(rough)
    for item in (rough, meshed, dmr.Pslg(rng.random((30_000, 2)), [])):
        assert 1000 < len(item._repr_html_()) < 150_000
    (outline,) = paths(meshed)
    scale = np.ptp(np.concatenate(outline), axis=0)[0] / np.ptp(star, axis=0)[0]
    assert enclosed(outline) == pytest.approx(area_of(meshed) * scale**2, rel=0.05)


@pytest.mark.parametrize(
    "item",
    [
        dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 1, 3]]),  # overlapping
        dmr.Mesh([[0, 0]], []),
        dmr.Mesh([], []),
        dmr.Pslg([], []),
        dmr.Pslg([[3, 3]], []),
        dmr.Pslg([[0, 0], [0, 7]], [[0, 1]]),
        dmr.Mesh([[-1.7e308, 0], [1.7e308, 0], [0, 1.7e308]], [[0, 1, 2]]),
        dmr.Mesh([[0, 0], [5e-324, 0], [0, 5e-324]], [[0, 1, 2]]),
    ],
)
def test_whatever_can_be_made_can_be_shown(item):
    page = ElementTree.fromstring(item._repr_html_())
    assert page.find("figcaption").text == repr(item)


def test_a_refinement_shows_its_mesh():
    result = dmr.refine(RING, device="cpu", threads=1)
    assert picture_of_mesh(result.mesh) in result._repr_html_() and "complete" in result._repr_html_()
