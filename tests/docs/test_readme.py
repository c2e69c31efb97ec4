"""The README and the documentation are correct: commands, examples, links, samples."""

from __future__ import annotations

import re
import subprocess
import sys
from os import environ, pathsep
from pathlib import Path

import numpy as np
import pytest

import dmr
from dmr.cli.parsing.program import build_parser
from tests.support.command_line import assert_page_describes
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("meshes/*.md")])


def blocks(language: str) -> list[str]:
    """The README's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_continuous_integration_runs_the_two_commands_word_for_word() -> None:
    install, test = (block.strip() for block in blocks("sh")[:2])
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert f"{install} || exit" in lines  # set -e alone overlooks a failure in front of &&
    assert test in lines
    assert lines.index(f"{install} || exit") < lines.index(test)


def test_continuous_integration_can_be_run_and_stops_at_the_first_failure() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.split("\n")[0])
def test_the_python_examples_run(block: str, tmp_path: Path) -> None:
    (tmp_path / "meshes").symlink_to(ROOT / "meshes")
    path = pathsep.join(filter(None, [str(ROOT), environ.get("PYTHONPATH")]))
    program = [sys.executable, "-c", block]
    subprocess.run(program, cwd=tmp_path, env={**environ, "PYTHONPATH": path}, check=True, timeout=120)


def test_every_command_of_the_readme_parses() -> None:
    commands = [line for block in (*blocks("sh"), *blocks("text")) for line in block.splitlines()]
    found = [
        re.sub(r"^.*?\bdmr (?=\w+ )", "", line).split() for line in commands if re.search(r"(^|[/ ])dmr \w+ ", line)
    ]
    assert len(found) >= 5
    for arguments in found:
        assert build_parser().parse_args(arguments)


def test_every_option_is_on_the_page_of_the_command_line() -> None:
    page = (ROOT / "docs" / "guide" / "command-line.md").read_text(encoding="utf-8")
    assert_page_describes(build_parser(), page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_a_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|Users|opt|mnt)/", text)


# ---- The samples --------------------------------------------------------------------------------------------------

SAMPLES = sorted(path.stem for path in ROOT.glob("meshes/*.ele") if not re.search(r"\.\d+$", path.stem))
OUTLINE = ROOT / "meshes" / "bracket.poly"


def load(name: str) -> dmr.Mesh:
    found = dmr.read(ROOT / "meshes" / f"{name}.ele")
    assert isinstance(found, dmr.Mesh)
    return found


def test_the_samples_are_small_and_described() -> None:
    described = (ROOT / "meshes" / "README.md").read_text(encoding="utf-8")
    assert {"sample", "plate", "graded", "corner"} <= set(SAMPLES)
    for name in SAMPLES:
        assert f"`{name}`" in described
        assert (ROOT / "meshes" / f"{name}.node").stat().st_size < 300_000
        assert (ROOT / "meshes" / f"{name}.ele").stat().st_size < 300_000
    assert f"`{OUTLINE.stem}`" in described
    assert OUTLINE.stat().st_size < 10_000
    assert not OUTLINE.with_suffix(".ele").exists()


def test_the_samples_are_what_their_commands_make(tmp_path: Path) -> None:
    described = (ROOT / "meshes" / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"dmr generate (\w+) (\d+) -o meshes/(\w+)\.ele --seed (\d+)", described)
    assert {name for _, _, name, _ in commands} == set(SAMPLES) - {"corner"}
    for kind, count, name, seed in commands:
        written = dmr.write(tmp_path / f"{name}.ele", dmr.generate(kind, int(count), int(seed)))
        assert len(written) >= 2
        for file in written:
            assert file.read_bytes() == (ROOT / "meshes" / file.name).read_bytes(), file.name


def test_the_corner_is_triangulated_by_us() -> None:
    kept = load("corner")
    made = dmr.triangulate(dmr.Pslg(kept.vertices, kept.segments, segment_markers=kept.segment_markers))
    assert np.array_equal(made.triangles, kept.triangles)
    assert np.array_equal(made.segments, kept.segments)


def test_the_outline_is_what_the_code_beside_it_makes(tmp_path: Path) -> None:
    described = (ROOT / "meshes" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", described, re.MULTILINE | re.DOTALL)
    (tmp_path / "meshes").mkdir()
    path = pathsep.join(filter(None, [str(ROOT), environ.get("PYTHONPATH")]))
    program = [sys.executable, "-c", code]
    subprocess.run(program, cwd=tmp_path, env={**environ, "PYTHONPATH": path}, check=True, timeout=120)
    made, kept = dmr.read(tmp_path / "meshes" / OUTLINE.name), dmr.read(OUTLINE)
    assert isinstance(made, dmr.Pslg) and isinstance(kept, dmr.Pslg)
    for name in ("vertices", "holes", "regions"):  # the cosines of a library may differ in their last bits
        assert np.allclose(getattr(made, name), getattr(kept, name), rtol=0, atol=1e-15), name
    for name in ("segments", "segment_markers"):
        assert np.array_equal(getattr(made, name), getattr(kept, name)), name


def test_the_outline_is_meshed_as_promised() -> None:
    outline = dmr.read(OUTLINE)
    fine = dmr.refine(outline, max_area=0.05, on_conflict="error", device="cpu")
    report = dmr.validate(fine.mesh, input=outline, min_angle=30, max_area=0.05)
    assert report.ok, report.failures
    assert fine.complete and not fine.unrefined and not fine.warnings
    assert fine.mesh.triangle_attributes is not None
    assert set(fine.mesh.triangle_attributes[:, 0]) == {0.0, 1.0}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_refined_as_promised(name: str) -> None:
    mesh = load(name)
    assert dmr.validate(mesh).ok
    fine = dmr.refine(mesh, device="cpu")
    report = dmr.validate(fine.mesh, input=mesh, min_angle=30)
    assert fine.complete
    assert report.ok, report.failures
    assert set(fine.unrefined) == ({"small_input_angle"} if name == "corner" else set())


def test_the_reports_of_refinements_have_the_counts_of_today() -> None:
    """The seconds differ from run to run; points, rounds, vertices and triangles are the same everywhere."""
    for name, options in (("bracket.poly", {"max_area": 0.05}), ("sample.ele", {})):
        fine = dmr.refine(dmr.read(ROOT / "meshes" / name), device="cpu", **options)
        (block,) = (text for text in blocks("text") if f"$ dmr refine meshes/{name}" in text)
        assert f"{sum(fine.steiner.values())} points inserted in {fine.rounds} rounds" in block
        for word, elements in (("vertices", fine.mesh.vertices), ("triangles", fine.mesh.triangles)):
            assert re.search(rf"^  {word} .* {len(elements):,}$", block, re.MULTILINE), word
