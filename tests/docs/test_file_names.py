"""Comments, docstrings and pages name files that exist."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

SOURCES = ("dmr", "static_graph", "cuda_src", "scripts")
SUFFIXES = {".py", ".cu", ".cuh", ".cpp", ".hpp", ".md"}
NAMED = re.compile(r"(?<![\w/.*{}-])((?:[\w-]+/)*[\w-]+\.(?:py|cu|cuh|cpp|hpp))\b")
# Names that stand for any file, and those of examples in pages.
EXAMPLES = re.compile(r"NAME|node_teams|ensemble")


@pytest.mark.slow
def test_named_files_exist():
    files = [path for tree in (*SOURCES, "tests") for path in (ROOT / tree).rglob("*") if path.suffix in SUFFIXES]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    endings = {
        "/".join(parts[k:])
        for path in [*files, ROOT / "setup.py", ROOT / "docs" / "conf.py"]
        for parts in [path.relative_to(ROOT).parts]
        for k in range(len(parts))
    }
    readers = [path for path in files if not path.is_relative_to(ROOT / "tests")]
    readers += [page for page in pages if not page.is_relative_to(ROOT / "docs" / "results")]
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in readers
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
        if name not in endings and not EXAMPLES.search(name)
    }
    assert missing == set()
