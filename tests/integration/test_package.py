"""The package as it is installed: what is in it, where it comes from, how soon it is there."""

from __future__ import annotations

import configparser
import fnmatch
import importlib.metadata
import pkgutil
import re
import shutil
import subprocess
import sys
import zipfile
from os import environ, pathsep
from pathlib import Path

import pytest

import dmr
from dmr.memory.declarations import source_folder
from dmr.memory.signatures import signatures
from tests.support.paths import ROOT


def configuration() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def run(*command: str | Path, cwd: Path, timeout: float = 60) -> str:
    """Runs a program with nothing of this checkout on its path; returns what it printed."""
    clean = {name: value for name, value in environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
        assert not fnmatch.fnmatch(name, "*/*/*/*"), f"{name} lies too deep for package data"


def test_the_installed_metadata_is_that_of_this_version() -> None:
    try:
        found = importlib.metadata.distribution("dmr")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("dmr runs from the checkout and is not installed")
    assert found.version == dmr.__version__
    assert found.metadata["License"] == "MIT" or found.metadata["License-Expression"] == "MIT"
    extras = {"cuda", "view", "shapely", "gis", "triangle", "docs", "test"}
    assert set(found.metadata.get_all("Provides-Extra") or []) == extras
    assert [entry.value for entry in found.entry_points if entry.name == "dmr"] == ["dmr.cli:main"]


def test_each_package_has_its_program() -> None:
    (text,) = configuration()["options.entry_points"].values()
    programs = dict(line.split(" = ") for line in text.strip().splitlines())
    assert programs == {"dmr": "dmr.cli:main", "static_graph": "static_graph.cli:main"}
    for place in programs.values():
        assert callable(pkgutil.resolve_name(place))


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


# ---- From the checkout to a source archive, a wheel, and another folder ----------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive and the wheel made of it, both built from a copy of the checkout."""
    pytest.importorskip("build")
    copy, folder = tmp_path_factory.mktemp("copy") / "dmr", tmp_path_factory.mktemp("dist")
    left_out = shutil.ignore_patterns(
        ".git", ".venv", ".gpu", "build", "dist", "*.so", "*.egg-info", "__pycache__", ".*_cache"
    )
    shutil.copytree(ROOT, copy, ignore=left_out)
    nvcc = tmp_path_factory.mktemp("bin") / "nvcc"  # writes its result, and nothing else
    nvcc.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho "machine code" > "$2"\n')
    nvcc.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{nvcc.parent}:{environ['PATH']}")
        patched.setenv("DMR_CUDA_ARCHITECTURES", "sm_90")
        run(sys.executable, "-m", "build", "--outdir", folder, copy, cwd=folder, timeout=900)
    return folder


@pytest.mark.large
def test_the_source_archive_is_complete(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("dmr-*.tar.gz")
    listed = set(run("tar", "-tzf", archive, cwd=tmp_path).splitlines())
    names = {name.partition("/")[2] for name in listed}
    for pattern in (
        "cuda_src/**/*.*",
        "dmr/**/*.py",
        "dmr/**/*.?pp",
        "static_graph/**/*.py",
        "static_graph/**/*.?pp",
        "tests/*.py",
        "meshes/*",
        "docs/**/*.*",
        "scripts/*.py",
    ):
        for file in ROOT.glob(pattern):
            name = file.relative_to(ROOT).as_posix()
            assert name in names or re.search(r"\.\d+\.", name), name  # sample.1.ele is somebody's result
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "setup.py", "setup.cfg", "pyproject.toml", ".ci/run"):
        assert name in names, name
    assert not [name for name in names if name.endswith((".so", ".pyc", ".cubin"))]


@pytest.mark.large
def test_the_wheel_holds_all_and_fits_every_python_3(built: Path) -> None:
    (wheel,) = built.glob("dmr-*.whl")
    assert "-py3-none-" in wheel.name
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    for file in (*ROOT.glob("dmr/**/*.py"), *ROOT.glob("static_graph/**/*.py"), *ROOT.glob("*/py.typed")):
        assert file.relative_to(ROOT).as_posix() in names
    for file in ROOT.glob("cuda_src/**/*.cu*"):
        assert f"dmr/{file.relative_to(ROOT).as_posix()}" in names
    libraries = {"dmr/memory/host/_kernels.so", "dmr/io/_triangle_text.so", "static_graph/io/_edge_text.so"}
    assert libraries <= names
    machine_code = {name for name in names if re.fullmatch(r"dmr/memory/cuda/prebuilt/\w+-sm_90-\w+\.cubin", name)}
    assert len(machine_code) == len(list(ROOT.glob("cuda_src/**/*.cu")))


@pytest.mark.large
def test_the_wheel_works_in_a_fresh_environment_and_another_folder(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("dmr-*.whl")
    python = tmp_path / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path, timeout=300)
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path, timeout=900)
    sample, result = ROOT / "meshes" / "plate.ele", tmp_path / "fine.ele"
    dmr_command = tmp_path / "venv" / "bin" / "dmr"
    run(dmr_command, "refine", sample, "-o", result, "--device", "cpu", cwd=tmp_path)
    run(python, "-m", "dmr", "validate", result, "--input", sample, "--min-angle", "30", cwd=tmp_path)
    graphs_command = tmp_path / "venv" / "bin" / "static_graph"
    run(graphs_command, "generate", "random", "10", "20", "-o", tmp_path / "graph.txt", cwd=tmp_path)
    where = run(python, "-c", "from dmr.memory.declarations import source_folder; print(source_folder())", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path / "venv")
