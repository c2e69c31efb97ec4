"""Meshes that are written while their tables arrive from a device."""

from __future__ import annotations

import numpy as np
import pytest

import dmr
from dmr.errors import InternalError
from dmr.memory import Arriving, arrive, arriving_results, finish_arrivals, rows_of
from dmr.memory import arriving as module


class Slow:
    """A device's array of which each step brings a few bytes; `steps` notes the tables of the steps."""

    def __init__(self, content, steps, name="table", most=10**9):
        self.content, self.steps, self.name, self.most = content.reshape(-1).view(np.uint8), steps, name, most

    def download(self, out):
        out.view(np.uint8)[:] = self.content

    def begin_download(self, out):
        assert out.size == self.content.size
        arrived = 0

        def advance():
            nonlocal arrived
            stop = min(arrived + 1000, out.size, self.most)
            out[arrived:stop] = self.content[arrived:stop]
            arrived = stop
            self.steps.append(self.name)
            return arrived

        return advance


@pytest.fixture
def small_tables_arrive(monkeypatch):
    monkeypatch.setattr(module, "LEAST_BYTES", 1)


def test_rows_arrive_when_they_are_used(small_tables_arrive):
    content, table, steps = np.arange(3000.0).reshape(-1, 2), np.full((1510, 2), -1.0), []
    with arriving_results():
        arrive(Slow(content, steps), table, 10)
        rows = rows_of(table)
        assert isinstance(rows, Arriving) and rows.shape == table.shape and not steps
        assert (rows[:10] == -1).all() and not steps
        assert np.array_equal(rows[10:20], content[:10]) and len(steps) == 1
        assert (table[-1] == -1).all()
    assert np.array_equal(table[10:], content) and (table[:10] == -1).all()
    assert rows_of(table) is table


def test_results_outside_of_a_block_have_arrived(small_tables_arrive):
    content, table = np.arange(40), np.empty(40, int)
    arrive(Slow(content, []), table)
    assert np.array_equal(table, content) and rows_of(table) is table
    finish_arrivals()


def test_a_download_that_ends_too_early_is_an_error(small_tables_arrive):
    content, table = np.arange(4000), np.empty(4000, int)
    with pytest.raises(InternalError, match="ended too early"), arriving_results():
        arrive(Slow(content, [], most=2000), table)
        rows_of(table)[:]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("m.npz", {}),
        ("m.ele", {}),
        ("m.ele", {"neighbours": True}),
        ("m.ele", {"order": 2}),
        ("m.2dm", {}),
    ],
)
def test_a_mesh_that_arrives_gives_the_same_files(name, options, tmp_path, small_tables_arrive):
    source = dmr.triangulate(np.random.default_rng(2).random((500, 2)))
    vertices, triangles = np.zeros_like(source.vertices), np.full_like(source.triangles, -1)
    vertices[:20] = source.vertices[:20]
    steps = []
    with arriving_results():
        arrive(Slow(source.vertices[20:], steps, "vertices"), vertices, 20)
        arrive(Slow(source.triangles, steps, "triangles"), triangles)
        mesh = dmr.Mesh.sound(vertices=vertices, triangles=triangles)
        (tmp_path / "found").mkdir()
        dmr.write(tmp_path / "found" / name, mesh, **options)
    assert steps == sorted(steps, reverse=True) and len(steps) > 4
    (tmp_path / "expected").mkdir()
    plain = dmr.Mesh.sound(vertices=source.vertices.copy(), triangles=source.triangles.copy())
    for path in dmr.write(tmp_path / "expected" / name, plain, **options):
        assert (tmp_path / "found" / path.name).read_bytes() == path.read_bytes()
    assert np.array_equal(mesh.triangles, source.triangles) and np.array_equal(mesh.vertices, source.vertices)
