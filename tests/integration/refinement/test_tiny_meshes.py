"""Tiny meshes: all recipes begin with one admission, and the result is the smallest of separate runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dmr
from dmr.memory import open_device
from dmr.refinement import run as runs
from dmr.refinement.options import RefineOptions
from dmr.refinement.results import Refinement
from dmr.refinement.run import RunSettings
from dmr.refinement.steps.thresholds import FOR_TINY_MESHES, thresholds


def star(corners: int, seed: int) -> dmr.Mesh:
    """The triangulation of a star-shaped outline of random radii."""
    angle = 2 * np.pi * np.arange(corners) / corners
    radius = np.random.default_rng(seed).uniform(0.4, 1.0, corners)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    ends = np.stack([np.arange(corners), (np.arange(corners) + 1) % corners], axis=1)
    attributes = np.arange(2.0 * corners).reshape(corners, 2)
    outline = dmr.Pslg(points, ends, segment_markers=np.arange(corners), vertex_attributes=attributes)
    return dmr.triangulate(outline)


def with_regions(mesh: dmr.Mesh) -> dmr.Mesh:
    """The same mesh, with an attribute and a bound for each triangle: new triangles inherit them."""
    numbers = np.arange(float(len(mesh.triangles)))
    return replace(mesh, triangle_attributes=numbers[:, None], area_bounds=0.02 + 0.001 * numbers)


def smallest_of_separate_runs(mesh: dmr.Mesh, options: RefineOptions) -> tuple[Refinement, int]:
    """Admits the mesh again for each recipe; returns the smallest result, and the number of recipes."""
    device = open_device("cpu", 1)
    best = runs.run(mesh, device, RunSettings(options=options, quiet=True))
    few, tries = sum(best.steiner.values()) <= 300, 1
    others = dict.fromkeys(thresholds(options, recipe) for recipe in FOR_TINY_MESHES)
    others.pop(thresholds(options))
    for limits in others:
        if not few and (limits.most or limits.worst_first):
            continue
        capped = replace(options, max_steiner=sum(best.steiner.values()))
        found = runs.run(mesh, device, RunSettings(options=capped, limits=limits, quiet=True))
        tries += 1
        costs = [(sum(each.unrefined.values()), len(each.mesh.triangles)) for each in (found, best)]
        shares = [left / triangles for left, triangles in costs]
        if found.complete and costs[0] < costs[1] and (options.keep_segments == "none" or shares[0] <= shares[1]):
            best = found
    return best, tries


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [{}, {"min_angle": 33.0}, {"conforming": True}, {"keep_segments": "boundary"}, {"max_area": 1e-3}, {"optimize": 2}],
    ids=str,
)
def test_the_smallest_of_all_recipes(options, seed):
    mesh = star(20, seed)
    if seed % 2:
        mesh = with_regions(mesh)
    best, tries = smallest_of_separate_runs(mesh, RefineOptions(**options))
    found = dmr.refine(mesh, device="cpu", threads=1, **options)
    assert found.tries == tries > 1
    for name in ("vertices", "triangles", "segments", "segment_markers", "vertex_attributes", "triangle_attributes"):
        np.testing.assert_array_equal(getattr(found.mesh, name), getattr(best.mesh, name), name)
    assert found.unrefined == best.unrefined
    assert (found.rounds, found.attempts, found.steiner) == (best.rounds, best.attempts, best.steiner)
    assert found.launches == best.launches  # those of the recipe that was chosen, from the admission on
    assert dmr.validate(found.mesh, input=mesh).ok


def test_the_mesh_is_admitted_once_for_all_recipes(monkeypatch):
    admissions, admit = [], runs.admit
    monkeypatch.setattr(runs, "admit", lambda *given, **more: admissions.append(1) or admit(*given, **more))
    assert dmr.refine(star(20, 0), device="cpu", threads=1).tries == 9
    assert len(admissions) == 1


def test_only_the_chosen_result_is_copied_to_the_host(monkeypatch):
    copies, to_mesh = [], runs.DeviceMesh.to_mesh
    monkeypatch.setattr(runs.DeviceMesh, "to_mesh", lambda *given: copies.append(1) or to_mesh(*given))
    dmr.refine(star(20, 0), device="cpu", threads=1)
    assert len(copies) == 1


def test_flips_are_made_and_counted_once(device_options):
    square = dmr.Mesh([[0, 0], [4, 0], [4, 1], [2, 1.2], [0, 1]], [[0, 1, 2], [0, 2, 3], [0, 3, 4]])
    found = dmr.refine(square, **device_options)
    assert found.flips == 1
    assert sum("flipped" in warning for warning in found.warnings) == 1


def test_no_copy_is_kept_of_a_mesh_that_needs_many_points(monkeypatch):
    copies, copied = [], runs.Start.copied
    monkeypatch.setattr(runs.Start, "copied", lambda *given, **more: copies.append(1) or copied(*given, **more))
    square = dmr.delaunay([[0, 0], [1, 0], [1, 1], [0, 1]]).mesh
    for max_area, tries, expected in ((1 / 3000, 1, 1), (1 / 4010, 1, 0), (0.1, 9, 9)):
        copies.clear()
        fine = dmr.refine(square, max_area=max_area, device="cpu", threads=1)
        assert (fine.tries, len(copies)) == (tries, expected)


@pytest.mark.parametrize("bound", [{"max_area": 0.15}, {"max_edge": 0.5}, {"area": 0.15}], ids=str)
def test_few_triangles_of_which_all_are_too_large_are_not_better(bound, device_options):
    quadrilateral = [[0.7, 1.2], [-9, -1.2], [-6.5, -10.9], [3.2, -8.5]]
    inside = [[-3.4, -7], [-1.2, -7.5], [-4.1, -8.3]]
    domain = dmr.Pslg([*quadrilateral, *inside], [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5]])
    fine = dmr.refine(domain, keep_segments="all", **bound, **device_options)
    assert len(fine.mesh.triangles) > 150
    assert fine.unrefined["kept_segment"] < 0.5 * len(fine.mesh.triangles)  # the smallest mesh has eight, all too large
