"""Scripts that let a shell complete commands, options and file names, made by shtab (the extra [completion])."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from dmr.common.command_line.values import file_name
from dmr.common.errors import DmrError

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Prints the completion script of a program for a shell, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, shell: Any, name: str | None = None) -> None:
        """Does so; called by argparse with the shell."""
        try:
            shtab = import_module("shtab")
        except ImportError as error:
            raise DmrError(
                f"completion scripts need shtab, the extra [completion] of this package: pip install shtab ({error})"
            ) from error
        _complete_files(parser, shtab.FILE)
        parser.prog = parser.prog.split()[-1]  # the installed command, not python -m
        print(shtab.complete(parser, shell))
        parser.exit()


def _complete_files(parser: argparse.ArgumentParser, files: object) -> None:
    """Marks the arguments of a parser and its commands that are names of files."""
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                _complete_files(command, files)
        elif action.type is file_name:
            action.complete = files  # type: ignore[attr-defined]
