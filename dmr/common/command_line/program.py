"""Runs one command of a program, and turns every way it can end into a message and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence

from dmr.common.command_line.console import Console
from dmr.common.command_line.parser import Arguments, Parser
from dmr.common.command_line.signals import (
    Terminated,
    end_on_termination,
    forget_interrupt,
    ignore_signals,
    raise_on_signals,
    raising_again,
)
from dmr.common.errors import (
    DONE,
    INTERNAL,
    INTERRUPTED,
    INVALID_INPUT,
    TERMINATED,
    UNAVAILABLE,
    USAGE,
    DmrError,
    system_reason,
)
from dmr.common.text import naming_flags


def run_program(console: Console, build_parser: Callable[[], Parser], commands: str, argv: Sequence[str] | None) -> int:
    """Runs one command.

    Args:
        console: the program's output; it is closed at the end.
        build_parser: makes the parser of all commands.
        commands: the package of the commands' modules; `run(arguments, console)` of a module returns the exit code.
        argv: the arguments; those of the process by default, and only then are signals handled.

    Returns:
        The exit code.
    """
    with console:
        try:
            if argv is None:
                raise_on_signals()
            return _run(console, build_parser, commands, sys.argv[1:] if argv is None else list(argv))
        except KeyboardInterrupt as ending:
            if argv is None:
                forget_interrupt()
                ignore_signals()
            terminated = isinstance(ending, Terminated)
            console.ended("terminated" if terminated else "interrupted")
            if argv is None:
                end_on_termination()
            return TERMINATED if terminated else INTERRUPTED


def _run(console: Console, build_parser: Callable[[], Parser], commands: str, argv: Sequence[str]) -> int:
    try:
        if not argv:
            sys.stderr.write(build_parser().format_help())
            return USAGE
        arguments = build_parser().parse_args(argv, Arguments())
        console.configure(quiet=arguments.quiet, verbose=arguments.verbose)
        with raising_again(), naming_flags(arguments.flags):
            command = importlib.import_module(f"{commands}.{arguments.module}")
            return int(command.run(arguments, console))
    except SystemExit as ending:  # argparse, after --help and --version
        return ending.code if isinstance(ending.code, int) else DONE
    except DmrError as error:
        console.error(str(error))
        return error.exit_code
    except MemoryError:
        console.error("this machine has too little memory for that")
        return UNAVAILABLE
    except BrokenPipeError:
        return DONE
    except OSError as error:
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, (str, os.PathLike)) else ""
        console.error(f"{where}{system_reason(error)}")
        return INVALID_INPUT
    except Exception as error:
        if console.verbose:
            console.lines(traceback.format_exc())
        kind, text = type(error).__name__, f"{error}"
        hint = "" if console.verbose else ", with the output of -v"
        console.error(f"internal error ({kind}{': ' if text else ''}{text}): please report it{hint}")
        return INTERNAL
