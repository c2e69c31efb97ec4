"""From the checkout to a source archive, from that to a wheel, and from the wheel to an empty environment.

The editable installation that the other tests use hides files that the lists of setup.cfg and MANIFEST.in forget.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from os import environ
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# One group: with several test processes, the wheel is still built once.
pytestmark = pytest.mark.slow

ROOT_FILES = {
    *(".clang-format", ".editorconfig", ".pre-commit-config.yaml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("LICENSE", "MANIFEST.in", "README.md", "SECURITY.md", "pyproject.toml", "setup.cfg", "setup.py"),
}
FOLDERS = (".ci", ".github", "cuda_src", "dmr", "docs", "meshes", "scripts", "static_graph", "tests")
MADE = re.compile(r"__pycache__|\.(so|cubin)$|^meshes/.*\.\d+\.")  # not sources; sample.1.ele is a result

# A compiler of GPU modules that only writes its result.
FAKE_NVCC = '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho "machine code" > "$2"\n'

# A C++ compiler for all libraries but one, which take most of the time of a build: it reads their sources with all that
# they include, and links by copying the library that setup.py has made of the same sources in the checkout. It compiles
# the readers of texts. `sh` starts in a tenth of the time of Python.
QUICK_CXX = """#!/bin/sh
for last; do :; done
case "$*" in
    *" -c dmr/io/triangle_text"* | *" -c static_graph/"*) exec {compiler} "$@" ;;
    *" -c "*) exec {compiler} "$@" -E ;;
    *_text.so) exec {compiler} "$@" ;;
    *) exec cp "{root}/dmr/${{last##*/dmr/}}" "$last" ;;
esac
"""

COMPILE = """
import sys
from dmr.memory.cuda.compiler import cubins, module
(code,) = cubins([module(sys.argv[1])], (8, 0))
print(code)
"""


def run(*command: str | Path, cwd: Path, timeout: float = 60) -> str:
    """Runs a program with nothing of this checkout on its path; returns what it printed.

    Skips the test if the program needs a package and finds none, because no package index can be reached.
    """
    clean = {name: value for name, value in environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode and "No matching distribution found" in done.stdout + done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive and the wheel made of it, both built from a copy of the checkout."""
    pytest.importorskip("build")
    copy, folder = tmp_path_factory.mktemp("copy") / "dmr", tmp_path_factory.mktemp("dist")
    left_out = shutil.ignore_patterns(
        ".git", ".venv", ".gpu", "build", "dist", "*.so", "*.egg-info", "__pycache__", ".*_cache"
    )
    shutil.copytree(ROOT, copy, ignore=left_out)
    programs = tmp_path_factory.mktemp("bin")
    nvcc, compiler = programs / "nvcc", programs / "quick-c++"
    nvcc.write_text(FAKE_NVCC)
    compiler.write_text(QUICK_CXX.format(root=ROOT, compiler=environ.get("CXX", "g++")))
    for program in (nvcc, compiler):
        program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{programs}:{environ['PATH']}")
        patched.setenv("DMR_CUDA_ARCHITECTURES", "sm_90")
        patched.setenv("CXX", str(compiler))
        patched.setenv("CXXFLAGS", "-O0 -w")  # compiles in a third of the time
        run(sys.executable, "-m", "build", "--outdir", folder, copy, cwd=folder, timeout=900)
    return folder


@pytest.fixture(scope="module")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new virtual environment with the wheel and its requirements, and nothing else."""
    (wheel,) = built.glob("dmr-*.whl")
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder, timeout=300)
    python = folder / "bin" / "python"
    installer = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile")
    run(*installer, wheel, cwd=folder, timeout=900)
    return folder / "bin"


def test_without_a_compiler_the_build_says_what_to_install() -> None:
    pytest.importorskip("setuptools.command.bdist_wheel")  # pip builds with a newer setuptools than venv may bring
    for name in ("no-such-compiler", "no-such-compiler -fast"):
        done = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext"],
            cwd=ROOT, env={**environ, "CXX": name}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert done.stderr.splitlines()[-1] == (
            "error: dmr is compiled by a C++ compiler, and there is no no-such-compiler: install one (Debian, Ubuntu: "
            "apt install g++; Fedora: dnf install gcc-c++; macOS: xcode-select --install), or name yours in CXX"
        )


def test_the_source_archive_is_complete(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("dmr-*.tar.gz")
    listed = set(run("tar", "-tzf", archive, cwd=tmp_path).splitlines())
    names = {name.partition("/")[2] for name in listed}
    assert names >= ROOT_FILES
    for folder in FOLDERS:
        for file in filter(Path.is_file, (ROOT / folder).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            assert name in names or MADE.search(name), name
    assert not [name for name in names if name.endswith((".so", ".pyc", ".cubin"))]


def test_the_wheel_holds_all_and_fits_every_python_3(built: Path) -> None:
    (wheel,) = built.glob("dmr-*.whl")
    assert "-py3-none-" in wheel.name
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    for file in (*ROOT.glob("dmr/**/*.py"), *ROOT.glob("static_graph/**/*.py"), *ROOT.glob("*/py.typed")):
        assert file.relative_to(ROOT).as_posix() in names
    libraries = {
        "dmr/memory/host/_kernels.so",
        "dmr/io/_triangle_text.so",
        "dmr/triangulation/_triangulation.so",
        "static_graph/io/_edge_text.so",
    }
    assert libraries <= names
    machine_code = {name for name in names if re.fullmatch(r"dmr/memory/cuda/prebuilt/\w+-sm_90-\w+\.cubin", name)}
    assert len(machine_code) == len(list(ROOT.glob("cuda_src/**/*.cu")))


def test_the_installed_programs_work_in_another_folder(environment: Path, tmp_path: Path) -> None:
    sample, result = ROOT / "meshes" / "plate.ele", tmp_path / "fine.ele"
    run(environment / "dmr", "refine", sample, "-o", result, "--device", "cpu", cwd=tmp_path)
    run(
        environment / "python", "-m", "dmr", "validate", result, "--input", sample, "--min-angle", "30", cwd=tmp_path
    )  # fmt: skip
    tiles = ("--tiles", "200", "-o", tmp_path / "parts")  # which need no extra, unless they place points by size
    run(environment / "dmr", "refine", sample, *tiles, "--device", "cpu", cwd=tmp_path)
    run(environment / "static_graph", "generate", "random", "10", "20", "-o", tmp_path / "graph.txt", cwd=tmp_path)


def test_every_kernel_source_is_installed(environment: Path, tmp_path: Path) -> None:
    program = "from dmr.memory.declarations import source_folder; print(source_folder())"
    installed = Path(run(environment / "python", "-c", program, cwd=tmp_path).strip())
    assert installed.is_relative_to(environment.parent)
    for source in (ROOT / "cuda_src").rglob("*.cu*"):
        copy = installed / source.relative_to(ROOT / "cuda_src")
        assert copy.is_file(), f"{copy.name} is not installed: see package_data in setup.cfg"
        assert copy.read_bytes() == source.read_bytes()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the PATH")
@pytest.mark.parametrize("name", ["primitives/scan", "geometry/shapes"])
def test_an_installed_kernel_compiles(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code = Path(run(environment / "python", "-c", COMPILE, name, cwd=tmp_path, timeout=300).strip())
    assert code.is_relative_to(tmp_path / "cache")
    assert code.read_bytes().startswith(b"\x7fELF")
