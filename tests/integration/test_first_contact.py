"""A program that has just imported dmr: modules, logging, huge numbers, and an incomplete installation."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import dmr
import static_graph
from dmr.cli import main
from dmr.errors import FileError, InvalidMeshError, NativeLibraryError, OptionError
from dmr.triangulation import bindings
from static_graph.errors import FileError as GraphFileError

HUGE = 10**400
MESH = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
SQUARE = dmr.Pslg([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]])


def run(program: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, done.stderr


def test_modules_are_available_after_import_dmr():
    program = (
        "import sys, dmr\n"
        "assert not {'numpy', 'dmr.io', 'dmr.errors', 'dmr.memory'} & set(sys.modules)\n"
        "mesh = dmr.Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])\n"
        "print(type(dmr.io.to_meshio(mesh)).__name__, dmr.errors.FileError.__name__, dmr.memory.__name__)\n"
        "print(dmr.memory.open_device('cpu', 1).name, dmr.domains.circle(1, 5))\n"
    )
    assert run(program)[0].split("\n")[:2] == ["Mesh FileError dmr.memory", "cpu Pslg(5 vertices, 5 segments, 0 holes)"]


@pytest.mark.slow
def test_nothing_on_stderr_without_logging_configured():
    program = (
        "import dmr, logging, static_graph\n"
        "mesh = dmr.Mesh([[0, 0], [4, 0], [4, 1], [0, 1.5], [2, 0.4]],\n"
        "    [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])\n"
        "print(len(dmr.refine(mesh, max_steiner=1, max_area=0.01, device='cpu', threads=1).warnings) > 0)\n"
        "logging.getLogger('static_graph.io').warning('nothing')\n"
    )
    assert run(program) == ("True\n", "")
    loud = "import logging; logging.basicConfig()\n" + program
    assert "WARNING:dmr:stopped at the limit of 1 Steiner point:" in run(loud)[1]


@pytest.mark.parametrize(
    "options",
    [
        {"max_edge": HUGE},
        {"max_area": HUGE},
        {"min_angle": HUGE},
        {"max_area": -HUGE},
        {"max_edge": lambda points: HUGE},
        {"max_edge": lambda points: [HUGE] * len(points)},
    ],
    ids=["max_edge", "max_area", "min_angle", "negative", "callback", "callback, one each"],
)
def test_integers_beyond_double_range_are_refused(options):
    with pytest.raises(OptionError, match=r"about 40[01] digits is too large"):
        dmr.refine(MESH, device="cpu", threads=1, **options)


def test_coordinates_beyond_double_range_are_refused():
    for maker in (lambda: dmr.Mesh([[0, 0], [HUGE, 0], [0, 1]], [[0, 1, 2]]), lambda: dmr.Pslg([[0, HUGE]], [])):
        with pytest.raises(InvalidMeshError, match=r"^vertices "):
            maker()
    with pytest.raises(InvalidMeshError, match="is too large"):
        dmr.domains.polygon([(0, 0), (HUGE, 0), (0, 1)])
    with pytest.raises(OptionError, match=r"^radius "):
        dmr.domains.circle(HUGE, 5)


def test_a_missing_triangulation_library_is_reported_as_such(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bindings, "LIBRARY", tmp_path / "_triangulation.so")
    bindings.library.cache_clear()
    try:
        with pytest.raises(NativeLibraryError, match=r"_triangulation\.so is missing"):
            dmr.triangulate(SQUARE)
        (tmp_path / "_triangulation.so").write_text("no library")
        with pytest.raises(NativeLibraryError, match=r"_triangulation\.so cannot be loaded"):
            dmr.triangulate(SQUARE)
        dmr.write(tmp_path / "a.poly", SQUARE)
        assert main(["refine", str(tmp_path / "a.poly")]) == 4
        assert "not fully installed" in capsys.readouterr().err
    finally:
        bindings.library.cache_clear()


def test_read_raises_file_not_found_error(tmp_path: Path):
    try:
        dmr.read(tmp_path / "none.ele")
    except FileNotFoundError as error:
        assert error.filename == str(tmp_path / "none.ele")
    else:
        pytest.fail("nothing was raised")


def test_a_table_of_coordinates_is_refused_with_a_remedy(tmp_path: Path):
    path = tmp_path / "outline.csv"
    path.write_text("0,0\n1,0\n1,1\n")
    with pytest.raises(FileError, match=r"polygon\(numpy\.loadtxt\('outline\.csv', delimiter=','\)\)"):
        dmr.read(path)


def test_a_picture_is_not_written_as_a_mesh(tmp_path: Path):
    with pytest.raises(FileError, match=r"dmr view MESH --screenshot fine\.png draws one"):
        dmr.write(tmp_path / "fine.png", MESH)


@pytest.mark.parametrize("name", ["size", "max_edge", "area"])
def test_a_function_of_x_and_y_is_refused_with_a_remedy(name: str):
    with pytest.raises(OptionError, match=rf"^{name} must be a function of one argument, an array \(n, 2\) of points"):
        dmr.refine(SQUARE, device="cpu", **{name: lambda x, y: x + y})


def test_functions_of_points_may_have_further_arguments_with_defaults():
    fine = dmr.refine(SQUARE, device="cpu", max_edge=lambda points, most=0.5: most + 0 * points[:, 0])
    assert len(fine.mesh.triangles) > 2


def test_attributes_of_the_mesh_are_found_from_its_refinement():
    fine = dmr.refine(SQUARE, device="cpu")
    for name in ("vertices", "triangles", "to_skfem"):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}': its mesh has it, \.mesh\.{name}$"):
            getattr(fine, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'colour'$"):
        getattr(fine, "colour")  # noqa: B009
    assert pickle.loads(pickle.dumps(copy.deepcopy(fine))).rounds == fine.rounds


def test_a_single_ring_in_place_of_a_list_of_rings_is_named():
    with pytest.raises(InvalidMeshError, match=r"hole 0 .* not a single point: give a list of rings"):
        dmr.domains.polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[(1, 1), (2, 1), (2, 2)])


def test_edges_between_names_are_refused_with_a_remedy(tmp_path: Path):
    path = tmp_path / "edges.txt"
    path.write_text("a b\nb c\n")
    with pytest.raises(GraphFileError, match=r"\.graphml and \.parquet files may have nodes with names$"):
        static_graph.read(path)


NOT_WHOLE = r"is not a whole number; a line should be <source> <target> \[<weight>\]$"  # and no word on names


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("edges.txt", "1.5 1\n", NOT_WHOLE),
        ("edges.txt", "1e3 1\n", NOT_WHOLE),
        ("edges.txt", "0;1 1\n", NOT_WHOLE),
        # numpy would call it pickled objects
        ("graph.npz", "hello", r"graph\.npz: is damaged, or not an \.npz file: it does not begin as one$"),
    ],
)
def test_other_contents_are_not_taken_for_names_or_pickled_objects(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content.encode())
    with pytest.raises(GraphFileError, match=message):
        static_graph.read(tmp_path / name)


def test_one_triangle_too_many_is_counted_in_words(tmp_path):
    (tmp_path / "m.node").write_text("4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n")
    (tmp_path / "m.ele").write_text("1 3 0\n1 1 2 3\n2 1 3 4\n")
    with pytest.raises(FileError, match="holds more than the 1 triangle that line 1 promises"):
        dmr.read(tmp_path / "m.ele")
