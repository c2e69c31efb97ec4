"""The sessions at a terminal that pages show: each command prints what the page shows, apart from times and threads."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PAGES = (
    "README.md",
    "docs/guide/command-line.md",
    "docs/guide/graphs/graphs.md",
    "docs/guide/graphs/lists-and-trees.md",
)
SESSION = re.compile(r"^```text\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"(?:python -m )?(dmr|static_graph) ")
# Commands about files and machines that a checkout does not have, and one that prints times.
LEFT_OUT = re.compile(r"roof\.poly|dmr devices|--profile")
VARYING = re.compile(r"[\d.e-]+ s\b|, \d+ threads?|^ *(seconds|GTEPS) .*$")


def sessions(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page, in order, and the lines that each prints."""
    found = []
    for session in SESSION.findall((ROOT / page).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            if not LEFT_OUT.search(command):
                found.append((command, lines))
    return found


def steady(line: str) -> str:
    """A line without times, threads, and the widths of columns, which depend on these."""
    return re.sub(r"\s+", " ", VARYING.sub("", line)).strip()


def printed(command: str, folder: Path) -> list[str]:
    """Runs a command on the CPU; returns what it prints."""
    program = PROGRAM.match(command)
    assert program is not None, command
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", program[1], *shlex.split(command[program.end() :])],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "meshes", tmp_path / "meshes")
    assert sessions(page)
    for command, expected in sessions(page):
        lines = [steady(line) for line in printed(command, tmp_path)]
        at = 0
        for line in map(steady, expected):
            if line == "...":
                continue  # the page leaves lines out
            assert line in lines[at:], f"{command}: {line!r} is not printed, or not there: {lines[at:]}"
            at = lines.index(line, at) + 1
