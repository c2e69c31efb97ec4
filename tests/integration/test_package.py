"""The installed package: contents, metadata, programs and import time."""

from __future__ import annotations

import configparser
import fnmatch
import importlib.metadata
import pkgutil
import re
import subprocess
import sys
from os import environ, pathsep
from pathlib import Path

import pytest

import dmr
from dmr.memory.declarations import source_folder
from dmr.memory.signatures import signatures
from tests.support.paths import ROOT

CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def configuration() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def test_every_package_of_the_checkout_is_listed() -> None:
    listed = {line.strip() for line in configuration()["options"]["packages"].splitlines() if line.strip()}
    found = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for package in ("dmr", "static_graph")
        for file in (ROOT / package).rglob("__init__.py")
    }
    assert {"dmr", "dmr.cli", "dmr.exact", "dmr.io", "dmr.memory.cuda", "dmr.memory.host"} <= found
    assert found | {"dmr.cuda_src"} == listed


def test_every_kernel_source_is_package_data() -> None:
    patterns = [text.strip() for text in configuration()["options.package_data"]["dmr.cuda_src"].split(",")]
    for file in (ROOT / "cuda_src").rglob("*.cu*"):
        name = file.relative_to(ROOT / "cuda_src").as_posix()
        assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns), name


def test_the_installed_metadata_is_that_of_this_version() -> None:
    try:
        found = importlib.metadata.distribution("dmr")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dmr runs from the checkout and is not installed")
    assert found.version == dmr.__version__
    assert found.metadata["License"] == "MIT" or found.metadata["License-Expression"] == "MIT"
    extras = set(configuration()["options.extras_require"])
    assert {"cuda", "gis", "docs", "test"} < extras
    assert set(found.metadata.get_all("Provides-Extra") or []) == extras
    assert [entry.load().__name__ for entry in found.entry_points if entry.name == "dmr"] == ["main"]


def test_the_last_release_is_cited_and_the_version_is_that_or_the_next() -> None:
    releases = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", CHANGES, re.MULTILINE)
    last, date = releases[0]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {last}\ndate-released: {date}\n" in citation
    numbers = [tuple(map(int, version.split("."))) for version, _ in releases]
    assert numbers == sorted(set(numbers), reverse=True)
    if dmr.__version__ != last:
        coming = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)\.dev0", dmr.__version__)
        assert coming is not None and tuple(map(int, coming.groups())) > numbers[0]
        assert CHANGES.index("\n## Unreleased\n") < CHANGES.index(f"\n## {last} - ")


def test_each_package_has_its_program() -> None:
    points = {
        group: dict(line.split(" = ") for line in text.strip().splitlines())
        for group, text in configuration()["options.entry_points"].items()
    }
    programs = points.pop("console_scripts")
    assert programs == {"dmr": "dmr.__main__:main", "static_graph": "static_graph.__main__:main"}
    assert set(points) == {"networkx.backends", "networkx.backend_info"}
    assert all(callable(pkgutil.resolve_name(program)) for program in programs.values())
    for plugin in points.values():
        assert pkgutil.resolve_name(plugin["static_graph"]) is not None


def test_the_default_install_is_light() -> None:
    wanted = configuration()["options"]["install_requires"].lower()
    for heavy in ("pyvista", "pycuda", "triangle", "scipy", "matplotlib", "shapely"):
        assert heavy not in wanted


def test_the_kernels_and_their_libraries_are_there() -> None:
    assert (source_folder() / "mesh" / "triangles.cuh").is_file()
    assert "retriangulate" in signatures()
    package = Path(dmr.__file__).parent
    assert (package / "memory" / "host" / "_kernels.so").is_file()
    assert (package / "io" / "_triangle_text.so").is_file()
    assert (package / "py.typed").is_file()


def test_import_is_quick_and_imports_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys, time; start = time.perf_counter(); import dmr; seconds = time.perf_counter() - start;"
        "heavy = {'numpy', 'scipy', 'meshio', 'rich', 'pyvista', 'pycuda', 'triangle'} & set(sys.modules);"
        "print(seconds, *heavy)"
    )
    path = pathsep.join(filter(None, [str(Path(dmr.__file__).parents[1]), environ.get("PYTHONPATH")]))

    def once() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return done.stdout.split()

    tries = [once() for _ in range(3)]
    assert all(len(words) == 1 for words in tries), tries
    assert min(float(words[0]) for words in tries) < 0.3


def test_public_names_are_all_there() -> None:
    for name in dmr.__all__:
        assert getattr(dmr, name) is not None
    assert set(dmr.__all__) <= set(dir(dmr))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dmr.nothing
