"""Pictures, whose colours are read back from the pixels; drawing needs no display."""

from __future__ import annotations

import errno
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from dmr.errors import DmrError, FileError, OptionError
from dmr.mesh.pictures.quantities import quality_colours
from dmr.mesh.types import Mesh, Pslg
from dmr.viewing.colours import ColourScale, round_numbers, ticks
from dmr.viewing.viewer import view

pytest.importorskip("pyvista")
image = pytest.importorskip("PIL.Image")

SQUARE = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], triangle_attributes=[[4], [9]])

pytestmark = pytest.mark.slow  # whether VTK can draw takes seconds to find out


@pytest.fixture(autouse=True)
def no_display(monkeypatch, drawing):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


def pixels(path):
    with image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def near(picture, colour, tolerance=12):
    return np.abs(picture - np.array(colour)).max(axis=2) <= tolerance


def test_the_mesh_fills_the_picture(tmp_path):
    view(SQUARE, color=None, edges=False, screenshot=tmp_path / "a.png", window_size=(300, 200))
    picture = pixels(tmp_path / "a.png")
    assert picture.shape == (200, 300, 3)
    drawn = ~near(picture, (255, 255, 255), 3)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert 4 <= rows[0] <= 12
    assert 188 <= rows[-1] <= 195
    assert abs((columns[0] + columns[-1]) / 2 - 149.5) < 2
    assert abs((columns[-1] - columns[0]) - (rows[-1] - rows[0])) <= 2, "a square stays one"


@pytest.mark.parametrize(("offset", "scale"), [(0, 1), (1e6, 1e-3), (1e15, 8), (0, 1e-9), (-5e8, 1e9), (0, 1e60)])
def test_pictures_do_not_depend_on_position_and_scale(tmp_path, offset, scale):
    view(SQUARE, screenshot=tmp_path / "a.png", window_size=(200, 200))
    moved = Mesh(SQUARE.vertices * scale + offset, SQUARE.triangles)
    view(moved, screenshot=tmp_path / "b.png", window_size=(200, 200))
    assert np.abs(pixels(tmp_path / "a.png") - pixels(tmp_path / "b.png")).mean() < 0.5


def test_regions_have_their_own_colours(tmp_path):
    view(SQUARE, color="region", screenshot=tmp_path / "a.png", window_size=(300, 300))
    picture = pixels(tmp_path / "a.png")
    share = [near(picture, colour).mean() for colour in ((119, 170, 221), (238, 136, 102))]
    assert min(share) > 0.15
    assert abs(share[0] - share[1]) < 0.03


def test_good_triangles_are_pale_and_bad_ones_darker():
    degrees = np.linspace(0, 60, 256)
    lightness = quality_colours().astype(float) @ (0.299, 0.587, 0.114)
    assert lightness[degrees >= 30].min() > 190 and np.ptp(quality_colours()[degrees >= 30], axis=1).max() < 60
    assert lightness[degrees < 29.9].max() < 205 and (np.diff(lightness[degrees < 29.9]) >= 0).all()
    assert np.ptp(quality_colours()[degrees < 29], axis=1).min() > 80, "colours, not greys"


def test_legends_of_regions_have_their_names(tmp_path):
    named = replace(SQUARE, names={"regions": {int(SQUARE.triangle_attributes[0, 0]): "steel"}})
    for name, mesh in (("plain", SQUARE), ("named", named)):
        view(mesh, color="region", screenshot=tmp_path / f"{name}.png", window_size=(300, 300))
    plain, other = (pixels(tmp_path / f"{name}.png").mean(axis=2) for name in ("plain", "named"))
    changed = np.argwhere(np.abs(plain - other) > 60)
    assert len(changed) and changed[:, 0].min() > 250, "only the legend, at the bottom"


def test_segments_are_thicker_than_edges(tmp_path):
    marked = Mesh(SQUARE.vertices, SQUARE.triangles, segments=[[0, 2]])
    shown = {}
    for name, mesh, edges in (("none", SQUARE, False), ("thin", SQUARE, True), ("bold", marked, True)):
        view(mesh, color=None, edges=edges, screenshot=tmp_path / f"{name}.png", window_size=(200, 200))
        shown[name] = (255 - pixels(tmp_path / f"{name}.png").mean(axis=2)).sum()
    assert shown["none"] < shown["thin"] < shown["bold"]


def test_two_meshes_stand_side_by_side_at_one_scale(tmp_path):
    half = Mesh(SQUARE.vertices[:3], SQUARE.triangles[:1])
    view(SQUARE, compare=half, titles=("left", "right"), screenshot=tmp_path / "a.png")
    picture = pixels(tmp_path / "a.png")
    green = near(picture, pixels_of_45_degrees(), 6)
    middle = picture.shape[1] // 2
    assert green[:, middle:].sum() == pytest.approx(green[:, :middle].sum() / 2, rel=0.03)


def pixels_of_45_degrees():
    return ColourScale.over([SQUARE], "min_angle").paint(SQUARE)[0]


def test_a_fine_mesh_does_not_turn_black(tmp_path):
    side = 250
    x, y = np.meshgrid(np.arange(side + 1.0), np.arange(side + 1.0))
    corner = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    up, right = corner + side + 1, corner + 1
    fine = Mesh(
        np.column_stack((x.ravel(), y.ravel())),
        np.vstack((np.column_stack((corner, right, up + 1)), np.column_stack((corner, up + 1, up)))),
    )
    view(fine, screenshot=tmp_path / "a.png", window_size=(400, 480))
    picture = pixels(tmp_path / "a.png")
    assert near(picture[20:380, 20:380], pixels_of_45_degrees(), 8).mean() > 0.95


@pytest.mark.parametrize("size", [(64, 64), (100, 100), (119, 400), (400, 99)])
def test_a_small_picture_shows_only_the_mesh(tmp_path, size):
    view(SQUARE, screenshot=tmp_path / "a.png", window_size=size, titles=("square.ele",))
    drawn = ~near(pixels(tmp_path / "a.png"), (255, 255, 255), 3)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert rows[-1] - rows[0] == pytest.approx(0.94 * min(size), abs=3)
    assert columns[-1] - columns[0] == pytest.approx(0.94 * min(size), abs=3)
    view(SQUARE, compare=SQUARE, screenshot=tmp_path / "a.png", window_size=size, titles=("left", "right"))


@pytest.mark.parametrize("size", [(120, 100), (150, 150), (200, 200), (240, 160)])
@pytest.mark.parametrize("name", ["m.ele", "a-rather-long-name-of-a-mesh.ele"])
def test_titles_and_colours_are_not_cut(tmp_path, size, name):
    view(SQUARE, compare=SQUARE, screenshot=tmp_path / "a.png", window_size=size, titles=(name, name))
    drawn = ~near(pixels(tmp_path / "a.png"), (255, 255, 255), 3)
    assert not drawn[:, [0, -1]].any()
    assert not drawn[[0, -1]].any()
    assert not drawn[: size[1] // 2, size[0] // 2].any(), "nothing reaches into the other half"
    assert drawn[: size[1] // 8].any(), "titles"


def test_a_picture_is_replaced_as_a_whole(tmp_path, monkeypatch):
    view(SQUARE, screenshot=tmp_path / "a.png", window_size=(100, 100))
    before = (tmp_path / "a.png").read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr("dmr.common.files.replacing.os.write", full)
    with pytest.raises(FileError, match=r"a\.png: .*disk is full"):
        view(SQUARE, color=None, screenshot=tmp_path / "a.png", window_size=(100, 100))
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == before


def test_outlines_are_drawn(tmp_path):
    outline = Pslg([[0, 0], [2, 0], [2, 1]], [[0, 1], [1, 2], [2, 0]])
    view(outline, screenshot=tmp_path / "a.jpg")
    assert 0.002 < (pixels(tmp_path / "a.jpg").mean(axis=2) < 128).mean() < 0.1


def test_a_window_needs_a_display():
    with pytest.raises(OptionError, match="no display"):
        view(SQUARE)


def test_invalid_view_options_are_refused(tmp_path):
    with pytest.raises(OptionError, match="color must be one of"):
        view(SQUARE, color="temperature", screenshot=tmp_path / "a.png")
    with pytest.raises(OptionError, match=r"must end in \.png"):
        view(SQUARE, screenshot=tmp_path / "a.gif")
    with pytest.raises(OptionError, match="region attribute"):
        view(Mesh(SQUARE.vertices, SQUARE.triangles), color="region", screenshot=tmp_path / "a.png")
    with pytest.raises(DmrError, match="nothing to draw"):
        view(Mesh(np.empty((0, 2)), np.empty((0, 3), np.int32)), screenshot=tmp_path / "a.png")
    with pytest.raises(DmrError, match="nothing to draw: the mesh has no triangles"):
        view(Mesh(SQUARE.vertices, np.empty((0, 3), np.int32)), compare=SQUARE, screenshot=tmp_path / "a.png")
    with pytest.raises(FileError, match=r"no folder .*missing"):
        view(SQUARE, screenshot=tmp_path / "missing" / "a.png", window_size=(100, 100))
    (tmp_path / "b.png").mkdir()
    with pytest.raises(FileError, match="there is a folder of that name"):
        view(SQUARE, screenshot=tmp_path / "b.png", window_size=(100, 100))
    (tmp_path / "b.png").rmdir()
    assert list(tmp_path.iterdir()) == []


def test_missing_pyvista_is_named_with_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(DmrError, match=r"\[view\]"):
        view(SQUARE, screenshot=tmp_path / "a.png")


def test_nothing_is_printed_on_stderr(tmp_path):
    program = f"""
import numpy as np
from dmr.mesh.types import Mesh
from dmr.viewing.viewer import view
view(Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), screenshot={str(tmp_path / "a.png")!r}, window_size=(100, 100))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_importing_the_module_does_not_import_pyvista():
    program = "import sys, dmr.viewing; sys.exit('pyvista' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "expected"),
    [
        (0, 60, False, [0, 10, 20, 30, 40, 50, 60]),
        (0.5, 1.5, False, [0.6, 0.8, 1, 1.2, 1.4]),
        (0.3, 7, True, [0.5, 1, 2, 5]),
        (3e-8, 2e-3, True, [1e-7, 1e-6, 1e-5, 1e-4, 1e-3]),
        (1e-30, 1e30, True, [1e-30, 1e-20, 1e-10, 1, 1e10, 1e20, 1e30]),
    ],
)
def test_ticks_are_round_numbers(low, high, logarithmic, expected):
    assert round_numbers(low, high, logarithmic) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (700, ["0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"]),
        (300, ["0.0005", "0.002", "0.01", "0.05"]),
        (40, ["0.0005"]),
    ],
)
def test_numbers_of_a_legend_do_not_overlap(length, expected):
    scale = ColourScale("area", (0.0005, 0.1), logarithmic=True)
    found = ticks(scale, length)
    assert [text for _, text in found] == expected
    assert found[0][0] == pytest.approx(0) and all(0 <= x <= length + 1e-9 for x, _ in found)
