"""The benchmark of domains: its inputs, verdicts, output and records."""

from __future__ import annotations

import gzip
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dmr
from dmr.mesh.shapes import triangle_areas

pytest.importorskip("triangle")

from scripts.bench import domains as bench_domains
from scripts.lib import fractal, outlines
from scripts.lib.measuring import digest

SMALL = ["coast-200", "channel-30@20", "plate-0.5"]


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_the_record_holds_every_requested_measurement(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--domains", *SMALL, "--threads", "1", "2", "--repeats", "2", "--commit", "abc", "--note", "busy"]
    assert bench_domains.main([*arguments, "--json", str(found)]) == 0
    rows = records(found)
    assert [(row["domain"], row["threads"]) for row in rows] == [(name, n) for name in SMALL for n in (1, 2)]
    assert [(row["min_angle"], row["max_area"]) for row in rows[::2]] == [(30, None), (20, None), (30, 0.5)]
    coast = outlines.clean(outlines.coast(200))
    fine = dmr.refine(coast, device="cpu", threads=1)
    for row in rows[:2]:
        assert (row["vertices_in"], row["segments_in"]) == (200, 200)
        assert (row["triangles"], row["rounds"], row["sha256"]) == (
            len(fine.mesh.triangles), fine.rounds, [digest(fine.mesh)],
        )  # fmt: skip
    for row in rows:
        assert (row["valid"], row["same"], row["complete"], row["ended"]) == (True, True, True, "")
        assert len(row["wall"]) == len(row["peer"]["seconds"]) == 2 and row["phases"]["rounds"] > 0
        assert row["size"] == row["triangles"] / row["peer"]["triangles"]
        assert row["ratio"] == sum(row["wall"]) / sum(row["peer"]["seconds"])
        assert (row["commit"], row["note"]) == ("abc", "busy")
    said = capsys.readouterr()
    assert said.err == ""
    table = said.out.splitlines()[2:]
    assert sum("proved, same" in line for line in table) == 6
    assert table[0].split()[2:4] == ["Triangle", "-pq30"] and "-pq30a0.5" in said.out
    assert table[-1].startswith("cpu, 2 threads: 3 of 3 finished")


def test_a_run_ended_by_a_limit_is_a_row_with_its_reason(tmp_path, capsys):
    found = tmp_path / "found.jsonl"
    arguments = ["--domains", "circle-200", "--threads", "1", "--repeats", "1", "--limit", "1e-9", "--no-triangle"]
    assert bench_domains.main([*arguments, "--json", str(found)]) == 0
    (row,) = records(found)
    assert (row["complete"], row["ended"], row["valid"], row["same"]) == (False, "time", True, None)
    assert row["unrefined"]["time"] > 0 and (row["peer"], row["ratio"]) == ({}, None)
    assert capsys.readouterr().out.splitlines()[2].endswith(f"valid {row['unrefined']['time']} time")


def test_a_failure_of_triangle_is_a_row(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench_domains, "refined_by_triangle", math.sqrt)  # fails in the other process
    found = tmp_path / "found.jsonl"
    arguments = ["--domains", "plate-0.5", "--threads", "1", "--repeats", "3"]
    assert bench_domains.main([*arguments, "--json", str(found)]) == 0
    (row,) = records(found)
    assert row["peer"]["failure"].startswith("error: TypeError") and row["peer"]["triangles"] == 0
    assert (row["size"], row["ratio"], row["valid"], len(row["wall"])) == (None, None, True, 3)
    assert "error: TypeError" in capsys.readouterr().out.splitlines()[2]


def test_a_slow_domain_is_run_once(tmp_path):
    found = tmp_path / "found.jsonl"
    arguments = ["--domains", "plate-0.5", "--threads", "1", "--repeats", "3", "--long", "1e-9", "--no-triangle"]
    assert bench_domains.main([*arguments, "--json", str(found)]) == 0
    assert len(records(found)[0]["wall"]) == 1


def test_invalid_results_are_named(capsys, monkeypatch):
    seen = iter(range(100))
    monkeypatch.setattr(bench_domains, "digest", lambda mesh: f"{next(seen)}")
    monkeypatch.setattr(bench_domains.dmr, "validate", lambda mesh, **how: type("Refused", (), {"ok": False}))
    assert bench_domains.main(["--domains", "plate-0.5", "--threads", "1", "--repeats", "2", "--no-triangle"]) == 5
    said = capsys.readouterr()
    start = "bench_domains: plate-0.5, cpu, 1 thread: "
    assert said.err.splitlines() == [start + "the checker refuses a result", start + "results have different bits"]
    assert "INVALID, OTHER" in said.out


@pytest.mark.parametrize(
    "name", ["island", "coast-2", "circle-10.5", "plate-0", "plate", "coast@", "channel-x", "fan-1"]
)
def test_domains_are_checked_before_anything_runs(name, capsys):
    assert bench_domains.main(["--domains", "plate-0.5", name]) == 2
    said = capsys.readouterr()
    assert f"there is no domain {name}" in said.err and said.out == ""


def test_a_domain_in_a_file_needs_a_folder(capsys):
    arguments = ["--threads", "1", "--domains", "us-counties"]
    assert bench_domains.main(arguments) == 2
    assert "name its folder with --folder" in capsys.readouterr().err
    assert bench_domains.main([*arguments, "--folder", "nowhere"]) == 2
    assert "us-counties.geojson.gz cannot be read: No such file" in capsys.readouterr().err


def test_land_is_cleaned(tmp_path):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    flat = [[5, 5], [6, 6], [7, 7], [5, 5]]
    parts = [[square.tolist()], [flat], *([np.add(square, offset).tolist()] for offset in ([179, 0], [9, -70]))]
    with gzip.open(tmp_path / "land-50m.geojson.gz", "wt") as file:
        json.dump({"type": "MultiPolygon", "coordinates": parts}, file)
    drawn = {name: outlines.outline(outlines.case(name), tmp_path) for name in ("land-50m", "regional-land")}
    assert len(drawn["land-50m"].segments) == 12
    assert np.array_equal(drawn["regional-land"].vertices, square[:4])


def test_both_programs_get_cleaned_outlines():
    crossed = dmr.Pslg([[0, 0], [2, 2], [2, 0], [0, 2], [0, 0], [9, 9]], [[0, 1], [1, 2], [2, 3], [3, 4]])
    found = outlines.clean(crossed)
    assert found.vertices.tolist() == [[0, 0], [2, 2], [2, 0], [0, 2], [1, 1]]
    assert sorted(map(sorted, found.segments.tolist())) == [[0, 3], [0, 4], [1, 2], [1, 4], [2, 4], [3, 4]]


@pytest.mark.parametrize(
    ("name", "vertices", "area"),
    [("channel-1000", 8, 1000.0), ("near-concurrent", 12, 275858410.0**2), ("large-cavities", 18, 9.0),
     ("fan-5", 14, 9.0),
     ("plate-1", 36, 8 - 0.5**2 * 16 * np.sin(np.pi / 16)), ("coast-500", 500, None), ("circle-40", 40, None)],
)  # fmt: skip
def test_generated_domains_match_their_names(name, vertices, area):
    drawn = outlines.outline(outlines.case(name), None)
    mesh = dmr.triangulate(drawn)
    assert len(drawn.vertices) == vertices
    if area is None:
        assert len(mesh.triangles) == vertices - 2  # a polygon without points inside
    else:
        assert triangle_areas(mesh).sum() == pytest.approx(area, rel=1e-2)


def test_crossing_segments_are_found_like_by_fractions():
    """Segments on a small grid, where most meet, overlap or share ends; compared with rational parameters."""
    random = np.random.default_rng(4)
    for _ in range(30):
        points = random.integers(0, 5, (12, 2))
        points = np.unique(points, axis=0)
        ends = random.integers(0, len(points), (8, 2))
        ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
        expected = [
            [i, j] for i in range(len(ends)) for j in range(i + 1, len(ends)) if touch(points, ends[i], ends[j])
        ]
        assert fractal.crossing(points, ends).tolist() == expected


def touch(points, first, second):
    """Whether segments share a point that is not an end of both, by solving for it."""
    (a, b), (c, d) = ([[Fraction(int(x)) for x in points[v]] for v in ends] for ends in (first, second))
    u, v, w = ([q[k] - p[k] for k in (0, 1)] for p, q in ((a, b), (c, d), (a, c)))
    determinant = u[0] * v[1] - u[1] * v[0]
    if determinant:
        s, t = ((w[0] * e[1] - w[1] * e[0]) / determinant for e in (v, u))
        at_ends = s in (0, 1) and t in (0, 1)
        return 0 <= s <= 1 and 0 <= t <= 1 and not (at_ends and set(first) & set(second))
    if u[0] * w[1] - u[1] * w[0]:
        return False  # parallel
    long = [sum(u[k] * (p[k] - a[k]) for k in (0, 1)) / sum(x * x for x in u) for p in (c, d)]
    low, high = max(min(long), 0), min(max(long), 1)
    return low < high or (low == high and not set(first) & set(second))


def test_divided_outlines_keep_their_holes_and_cross_nothing():
    turns = np.linspace(0, 2 * np.pi, 9)[:-1]
    rings = [radius * np.column_stack((np.cos(turns), np.sin(turns))) for radius in (3.0, 2.9)]
    ends = np.vstack([8 * k + outlines.closed(ring) for k, ring in enumerate(rings)])
    near = 2.66 * np.array([np.cos(np.pi / 8), np.sin(np.pi / 8)])  # the hole's point, beside an edge's middle
    drawn = dmr.Pslg(np.vstack(rings), ends, holes=[near])
    found = fractal.subdivided(drawn, 4, seed=3)
    assert len(found.segments) > 15 * len(ends) and np.abs(found.vertices[:16] - drawn.vertices).max() <= fractal.GRID
    mesh = dmr.triangulate(found, on_conflict="error")
    assert len(mesh.triangles) == len(found.vertices)  # a ring without points inside
    assert len(fractal.crossing(np.rint(found.vertices / fractal.GRID).astype(np.int64), found.segments)) == 0
    again = fractal.subdivided(drawn, 4, seed=3)
    assert np.array_equal(again.vertices, found.vertices)
