"""Meshes in dolfinx: `.msh` files with names, and `.vtkhdf` files of one piece, which it distributes over processes.

pip does not install dolfinx, so CI skips this; CONTRIBUTING.md says how to run it. Each test runs on all processes of
`mpiexec -n N python -m pytest`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dmr
from dmr import domains
from dmr.distributed import partition, write_vtkhdf

dolfinx = pytest.importorskip("dolfinx", minversion="0.10")
ufl = pytest.importorskip("ufl")
MPI = pytest.importorskip("mpi4py.MPI")
COMM = MPI.COMM_WORLD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that all processes see."""
    return COMM.bcast(tmp_path)


def plate() -> dmr.Mesh:
    """Steel on the left, air on the right, and a wall between them."""
    outline = domains.rectangle(3, 1, markers=[4, 2, 3, 1])
    graph = domains.merge(outline, domains.polyline([(1, 0), (1, 1)], markers=6))
    graph = domains.with_regions(graph, [(0.5, 0.5, 1), (1.5, 0.5, 2)])
    names = {"regions": {1: "steel", 2: "air"}, "markers": {1: "inlet", 2: "outlet", 3: "steel", 6: "wall"}}
    return dmr.refine(domains.with_names(graph, **names), max_area=0.01, device="cpu", threads=1).mesh


def measure(kind: str, domain: Any, tags: Any = None, tag: int | str = "everywhere") -> float:
    """The area ("dx"), the length of the boundary ("ds") or twice that of inner edges ("dS") with a tag."""
    form = dolfinx.fem.form(dolfinx.fem.Constant(domain, 1.0) * ufl.Measure(kind, domain, subdomain_data=tags)(tag))
    return COMM.allreduce(dolfinx.fem.assemble_scalar(form), MPI.SUM)


@pytest.mark.parametrize("order", [1, 2])
def test_groups_of_msh_files_have_their_names(order: int, folder: Path) -> None:
    if COMM.rank == 0:
        dmr.write(folder / "plate.msh", plate(), order=order)
    COMM.barrier()
    read = dolfinx.io.gmsh.read_from_msh(str(folder / "plate.msh"), COMM, gdim=2)
    assert read.mesh.geometry.dofmap.shape[1] == {1: 3, 2: 6}[order]
    tag = {(name, group.dim): group.tag for name, group in read.physical_groups.items()}
    found = {name: measure("dx", read.mesh, read.cell_tags, tag[name, 2]) for name in ("steel", "air")}
    assert found == pytest.approx({"steel": 1, "air": 2})
    sides = {"inlet": 1, "outlet": 1, "boundary_steel": 3, "boundary_4": 3}
    found = {name: measure("ds", read.mesh, read.facet_tags, tag[name, 1]) for name in sides}
    assert found == pytest.approx(sides)
    assert measure("dS", read.mesh, read.facet_tags, tag["wall", 1]) == pytest.approx(1)


def test_a_single_piece_is_the_whole_mesh(folder: Path) -> None:
    pytest.importorskip("h5py")
    mesh = plate()
    if COMM.rank == 0:
        write_vtkhdf(partition(mesh, folder / "parts", 5), folder / "plate.vtkhdf", single_piece=True)
    COMM.barrier()
    domain = dolfinx.io.vtkhdf.read_mesh(COMM, str(folder / "plate.vtkhdf"), gdim=2)
    domain.topology.create_entities(1)
    counts = [domain.topology.index_map(dimension).size_global for dimension in range(3)]
    assert counts == [len(mesh.vertices), len(mesh.edges), len(mesh.triangles)]
    assert measure("dx", domain) == pytest.approx(3)
    here = domain.geometry.x[: domain.geometry.index_map().size_local, :2]
    everywhere = np.concatenate(COMM.allgather(here))
    assert np.array_equal(np.unique(everywhere, axis=0), np.unique(mesh.vertices, axis=0))
