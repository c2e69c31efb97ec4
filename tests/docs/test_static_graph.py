"""The pages on static_graph: examples run, commands parse, and every option, format and preset is described."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import static_graph
from static_graph.cli.parsing.program import build_parser
from static_graph.graph.generation import PRESETS
from static_graph.io.formats import FORMATS
from static_graph.traversal.schemes.table import SCHEMES
from tests.support.command_line import assert_page_describes
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "graphs" / "graphs.md").read_text(encoding="utf-8")
PAGERANK = (ROOT / "docs" / "guide" / "graphs" / "pagerank.md").read_text(encoding="utf-8")
SCHEMES_PAGE = (ROOT / "docs" / "guide" / "graphs" / "schemes.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "guide" / "graphs" / "command-line.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE + PAGERANK, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.split("\n")[-2][:30])
def test_the_examples_run(block, tmp_path):
    if "plot_degrees" in block:
        pytest.importorskip("matplotlib")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", block], cwd=tmp_path, env=environment, check=True, timeout=60)


def test_the_commands_parse():
    commands = re.findall(r"^\$ python -m static_graph (.*)$", PAGE + COMMANDS, re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        assert build_parser().parse_args(command.split())


def test_every_command_and_option_is_there():
    assert_page_describes(build_parser(), COMMANDS)


def test_every_format_and_preset_is_there():
    assert {suffix for each in FORMATS.values() for suffix in each.suffixes} <= set(
        re.findall(r"`(\.\w+)`", PAGE) + re.findall(r"\.\w+", PAGE)
    )
    for name, preset in PRESETS.items():
        parts = ", ".join(f"{part:g}" for part in (preset.a, preset.b, preset.c, preset.d))
        assert re.search(rf"\| `{name}`[^|]*\| {parts} \| {preset.noise:g} \| `{preset.halving}` \|", PAGE), name


def test_every_scheme_is_there():
    for name in SCHEMES:
        assert f"`{name}`" in SCHEMES_PAGE, name
        assert f'"{name}"' in static_graph.bfs.__doc__, name


def test_public_names_are_all_there():
    for name in static_graph.__all__:
        assert getattr(static_graph, name) is not None
    assert set(static_graph.__all__) <= set(dir(static_graph))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = static_graph.nothing


def test_import_is_light(tmp_path):
    program = (
        "import sys, static_graph;"
        "print(*{'numpy', 'scipy', 'networkx', 'matplotlib', 'pycuda', 'meshio'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.strip()) == (0, "")
