"""Runs the commands in this process and in others."""

from __future__ import annotations

import os
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


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, in which the checkout's packages are found from any folder."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, **changes}


def _run(main: Callable[[list[str]], int], capsys: Any, arguments: tuple[Any, ...]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err
