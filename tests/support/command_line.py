"""Runs the commands in this process and in others."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dmr.cli import main as dmr_main
from static_graph.cli import main as static_graph_main
from tests.support.paths import ROOT


def dmr(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    """Runs `dmr` in this process; returns the exit code, stdout and stderr."""
    return _run(dmr_main, capsys, arguments)


def static_graph(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    """Runs `static_graph` in this process; returns the exit code, stdout and stderr."""
    return _run(static_graph_main, capsys, arguments)


def written(path: Path, text: str) -> Path:
    """Writes a file, and returns its path."""
    path.write_text(text, encoding="utf-8")
    return path


def fails(capsys: Any, code: int, *arguments: Any) -> str:
    """Runs a `dmr` command that must fail with one sentence on stderr and nothing on stdout; returns the sentence."""
    found, out, err = dmr(capsys, *arguments)
    assert found == code, err
    assert out == ""
    assert err.startswith("dmr: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err.removeprefix("dmr: error: ").rstrip()


def names(folder: Path) -> list[str]:
    """Sorted names of a folder's entries."""
    return sorted(path.name for path in folder.iterdir())


def assert_page_describes(parser: argparse.ArgumentParser, page: str) -> None:
    """Asserts that a page has a section for each command, with each of its options there or before all sections."""
    general, *rest = re.split(r"^## (\w+)$", page, flags=re.MULTILINE)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    (commands,) = (action.choices for action in parser._actions if isinstance(action.choices, dict))
    assert set(sections) == set(commands)
    for name, command in commands.items():
        options = {option for action in command._actions for option in action.option_strings}
        assert options <= set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", general + sections[name])), name


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, in which the checkout's packages are found from any folder."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **changes}


def _run(main: Callable[[list[str]], int], capsys: Any, arguments: tuple[Any, ...]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err
