"""The available memory, also in containers, and the refusal of work that needs more."""

from __future__ import annotations

from pathlib import Path

import pytest

import dmr
from dmr.common import available
from dmr.common.available import available_memory, require_memory
from dmr.common.system import control_groups
from dmr.memory import OutOfMemoryError, open_device

GIB = 2**30


@pytest.fixture
def groups(monkeypatch, tmp_path):
    """An empty tree of control groups, and a function that sets the group of the process."""
    monkeypatch.setattr(control_groups, "MOUNTED", tmp_path)
    own = tmp_path / "own"
    monkeypatch.setattr(control_groups, "MEMBERSHIP", own)
    return tmp_path, own.write_text


def group(folder: Path, names: tuple[str, str, str], limit: object, used: int, cached: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, used, f"anon 5\n{names[2]} {cached}\n"), strict=True):
        (folder / ("memory.stat" if name == names[2] else name)).write_text(f"{text}\n")


SECOND = ("memory.max", "memory.current", "inactive_file")
FIRST = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def test_memory_limits_of_both_cgroup_versions_apply(groups):
    root, set_own = groups
    set_own("0::/outer/inner\n")
    assert available_memory() > 2**28
    group(root / "outer", SECOND, GIB, 2**29, cached=2**28)
    group(root / "outer" / "inner", SECOND, "max", 2**29)
    assert available_memory() == GIB - 2**29 + 2**28
    group(root / "outer" / "inner", SECOND, 2**28, 2**29)
    assert available_memory() == 0
    set_own("12:cpuset:/\n5:cpu,memory:/job\n")
    assert available_memory() > 2**28
    group(root / "memory" / "job", FIRST, 3 * GIB // 8, 2**28)
    assert available_memory() == GIB // 8
    set_own("5:memory:/of/the/host\n")  # a container sees its own group as the root
    group(root / "memory", FIRST, 3 * GIB // 8, 2**28)
    assert available_memory() == GIB // 8


def test_work_beyond_the_available_memory_is_refused(groups):
    root, set_own = groups
    set_own("0::/\n")
    group(root, SECOND, GIB, 0)
    require_memory(GIB, "a graph of 5 nodes")
    with pytest.raises(OutOfMemoryError, match=r"a graph of 5 nodes needs 2\.00 GiB of memory, and 1\.00 GiB are free"):
        require_memory(2 * GIB, "a graph of 5 nodes")
    with pytest.raises(OutOfMemoryError, match=r"an array .*8\.00 GiB"):
        open_device("cpu").empty(GIB, "f8")
    with pytest.raises(OutOfMemoryError, match=r"needs over 2\^33219 bytes"):
        require_memory(10**10000, "it")
    require_memory(2**26, "something small")


SQUARE = dmr.Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
OUTLINE = dmr.Pslg([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]])
WORK = {
    "a triangulation of 4 vertices": lambda _: dmr.triangulate(OUTLINE),
    "a refinement of 2 triangles": lambda _: dmr.refine(SQUARE, device="cpu", threads=1),
    "a validation of 2 triangles": lambda _: dmr.validate(SQUARE),
    "the dual of 2 triangles": lambda _: dmr.voronoi(SQUARE),
    "second order of 2 triangles": lambda _: dmr.second_order(SQUARE),
    "the statistics of 2 triangles": lambda _: dmr.measure(SQUARE),
    "a mesh of 9 points": lambda _: dmr.generate("random", 9),
    "a circle of 5 points": lambda _: dmr.domains.circle_points(1, 5),
    "a.poly": lambda folder: dmr.read(folder / "a.poly"),
    "a.npz, unpacked,": lambda folder: dmr.read(folder / "a.npz"),
    "a.vtu": lambda folder: dmr.read(folder / "a.vtu"),
    "a.geojson": lambda folder: dmr.read(folder / "a.geojson"),
}


@pytest.mark.parametrize("what", WORK)
def test_memory_is_estimated_before_large_work(what, tmp_path, monkeypatch):
    for name, item in (("a.poly", OUTLINE), ("a.npz", SQUARE), ("a.vtu", SQUARE)):
        dmr.write(tmp_path / name, item)
    (tmp_path / "a.geojson").write_text('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 1]]]}')
    monkeypatch.setattr(available, "WORTH_ASKING", 0)
    WORK[what](tmp_path)
    monkeypatch.setattr(available, "available_memory", lambda: 10)
    with pytest.raises(OutOfMemoryError, match=rf"^{what} .*10 bytes"):
        WORK[what](tmp_path)


def test_huge_counts_are_refused_at_once(tmp_path):
    with pytest.raises(OutOfMemoryError, match="a circle of 1000000000000 points"):
        dmr.domains.circle_points(1, 10**12)
    (tmp_path / "a.node").write_text("1000000000000 2 0 0\n1 0 0\n")
    (tmp_path / "a.ele").write_text("1 3 0\n1 1 1 1\n")
    with pytest.raises(dmr.errors.FileError, match="1000000000000 vertices"):
        dmr.read(tmp_path / "a.ele")
    with (tmp_path / "b.poly").open("wb") as file:
        file.truncate(2**40)  # a sparse file takes no disk space
    with pytest.raises(OutOfMemoryError, match=r"b\.poly .*1,024\.00 GiB"):
        dmr.read(tmp_path / "b.poly")
