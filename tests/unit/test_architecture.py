"""The folders: which may import which, and how many entries each has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

# The folders and modules of each package, lowest first. One may import what stands before it; names on one line are
# independent of each other. "" is the package's own __init__, which gives its public names.
ORDER = {
    "dmr": (
        ("_version",),
        ("common",),
        ("errors",),
        ("exact", "memory"),
        ("mesh",),
        ("sizing", "triangle"),
        ("triangulation",),
        ("domains",),
        ("io", "meshing"),
        ("refinement", "validation", "viewing"),
        ("distributed",),
        ("",),
        ("cli",),
        ("__main__",),
    ),
    "static_graph": (
        ("errors",),
        ("common",),
        ("graph",),
        ("engine",),
        ("io", "lists", "traversal"),
        ("components", "trees", "link_analysis"),
        ("",),
        ("networkx_backend",),
        ("cli",),
        ("__main__",),
    ),
}
FROM_DMR = {"common", "memory"}  # what static_graph may import of dmr

MOST_ENTRIES = 16
TREES = ("dmr", "static_graph", "cuda_src", "scripts", "tests")

# What Windows lacks: Python's attributes and modules, and headers of C.
OF_POSIX = re.compile(
    r"\bos\.(fork|kill|register_at_fork|sched_|set[gsu]id|pread|pwrite|mkfifo|umask|fchmod|chown|nice|sysconf|wait|O_(CLOEXEC|DIRECTORY|NOFOLLOW|SYNC|TMPFILE))"
    r"|\bimport (fcntl|pwd|resource|select|termios|pty|tty)\b|\bSIG(KILL|ALRM|HUP|USR)|\bMAP_(PRIVATE|ANON)"
    r"|\bstart_new_session\b|<(unistd|pthread|fcntl)\.h>|<sys/"
)
SYSTEM_HEADER = "cuda_src/portable/system.hpp"  # the calls of the native libraries; Python's are in dmr/common
PACKAGE_FILES = {"__init__.py", "__main__.py", "_version.py", "py.typed"}
MADE = {"__pycache__", "prebuilt"}  # by Python and by the build, as are shared libraries


def modules(package: str) -> dict[str, Path]:
    """Returns the modules of a package: name and file."""
    found = sorted((ROOT / package).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in found}


def imported(path: Path, known: Iterable[str]) -> set[str]:
    """Returns the modules that a file imports, also within functions and for type checkers."""
    return {name for node in ast.walk(parsed(path)) for name in named(node, path, known)}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def named(node: ast.AST, path: Path, known: Iterable[str]) -> list[str]:
    """Returns the modules that a statement imports; a name that is not a module stands for the module that has it."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = path.relative_to(ROOT).parts[: -node.level] if node.level else ()  # of a relative import
    module = ".".join((*above, *([node.module] if node.module else [])))
    return [name if (name := f"{module}.{alias.name}") in known else module for alias in node.names]


def folder(module: str) -> str:
    """Returns the folder of a package, or the module beside its folders, that a module belongs to."""
    return module.partition(".")[2].partition(".")[0]


@pytest.mark.parametrize("package", ORDER)
def test_every_folder_has_a_place_in_the_order(package):
    found = {folder(name) for name in modules(package)}
    assert found == {name for level in ORDER[package] for name in level}


@pytest.mark.slow
@pytest.mark.parametrize("package", ORDER)
def test_folders_import_only_lower_ones(package):
    """There are no circles, either, because the order has none."""
    level = {name: number for number, names in enumerate(ORDER[package]) for name in names}
    known = modules(package)
    upward = [
        f"{module} imports {target}"
        for module, path in known.items()
        for target in imported(path, known)
        if target.partition(".")[0] == package
        and folder(module) != folder(target)
        and level[folder(target)] >= level[folder(module)]
    ]
    assert upward == []


def test_static_graph_imports_only_the_shared_folders_of_dmr():
    known = modules("dmr")
    targets = {
        f"{module} imports {target}"
        for module, path in modules("static_graph").items()
        for target in imported(path, known)
        if target.partition(".")[0] == "dmr" and folder(target) not in FROM_DMR
    }
    assert targets == set()


def test_dmr_does_not_import_static_graph():
    known = modules("dmr")
    assert not [m for m, path in known.items() for target in imported(path, known) if target.startswith("static_graph")]


def test_modules_of_a_package_form_no_circle():
    """Not within functions or for type checkers, either: of two modules, one can be read without the other."""
    for package in ORDER:
        known = modules(package)
        arrows = {name: imported(path, known) & known.keys() for name, path in known.items()}
        assert circle(arrows) == []


def test_entries_of_a_folder_form_no_circle():
    """A folder counts as one entry of the folder above it: of two folders, too, one can be read without the other."""
    arrows: dict[str, set[str]] = {}
    for package in ORDER:
        known = modules(package)
        for module, path in known.items():
            for target in imported(path, known) & known.keys() - {module}:
                add_arrow(arrows, path, known[target])
    for path, headers in included().items():
        for header in headers:
            add_arrow(arrows, path, header)
    assert circle(arrows) == []


def add_arrow(arrows: dict[str, set[str]], source: Path, target: Path) -> None:
    """Adds the arrow between the entries of the lowest common folder that two files are, or lie in."""
    parts = source.relative_to(ROOT).parts, target.relative_to(ROOT).parts
    common = next(k for k, (one, other) in enumerate(zip(*parts, strict=False)) if one != other)
    start, end = ("/".join(each[: common + 1]) for each in parts)
    arrows.setdefault(start, set()).add(end)


def test_only_set_once_writes_to_the_dictionary_of_an_object():
    """Attributes are set as such; a write past them is hidden state."""
    found = {
        str(path.relative_to(ROOT))
        for package in ORDER
        for path in modules(package).values()
        for node in ast.walk(parsed(path))
        if writes_to_dictionary(node)
    }
    assert found == {"dmr/common/cached.py"}


def writes_to_dictionary(node: ast.AST) -> bool:
    """Tests for `vars(item)[name] = ...`, `item.__dict__ |= ...`, `vars(item).update(...)` and the like."""
    if isinstance(node, ast.Call):
        changes = isinstance(node.func, ast.Attribute) and node.func.attr in {"update", "setdefault", "pop", "clear"}
        return changes and is_dictionary(node.func.value)
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [getattr(node, "target", None)]
    return any(is_dictionary(target.value if isinstance(target, ast.Subscript) else target) for target in targets)


def is_dictionary(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "vars"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Returns nodes that form a circle, or reach one, or an empty list."""
    rest = dict(arrows)
    while free := [name for name, targets in rest.items() if not targets & rest.keys() - {name}]:
        for name in free:
            del rest[name]
    return sorted(rest)


def test_only_shared_folders_call_what_not_every_system_has():
    files = [path for tree in ("dmr", "static_graph", "cuda_src") for path in (ROOT / tree).rglob("*.[pch]*")]
    sources = {str(path.relative_to(ROOT)): path for path in files if path.suffix in (".py", ".cpp", ".hpp", ".cuh")}
    found = {name for name, path in sources.items() if OF_POSIX.search(path.read_text(encoding="utf-8"))}
    assert found and not [name for name in found if not name.startswith(("dmr/common/", SYSTEM_HEADER))]


def test_kernels_include_nothing_of_the_packages():
    """cuda_src is the lowest folder: the native code of the packages includes its headers, and never the reverse."""
    headers = included()
    assert sum(map(len, headers.values())) > 100
    assert [(path, each) for path, found in headers.items() for each in found if not each.is_file()] == []


def included() -> dict[Path, list[Path]]:
    """Returns the headers that each file of cuda_src includes; their paths begin there."""
    source = ROOT / "cuda_src"
    return {
        path: [source / name for name in re.findall(r'^#include "([^"]+)"', path.read_text("utf-8"), re.MULTILINE)]
        for path in source.rglob("*.[ch]*")
    }


@pytest.mark.parametrize("tree", TREES)
def test_folders_have_few_entries(tree):
    folders = [ROOT / tree, *(path for path in (ROOT / tree).rglob("*") if path.is_dir())]
    crowded = {
        str(each.relative_to(ROOT)): len(entries)
        for each in folders
        if not MADE & set(each.parts) and len(entries := list(own_entries(each))) > MOST_ENTRIES
    }
    assert crowded == {}


def own_entries(path: Path) -> Iterator[Path]:
    """Yields the entries of a folder that people write, package files apart."""
    for entry in path.iterdir():
        made = entry.name in MADE or entry.name.startswith(".") or entry.suffix in (".so", ".pyc")
        if not made and entry.name not in PACKAGE_FILES:
            yield entry
