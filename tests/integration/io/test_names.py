"""Names of regions and boundaries in files: read back, and read by Gmsh, scikit-fem, meshio and pyvista."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dmr
from dmr import Mesh, domains
from dmr.io import from_meshio, to_meshio

SUFFIXES = (".msh", ".vtu", ".xdmf", ".inp", ".npz")
ORDERS = [(suffix, order) for suffix in SUFFIXES for order in (1, 2) if order == 1 or suffix not in (".xdmf", ".npz")]


def optional(name: str) -> Any:
    """A module; skips the test if it is not installed, or a library of the system that it needs is not."""
    try:
        return pytest.importorskip(name, exc_type=ImportError)
    except OSError as error:
        pytest.skip(f"{name} cannot be loaded: {error}")


@pytest.fixture(autouse=True)
def h5py_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """meshio imports h5py to write XDMF, but as XML it uses nothing of it."""
    if "h5py" not in sys.modules:
        monkeypatch.setitem(sys.modules, "h5py", types.ModuleType("h5py"))


def plate() -> Mesh:
    """Two regions, named 1 and 2, in a rectangle whose sides are named 1, 2 and 3, and not named: 4."""
    outline = domains.rectangle(2, 1, markers=[4, 2, 3, 1])
    graph = domains.merge(outline, domains.polyline([(1, 0), (1, 1)], markers=6))
    graph = domains.with_regions(graph, [(0.5, 0.5, 1), (1.5, 0.5, 2)])
    names = {"regions": {1: "steel", 2: "ölfilm 1"}, "markers": {1: "inlet", 2: "outlet", 3: "steel"}}
    graph = domains.with_names(graph, **names)
    return dmr.refine(graph, max_area=0.05, device="cpu", threads=1).mesh


PLATE = plate()


def length_of(mesh: Mesh, marker: int) -> float:
    a, b = mesh.vertices[mesh.segments[mesh.segment_markers == marker]].transpose(1, 0, 2)
    return float(np.hypot(*(b - a).T).sum())


@pytest.mark.parametrize(("suffix", "order"), ORDERS)
def test_names_and_their_numbers_come_back(suffix: str, order: int, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    dmr.write(path, PLATE, order=order)
    found = dmr.read(path)
    assert isinstance(found, Mesh)
    assert found.names == PLATE.names
    assert np.array_equal(found.triangle_attributes, PLATE.triangle_attributes)
    assert np.array_equal(found.segment_markers, PLATE.segment_markers)
    data = path.read_bytes()
    dmr.write(path, found, order=order)
    if suffix != ".msh":  # there all boundary edges are segments, and vertices have markers
        assert path.read_bytes() == data


def test_formats_without_names_say_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for suffix in (".vtk", ".mesh", ".ele", ".stl"):
        caplog.clear()
        dmr.write(tmp_path / f"a{suffix}", PLATE)
        assert "names" in caplog.text, suffix
    caplog.clear()
    dmr.write(tmp_path / "a.poly", domains.with_names(domains.rectangle(1, 1), markers={2: "inlet"}))
    assert ".poly files do not keep names" in caplog.text


@st.composite
def named_meshes(draw: st.DrawFn) -> Mesh:
    """Four triangles in a fan with any regions, markers and names, and names that resemble labels."""
    numbers = st.integers(-3, 6)
    text = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters='"\\'), min_size=1, max_size=70)
    names = text | st.sampled_from(["a", "A", "boundary_a", "boundary_boundary_a", "a b", "a-b", "--", "<&>'", "1"])
    regions = draw(st.lists(numbers, min_size=4, max_size=4))
    markers = draw(st.lists(numbers, min_size=4, max_size=4))
    given_names = {
        kind: draw(st.dictionaries(st.sampled_from(sorted(set(used)) or [1]), names, max_size=4))
        for kind, used in (("regions", regions), ("markers", [k for k in markers if k]))
    }
    unique = {kind: {k: v for v, k in {v: k for k, v in each.items()}.items()} for kind, each in given_names.items()}
    return Mesh(
        [[0, 0], [2, 0], [2, 2], [0, 2], [1, 1]],
        [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
        segments=[[0, 1], [1, 2], [2, 3], [3, 0]],
        segment_markers=markers,
        triangle_attributes=np.array(regions, float)[:, None],
        names=unique,
    )


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mesh=named_meshes())
def test_any_names_and_numbers_come_back(mesh: Mesh, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        dmr.write(path, mesh)
        found = dmr.read(path)
        assert isinstance(found, Mesh)
        assert found.names == mesh.names, suffix
        regions = found.triangle_attributes[:, 0] if found.triangle_attributes.shape[1] else np.zeros(4)
        assert regions.tolist() == mesh.triangle_attributes[:, 0].tolist(), suffix
        given_markers = mesh.segment_markers != 0
        assert np.array_equal(found.segment_markers[given_markers], mesh.segment_markers[given_markers]), suffix
        if suffix == ".msh":
            # The rest of the boundary has a marker that no name belongs to.
            rest = set(found.segment_markers[~given_markers].tolist())
            assert not rest & set(mesh.names["markers"]) and len(rest) <= 1
            groups = meshio.read(path).field_data
            tags = [int(tag) for tag, _ in groups.values()]
            assert len(set(tags)) == len(tags) and min(tags) > 0
    back = from_meshio(to_meshio(mesh))
    assert np.array_equal(back.segment_markers, mesh.segment_markers)
    assert np.array_equal(back.triangle_attributes, mesh.triangle_attributes)


def test_the_object_of_meshio_keeps_names() -> None:
    found = to_meshio(PLATE)
    assert from_meshio(found).names == PLATE.names
    assert {"steel", "ölfilm 1", "inlet", "outlet", "boundary_steel", "boundary_4", "boundary_6"} == set(
        found.cell_sets
    )
    bare = meshio.Mesh(found.points, found.cells, cell_sets=found.cell_sets, field_data=found.field_data)
    back = from_meshio(bare)
    assert back.names == PLATE.names and np.array_equal(back.segment_markers, PLATE.segment_markers)


@pytest.mark.parametrize("order", [1, 2])
def test_gmsh_finds_the_groups(order: int, tmp_path: Path) -> None:
    gmsh = optional("gmsh")
    path = tmp_path / "a.msh"
    dmr.write(path, PLATE, order=order)
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.open(str(path))
        groups = {}
        for dimension, tag in gmsh.model.getPhysicalGroups():
            kinds = {gmsh.model.mesh.getElementProperties(kind)[0] for kind in element_types(gmsh, dimension, tag)}
            count = sum(
                len(gmsh.model.mesh.getElementsByType(kind, entity)[0])
                for entity in gmsh.model.getEntitiesForPhysicalGroup(dimension, tag)
                for kind in gmsh.model.mesh.getElementTypes(dimension, entity)
            )
            groups[gmsh.model.getPhysicalName(dimension, tag), dimension] = count
            assert kinds == {{1: ("Line 2", "Line 3"), 2: ("Triangle 3", "Triangle 6")}[dimension][order - 1]}
        assert groups == {
            **{(name, 2): int((PLATE.triangle_attributes == k).sum()) for k, name in PLATE.names["regions"].items()},
            **{
                (label, 1): int((PLATE.segment_markers == k).sum())
                for k, label in {
                    1: "inlet", 2: "outlet", 3: "boundary_steel", 4: "boundary_4", 6: "boundary_6",
                }.items()
            },
        }  # fmt: skip
        # Gmsh's own files in both versions have the same names; numbers are those of the file that it read.
        for version in (2.2, 4.1):
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.write(str(tmp_path / "b.msh"))
            found = dmr.read(tmp_path / "b.msh")
            assert isinstance(found, Mesh)
            assert found.names["regions"] == PLATE.names["regions"]
            assert set(found.names["markers"].values()) == {"inlet", "outlet", "steel"}
            outlet = next(k for k, name in found.names["markers"].items() if name == "outlet")
            assert length_of(found, outlet) == pytest.approx(1)
    finally:
        gmsh.finalize()


def element_types(gmsh: Any, dimension: int, tag: int) -> list[int]:
    return [
        kind
        for entity in gmsh.model.getEntitiesForPhysicalGroup(dimension, tag)
        for kind in gmsh.model.mesh.getElementTypes(dimension, entity)
    ]


@pytest.mark.parametrize("suffix", [".msh", ".inp"])
@pytest.mark.parametrize("order", [1, 2])
def test_scikit_fem_finds_regions_and_boundaries(suffix: str, order: int, tmp_path: Path) -> None:
    skfem = optional("skfem")
    path = tmp_path / f"a{suffix}"
    dmr.write(path, PLATE, order=order)
    mesh = skfem.Mesh.load(path)
    steel, film = ("steel", "ölfilm 1") if suffix == ".msh" else ("steel", "name__lfilm_1")
    for name, x in ((steel, 0.5), (film, 1.5)):
        centroids = mesh.p[:, mesh.t[:3, mesh.subdomains[name]]].mean(axis=1)
        assert np.abs(centroids[0] - x).max() < 0.5
        assert len(mesh.subdomains[name]) == int((PLATE.triangle_attributes == round(x + 0.5)).sum())
    if order == 2:  # scikit-fem 12 reads no quadratic lines
        return
    for name, axis, value in (("inlet", 0, 0), ("outlet", 0, 2), ("boundary_steel", 1, 1), ("boundary_4", 1, 0)):
        ends = mesh.p[:, mesh.facets[:, np.asarray(mesh.boundaries[name])]]
        assert (ends[axis] == value).all() and ends.shape[2]
        assert np.ptp(ends[1 - axis]) == pytest.approx(2 - axis if axis == 0 else 2, abs=1 if axis == 0 else 0)


def test_names_of_meshes_converted_for_scikit_fem() -> None:
    optional("skfem")
    mesh = PLATE.to_skfem()
    assert set(mesh.subdomains) == {"steel", "ölfilm 1"}
    assert set(mesh.boundaries) == {"inlet", "outlet", "steel", "boundary_4", "boundary_6"}
    assert len(mesh.boundaries["outlet"]) == (PLATE.segment_markers == 2).sum()


@pytest.mark.parametrize("suffix", [".msh", ".vtu", ".xdmf"])
@pytest.mark.parametrize("order", [1, 2])
def test_meshio_finds_the_names(suffix: str, order: int, tmp_path: Path) -> None:
    if suffix == ".xdmf" and order == 2:
        return
    dmr.write(tmp_path / f"a{suffix}", PLATE, order=order)
    found = meshio.read(tmp_path / f"a{suffix}")
    fields = {name: tuple(int(k) for k in pair) for name, pair in found.field_data.items()}
    triangles, lines = ("triangle", "line") if order == 1 else ("triangle6", "line3")
    if suffix == ".msh":
        tags = found.cell_data_dict["gmsh:physical"]
        assert (tags[triangles] == fields["steel"][0]).sum() == (PLATE.triangle_attributes == 1).sum()
        assert (tags[lines] == fields["outlet"][0]).sum() == (PLATE.segment_markers == 2).sum()
    else:
        assert fields == {
            "steel": (1, 2),
            "ölfilm 1": (2, 2),
            "inlet": (1, 1),
            "outlet": (2, 1),
            "boundary_steel": (3, 1),
        }


@pytest.mark.parametrize("order", [1, 2])
def test_node_sets_hold_the_points_of_lines(order: int, tmp_path: Path) -> None:
    dmr.write(tmp_path / "a.inp", PLATE, order=order)
    found = meshio.read(tmp_path / "a.inp")
    assert set(found.point_sets) == {"inlet", "outlet", "boundary_steel", "boundary_4", "boundary_6"}
    for label, axis, value in (("inlet", 0, 0), ("outlet", 0, 2), ("boundary_steel", 1, 1)):
        expected = np.flatnonzero(found.points[:, axis] == value)
        assert np.array_equal(np.sort(found.point_sets[label]), expected)


@pytest.mark.parametrize("order", [1, 2])
def test_pyvista_finds_the_names(order: int, tmp_path: Path) -> None:
    pyvista = optional("pyvista")
    dmr.write(tmp_path / "a.vtu", PLATE, order=order)
    grid = pyvista.read(tmp_path / "a.vtu")
    assert {name: list(values) for name, values in grid.field_data.items()} == {
        "steel": [1, 2], "ölfilm 1": [2, 2], "inlet": [1, 1], "outlet": [2, 1], "boundary_steel": [3, 1],
    }  # fmt: skip
    number, _ = grid.field_data["outlet"]
    cells = grid.extract_cells(grid.cell_data["segment_marker"] == number)
    assert cells.n_cells == (PLATE.segment_markers == 2).sum() and (cells.points[:, 0] == 2).all()


@pytest.mark.parametrize("order", [1, 2])
def test_pyvista_reads_the_arrays_of_vtk_files(order: int, tmp_path: Path) -> None:
    """VTK stops at an array of integers of 32 bits, as meshio names them."""
    pyvista = optional("pyvista")
    dmr.write(tmp_path / "a.vtk", PLATE, order=order)
    grid = pyvista.read(tmp_path / "a.vtk")
    assert set(grid.cell_data) == {"triangle_attribute_0", "segment_marker"} and set(grid.point_data) == {
        "vertex_marker"
    }
    assert np.array_equal(grid.cell_data["segment_marker"][-len(PLATE.segments) :], PLATE.segment_markers)
    back = dmr.read(tmp_path / "a.vtk")
    assert isinstance(back, Mesh) and np.array_equal(back.segment_markers, PLATE.segment_markers)


def test_names_in_files_of_gmsh(tmp_path: Path) -> None:
    """The same tag and name for a region and a boundary, a boundary without a name, in both versions of the format."""
    gmsh = optional("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.model.occ.addRectangle(0, 0, 0, 2, 1)
        gmsh.model.occ.synchronize()
        gmsh.model.addPhysicalGroup(2, [1], 7, "water")
        for tag, (curve, name) in enumerate([(1, "water"), (2, "open"), (3, "open sea"), (4, "")], start=7):
            gmsh.model.addPhysicalGroup(1, [curve], tag, name)
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.5)
        gmsh.model.mesh.generate(2)
        for version in (2.2, 4.1):
            for binary in (0, 1):
                gmsh.option.setNumber("Mesh.MshFileVersion", version)
                gmsh.option.setNumber("Mesh.Binary", binary)
                gmsh.write(str(tmp_path / "a.msh"))
                mesh = dmr.read(tmp_path / "a.msh")
                assert isinstance(mesh, Mesh)
                assert mesh.names == {"regions": {7: "water"}, "markers": {7: "water", 8: "open", 9: "open sea"}}
                assert [length_of(mesh, tag) for tag in (7, 8, 9, 10)] == pytest.approx([2, 1, 2, 1])
                dmr.write(tmp_path / "b.msh", mesh)
                again = dmr.read(tmp_path / "b.msh")
                assert isinstance(again, Mesh) and again.names == mesh.names
                assert np.array_equal(again.segment_markers, mesh.segment_markers)
    finally:
        gmsh.finalize()


def test_one_name_for_several_groups_of_other_programs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.msh").write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
        '$PhysicalNames\n5\n1 3 "wall"\n1 4 "wall"\n1 5 "boundary_4"\n2 3 "wall"\n2 9 "back\\slash"\n'
        "$EndPhysicalNames\n"
        "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n"
        "$Elements\n4\n1 1 2 3 1 1 2\n2 1 2 4 2 2 3\n3 1 2 5 3 3 1\n4 2 2 3 1 1 2 3\n$EndElements\n"
    )
    mesh = dmr.read(tmp_path / "a.msh")
    assert isinstance(mesh, Mesh)
    assert mesh.names == {"regions": {3: "wall"}, "markers": {3: "wall", 4: "wall_4"}}
    assert "several boundary groups have the name 'wall'; it becomes 'wall_4' for tag 4" in caplog.text
    assert "'back\\\\slash'; it is left out" in caplog.text
    assert mesh.segment_markers.tolist() == [3, 4, 5], "boundary_4 would be marker 4, which has a name here"


def test_borders_of_regions_without_segments_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """As in Gmsh's files, which have lines for physical curves only."""
    open_mesh = dmr.Mesh(
        PLATE.vertices, PLATE.triangles, triangle_attributes=PLATE.triangle_attributes, names={"regions": {1: "steel"}}
    )
    left, right = (PLATE.triangle_attributes[:, 0] == region for region in (1, 2))
    common = {*map(frozenset, edges_of(PLATE.triangles[left]))} & {*map(frozenset, edges_of(PLATE.triangles[right]))}
    for result in (dmr.refine(open_mesh, max_area=0.01), dmr.optimize(open_mesh)):
        (warning,) = (each for each in result.warnings if "border" in each)
        assert warning.startswith(f"{len(common)} edge") and "dmr.outline(mesh)" in warning
        assert warning in caplog.messages
    fine = dmr.refine(dmr.outline(open_mesh), max_area=0.01).mesh
    assert fine.areas[fine.triangle_attributes[:, 0] == 1].sum() == pytest.approx(PLATE.areas[left].sum())
    numbers = np.arange(len(PLATE.triangles))
    for values, borders in ((left, len(common)), (left + 0.5, 0), (np.zeros(len(left)), 0), (numbers, 0)):
        unnamed = dmr.Mesh(PLATE.vertices, PLATE.triangles, triangle_attributes=np.array(values, float)[:, None])
        warnings = [each for each in dmr.refine(unnamed, max_area=0.01).warnings if "border" in each]
        assert [each.split()[0] for each in warnings] == ([str(borders)] if borders else [])
    assert not [each for each in dmr.refine(PLATE, max_area=0.01).warnings if "border" in each]


def edges_of(triangles: np.ndarray) -> np.ndarray:
    return triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
