"""Refinements in tiles of meshes in parts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmr
from dmr.distributed import Parts, partition
from dmr.distributed.output.partition import write_divided
from dmr.errors import InvalidMeshError, OptionError
from dmr.sizing import SizeField
from tests.support import command_line
from tests.support.meshes import plate, plate_outline

OPTIONS: dict[str, Any] = {"tile_triangles": 2000, "device": "cpu"}


@pytest.fixture(scope="module")
def coarse(tmp_path_factory) -> Parts:
    """The plate in parts, which have segments, a hole, two regions, and a vertex without triangles."""
    return partition(plate(), tmp_path_factory.mktemp("coarse") / "out", 4)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_parts_are_refined(coarse, tmp_path):
    bounds: dict[str, Any] = {"min_angle": 30, "max_area": 0.003}
    parts = dmr.distributed.refine(coarse.folder, tmp_path / "one", threads=1, **bounds, **OPTIONS)
    with ThreadPoolExecutor(2) as executor:
        dmr.distributed.refine(coarse, tmp_path / "two", executor=executor, **bounds, **OPTIONS)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    whole, given = parts.gather(), coarse.gather()
    for input in (plate_outline(), given):
        assert dmr.validate(whole, input=input, **bounds).ok
        assert dmr.distributed.validate(parts, input=input, **bounds).ok
    assert whole.vertices[: len(given.vertices)].tobytes() == given.vertices.tobytes()
    assert whole.names == given.names
    np.testing.assert_array_equal(whole.holes, given.holes)
    alone = dmr.refine(given, device="cpu", threads=1, **bounds).mesh
    assert 0.9 < len(whole.triangles) / len(alone.triangles) < 1.1


@pytest.mark.slow
def test_parts_by_sizes(coarse, tmp_path):
    """A field, and a function, which is sampled around the parts."""
    field = SizeField.from_grid([-1, 5], [-1, 3], [[0.05, 0.15]] * 2)
    parts = dmr.distributed.refine(
        coarse, tmp_path / "out", max_edge=field, size=lambda p: 0.2 + 0 * p[:, 0], **OPTIONS
    )
    assert dmr.validate(parts.gather(), input=plate_outline(), min_angle=30, max_edge=field).ok


def test_small_corners_of_parts(tmp_path):
    """Corners of 10 degrees on cuts."""
    angles = np.radians(np.arange(0, 180, 10))
    fan = np.vstack([[0, 0], np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    spokes = [[0, k] for k in range(1, len(fan))]
    outline = dmr.Pslg(fan, [*spokes, *([k, k + 1] for k in range(1, len(fan) - 1))])
    given = dmr.refine(outline, min_angle=20, device="cpu", threads=1).mesh
    parts = dmr.distributed.refine(partition(given, tmp_path / "one", 3), tmp_path / "two", max_area=0.002, **OPTIONS)
    report = dmr.distributed.validate(parts, input=given, min_angle=30, max_area=0.002)
    assert report.ok, report.lines()
    assert report.exceptions


@pytest.mark.slow
def test_components_that_meet_in_a_vertex(tmp_path):
    """Each fits a tile, and nothing is cut: they are parts that share a vertex, and no edge."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    other, alone = square + 1, square + np.array([3, 0])
    outline = dmr.Pslg(
        np.vstack([square, other[1:], alone]),
        np.vstack([ring, [[2, 4], [4, 5], [5, 6], [6, 2]], ring + 7]),
        vertex_markers=np.arange(11),
    )
    parts = dmr.distributed.refine(outline, tmp_path / "one", max_area=0.003, tile_triangles=600, device="cpu")
    assert len(parts) > 2
    again = dmr.distributed.refine(parts, tmp_path / "two", max_area=0.002, tile_triangles=900, device="cpu")
    for each, area in ((parts, 0.003), (again, 0.002)):
        report = dmr.distributed.validate(each, input=outline, min_angle=30, max_area=area)
        assert report.ok, report.lines()
        assert dmr.validate(each.gather(), input=outline, min_angle=30, max_area=area).ok


def test_an_edge_between_parts_that_is_not_delaunay_names_both_triangles(tmp_path):
    mesh = dmr.Mesh([[0, 0], [4, 0], [2, 0.5], [2, -0.5]], [[0, 1, 2], [1, 0, 3]])
    parts = write_divided(mesh, [np.array([0]), np.array([1])], tmp_path)
    with pytest.raises(
        InvalidMeshError, match=r"vertex 3 .* of triangle 1, across the edge .*inside its circle"
    ) as caught:
        dmr.distributed.refine(parts, tmp_path / "out", max_area=0.1, **OPTIONS)
    assert caught.value.element == "triangle" and caught.value.index == 0


def test_refused(coarse, tmp_path):
    for options, message in (
        ({"area": [0.1]}, "area must be a function for a mesh in parts"),
        ({"max_steiner": 3}, "max_steiner cannot be combined with tiles"),
        ({"convex_hull": True}, "convex_hull is for outlines"),
    ):
        with pytest.raises(OptionError, match=message):
            dmr.distributed.refine(coarse, tmp_path / "out", **options, **OPTIONS)
    with pytest.raises(OptionError, match="another folder than that of the parts"):
        dmr.distributed.refine(coarse, coarse.folder, overwrite=True, **OPTIONS)
    assert not (tmp_path / "out").exists() and len(list(coarse)) == 4


@pytest.mark.slow
def test_the_command(coarse, tmp_path, capsys):
    words = ["-a", "0.005", "--tiles", "2000", "--device", "cpu", "-o", tmp_path / "out"]
    code, _, err = command_line.dmr(capsys, "refine", coarse.folder, *words)
    assert code == 0, err
    assert dmr.distributed.validate(tmp_path / "out", input=plate_outline(), min_angle=30, max_area=0.005).ok


def test_a_message_of_the_command_names_its_option(coarse, capsys):
    code, _, err = command_line.dmr(capsys, "refine", coarse.folder, "--tiles", "2000", "-o", coarse.folder)
    assert code == 2 and "--output must be another folder than that of the parts" in err


@pytest.mark.parametrize(("tiles", "warned"), [("2000", False), ("8", True)])
def test_tiles_of_hardly_any_triangles_are_probably_meant_as_their_number(tmp_path, capsys, tiles, warned):
    square = tmp_path / "square.poly"
    dmr.write(square, dmr.Pslg([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]]))
    code, _, err = command_line.dmr(
        capsys, "refine", square, "--tiles", tiles, "--device", "cpu", "-o", tmp_path / "out"
    )
    assert code == 0
    assert ("--tiles is the number of triangles in a tile, not of tiles" in err) == warned
