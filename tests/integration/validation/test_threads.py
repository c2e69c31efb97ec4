"""The checker on several threads: equal reports, prompt interrupts, and filters that agree with exact arithmetic."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from time import perf_counter, sleep

import numpy as np
import pytest

import dmr
from dmr.cli import main
from dmr.errors import InvalidMeshError, OptionError
from dmr.exact import filters
from dmr.mesh.types import Mesh, Pslg
from dmr.validation.arrays import buckets, pieces
from dmr.validation.arrays.pairing import find_half_edges, pair_half_edges
from dmr.validation.arrays.pieces import Workers
from tests.support.meshes import grid

THREADS = (1, 2, 3, 16)


@pytest.fixture
def short(monkeypatch):
    """Shortens pieces and buckets, so that a small mesh has many of both."""
    defaults = list(pieces.Workers.map.__defaults__)
    monkeypatch.setattr(pieces.Workers.map, "__defaults__", (199, *defaults[1:]))
    monkeypatch.setattr(buckets, "_DEALT", 600)
    monkeypatch.setattr(buckets, "_BUCKET", 64)


@pytest.fixture(scope="module")
def refined():
    """A domain with a hole, regions and markers, and its refinement."""
    pslg = Pslg(
        [[0, 0], [4, 0], [4, 4], [0, 4], [1, 1], [2, 1], [1, 2], [3, 0], [3, 4]],
        [[0, 7], [7, 1], [1, 2], [2, 8], [8, 3], [3, 0], [4, 5], [5, 6], [6, 4], [7, 8]],
        holes=[[1.2, 1.2]],
        regions=[[0.5, 0.5, 1, -1], [3.5, 0.5, 2, 0.01]],
        segment_markers=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    )
    return pslg, dmr.refine(pslg, max_area=0.02, min_angle=30, device="cpu", threads=1).mesh


def broken(mesh: Mesh) -> dict[str, Mesh]:
    """Meshes that each fail in many places."""
    rng = np.random.default_rng(5)
    some = rng.choice(len(mesh.triangles), 40, replace=False)
    turned = mesh.triangles.copy()
    turned[some] = turned[some, ::-1]
    moved = mesh.vertices.copy()
    moved[20::7] += 0.05
    equal = mesh.vertices.copy()
    equal[30:60] = equal[60:90]
    wild = replace(mesh, vertex_markers=np.arange(len(mesh.vertices), dtype=np.int32))
    table = replace(mesh)
    object.__setattr__(
        table, "neighbours", np.where(np.arange(mesh.triangles.size).reshape(-1, 3) % 11 == 0, 3, mesh.neighbours)
    )
    cut = np.delete(mesh.triangles, some, axis=0)
    attributes = np.delete(mesh.triangle_attributes, some, axis=0)
    bounds = np.delete(mesh.area_bounds, some)
    repeated = np.concatenate([mesh.triangles, mesh.triangles[some], mesh.triangles[some[:9]]])
    return {
        "turned": replace(mesh, triangles=turned),
        "moved": replace(mesh, vertices=moved),
        "equal": replace(mesh, vertices=equal),
        "markers": wild,
        "neighbours": table,
        "holes": replace(mesh, triangles=cut, triangle_attributes=attributes, area_bounds=bounds),
        "repeated": Mesh(mesh.vertices, repeated, segments=mesh.segments),
        "regions": replace(mesh, triangle_attributes=rng.permutation(mesh.triangle_attributes)),
    }


@pytest.mark.slow
def test_every_number_of_threads_gives_the_same_report(refined, short):
    pslg, mesh = refined
    meshes = {"valid": mesh, **broken(mesh)}
    failed = set()
    for name, each in meshes.items():
        reports = [
            dmr.validate(each, input=pslg, min_angle=33, max_area=0.015, max_edge=0.2, threads=threads)
            for threads in THREADS
        ]
        assert all(report == reports[0] for report in reports[1:]), name
        failed |= reports[0].counts.keys()
    assert {"orientation", "edges", "neighbours", "duplicates", "delaunay"} <= failed
    assert {"angle", "max area", "max edge", "regions", "markers", "vertex markers", "stray segments"} <= failed
    assert dmr.validate(mesh, input=pslg, min_angle=30, threads=3).ok


def test_a_star_that_winds_twice_is_counted_on_any_number_of_threads(short):
    """The triangles around one vertex wind twice, beside valid stars."""
    angle = np.arange(500) * (4 * np.pi / 500)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.where(angle < 2 * np.pi, 1.0, 2.0)[:, None]
    fan = np.stack([np.zeros(500, int), 1 + np.arange(500), 1 + (np.arange(500) + 1) % 500], axis=1)
    beside = grid(np.arange(20.0) + 10)
    mesh = Mesh(
        np.concatenate([[[0, 0]], ring, beside.vertices]), np.concatenate([fan, beside.triangles + len(ring) + 1])
    )
    reports = [dmr.validate(mesh, threads=threads) for threads in THREADS]
    assert all(report == reports[0] for report in reports[1:])
    (failure,) = (failure for failure in reports[0].failures if failure.check == "stars")
    assert failure.index == 0
    assert "wind 2 times" in failure.message


@pytest.mark.slow
def test_pieces_do_not_change_the_report(refined, monkeypatch):
    """The findings and their order do not depend on the length of pieces."""
    _, mesh = refined
    meshes = broken(mesh)
    before = [dmr.validate(each, input=mesh, min_angle=33, threads=1) for each in meshes.values()]
    monkeypatch.setattr(pieces.Workers.map, "__defaults__", (67,))
    monkeypatch.setattr(buckets, "_DEALT", 200)
    monkeypatch.setattr(buckets, "_BUCKET", 16)
    after = [dmr.validate(each, input=mesh, min_angle=33, threads=2) for each in meshes.values()]
    assert before == after


def test_half_edges_are_paired_as_a_dictionary_pairs_them(short):
    rng = np.random.default_rng(2)
    for count, vertices in ((1, 3), (40, 12), (700, 400)):
        triangles = np.array([rng.choice(vertices, 3, replace=False) for _ in range(count)], np.int32)
        twins, repeated = pair_half_edges(triangles, vertices, Workers(2))
        ends = [(int(t[(k + 1) % 3]), int(t[(k + 2) % 3])) for t in triangles for k in range(3)]
        where: dict[tuple[int, int], list[int]] = {}
        for h, edge in enumerate(ends):
            where.setdefault(edge, []).append(h)
        again = [pair for found in where.values() for pair in pairwise(found)]
        assert sorted(map(tuple, repeated.tolist())) == sorted(again)
        assert repeated[:, 1].tolist() == sorted(repeated[:, 1].tolist())
        for h, (u, v) in enumerate(ends):
            if len(where[u, v]) == 1 and len(where.get((v, u), [])) < 2:
                assert twins[h] == where.get((v, u), [-1])[0]
        pairs = rng.integers(0, vertices, (90, 2)).astype(np.int32)
        forward, backward = find_half_edges(triangles, vertices, pairs, Workers(2))
        for (u, v), there, back in zip(pairs.tolist(), forward, backward, strict=True):
            assert (there, back) == (where.get((u, v), [-1])[0], where.get((v, u), [-1])[0])


@pytest.mark.parametrize("size", [1.0, 2.0**-300, 2.0**-1040, 2.0**190, 2.0**900])
def test_filters_agree_with_exact_arithmetic(size):
    """Nearly flat triangles and nearly cocircular points of many magnitudes, against fractions."""
    rng = np.random.default_rng(7)
    points = rng.integers(-40, 40, (400, 4, 2)) * np.exp2(rng.integers(-60, 2, (400, 1, 1)))
    points[::2] *= 1 + rng.integers(-2, 3, (200, 4, 2)) * 2.0**-52
    points[::3, 3] = points[::3, 0] + points[::3, 2] - points[::3, 1]  # parallelograms, many of them rectangles
    points[:40, 2:, 1] = points[:40, :2, 1]
    vertices = (points * size).reshape(-1, 2)
    scale = filters.unit(vertices)
    with np.errstate(all="ignore"):
        a, b, c, d = (vertices * scale).view(np.complex128).reshape(-1, 4).T.copy()
        shapes = filters.Shapes(a, b, c)
        left, right = shapes.orientation()
        keeps = shapes.surely_at_least(1 / np.sqrt(3.0) * (1 - 2.0**-40))  # of 60 degrees
        inside, outside = filters.in_circle(a, b, c, d)
    decided = 0
    for i, quad in enumerate(vertices.reshape(-1, 4, 2)):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = ((Fraction(x), Fraction(y)) for x, y in quad.tolist())
        twice = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        assert not (left[i] and twice <= 0)
        assert not (right[i] and twice >= 0)
        corners = [(ax, ay), (bx, by), (cx, cy)]
        for k in range(3):
            (px, py), (qx, qy), (rx, ry) = (corners[(k + j) % 3] for j in range(3))
            along = (qx - px) * (rx - px) + (qy - py) * (ry - py)
            if keeps[i] and along > 0:  # cos^2 <= 1/4, up to the slack of the bound
                lengths = ((qx - px) ** 2 + (qy - py) ** 2) * ((rx - px) ** 2 + (ry - py) ** 2)
                assert 4 * along**2 <= lengths * (1 + Fraction(1, 2**38))
        rows = [(x - dx, y - dy) for x, y in corners]
        lifts = [x * x + y * y for x, y in rows]
        value = sum(
            lifts[k] * (rows[(k + 1) % 3][0] * rows[(k + 2) % 3][1] - rows[(k + 1) % 3][1] * rows[(k + 2) % 3][0])
            for k in range(3)
        )
        assert not (inside[i] and value <= 0)
        assert not (outside[i] and value >= 0)
        decided += bool(left[i] or right[i]) + bool(inside[i] or outside[i])
    assert decided > 100


def test_indices_beyond_the_vertices_are_reported():
    """A mesh wrongly declared sound is not read past its end."""
    mesh = grid(np.arange(6.0))
    triangles = mesh.triangles.copy()
    triangles[7, 1] = len(mesh.vertices)
    wrong = Mesh.sound(vertices=mesh.vertices, triangles=triangles)
    with pytest.raises(InvalidMeshError, match="but there are 36 vertices") as raised:
        dmr.validate(wrong)
    assert (raised.value.element, raised.value.index) == ("triangle", 7)


def test_an_invalid_number_of_threads_is_refused(tmp_path, capsys):
    mesh = grid(np.arange(4.0))
    for threads in (0, -1, 10**6, "two"):
        with pytest.raises(OptionError, match="threads must be"):
            dmr.validate(mesh, threads=threads)
    dmr.write(tmp_path / "grid.ele", mesh)
    assert main(["validate", str(tmp_path / "grid.ele"), "--threads", "2"]) == 0
    assert capsys.readouterr().out.endswith("valid\n")
    assert main(["validate", str(tmp_path / "grid.ele"), "--threads", "0"]) == 2


def test_concurrent_validations_are_independent(refined):
    pslg, mesh = refined
    meshes = [mesh, *broken(mesh).values()]
    expected = [dmr.validate(each, input=pslg, min_angle=33, threads=1) for each in meshes]
    found: list[object] = [None] * len(meshes)

    def run(i: int) -> None:
        found[i] = dmr.validate(meshes[i], input=pslg, min_angle=33, threads=2)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(meshes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


# ---- Pieces ---------------------------------------------------------------------------------------------------------


def test_pieces_come_in_order_and_cover_the_range():
    for threads in THREADS:
        workers = Workers(threads)
        assert workers.map(lambda i, j: (i, j), 10, 4) == [(0, 4), (4, 8), (8, 10)]
        assert workers.map(lambda i, j: (i, j), 0, 4) == []
        assert workers.where(lambda i, j: np.arange(i, j) % 3 == 0, 10).tolist() == [0, 3, 6, 9]


def test_pieces_may_be_nested():
    workers = Workers(2)
    nested = workers.map(lambda i, j: workers.map(lambda k, m: (i, k, threading.get_ident()), 4, 1), 4, 1)
    for i, found in enumerate(nested):
        assert [(a, b) for a, b, _ in found] == [(i, k) for k in range(4)]
        assert len({thread for _, _, thread in found}) == 1


@pytest.mark.parametrize("threads", THREADS)
def test_no_piece_starts_after_the_first_exception(threads):
    begun = []

    def work(start: int, stop: int) -> None:
        begun.append(start)
        sleep(0.002)
        if start in (20, 21):
            raise ValueError(start)

    before = threading.active_count()
    with pytest.raises(ValueError, match="20"):
        Workers(threads).map(work, 500, 1)
    assert len(begun) < 200
    assert threading.active_count() == before


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_validation_within_a_second(threads):
    """In another process, during a long validation."""
    program = f"""
        import threading, time
        import numpy as np
        import dmr
        side = 400
        x, y = np.meshgrid(np.arange(side) * 1.1, np.arange(side) * 1.1)
        at = np.arange(side * side).reshape(side, side)
        a, b, c, d = (at[i:side - 1 + i, j:side - 1 + j].ravel() for i, j in ((0, 0), (0, 1), (1, 1), (1, 0)))
        triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
        mesh = dmr.Mesh(np.stack([x.ravel(), y.ravel()], axis=1), triangles)
        def forever():
            while True:
                dmr.validate(mesh, input=mesh, min_angle=45, threads={threads})
        print("go", flush=True)
        try:
            forever()
        except KeyboardInterrupt:
            threads = [thread for thread in threading.enumerate() if "dmr-validate" in thread.name]
            for thread in threads:  # a thread that was starting is not known to its pool: it ends by itself
                thread.join(0.5)
            print("ended", [thread.name for thread in threads if thread.is_alive()], flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    sleep(0.5)
    start = perf_counter()
    process.send_signal(signal.SIGINT)
    said = process.stdout.readline()
    waited = perf_counter() - start
    process.wait(timeout=30)
    assert said == "ended []\n"
    assert process.returncode == 0
    assert waited < 1
