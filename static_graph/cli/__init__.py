"""The command line: `python -m static_graph`, installed as `static_graph`.

Data goes to stdout, everything else to stderr. Exit codes: 0 success, 1 invalid input, 2 usage error, 4 the device is
unavailable or too small, 5 an internal check failed, 130 interrupted (Ctrl-C), 143 terminated (SIGTERM).

Each command imports the heavy modules that it needs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from static_graph.cli.arguments import Arguments, build_parser
from static_graph.cli.console import Console
from static_graph.errors import DmrError

INTERNAL = 5
INTERRUPTED = 130
TERMINATED = 143
TOO_SMALL = 4


class Terminated(KeyboardInterrupt):
    """SIGTERM, handled like Ctrl-C: no partly written file is left."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the arguments (default: those of the process).

    Returns:
        The exit code.
    """
    with Console() as console:
        try:
            if argv is None and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                signal.signal(signal.SIGTERM, _terminate)
            return _run(console, sys.argv[1:] if argv is None else list(argv))
        except KeyboardInterrupt as ending:
            if argv is None:  # a second signal must not turn the final message into a traceback
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                # An interrupt within exec() or eval() sets a flag that makes Python kill itself with the signal at
                # exit; the next eval() clears it.
                eval("0")
            terminated = isinstance(ending, Terminated)
            console.ended("terminated" if terminated else "interrupted")
            if argv is None:  # if Python's shutdown hangs, SIGTERM can still end it
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            return TERMINATED if terminated else INTERRUPTED


def _terminate(*_: object) -> NoReturn:
    for each in (signal.SIGINT, signal.SIGTERM):  # another signal would interrupt the cleanup
        signal.signal(each, signal.SIG_IGN)
    raise Terminated


def _run(console: Console, argv: Sequence[str]) -> int:
    try:
        arguments = build_parser().parse_args(argv, Arguments())
        console.configure(quiet=arguments.quiet, verbose=arguments.verbose)
        command = importlib.import_module(f"static_graph.cli.{arguments.module}")
        return int(command.run(arguments, console))
    except SystemExit as ending:  # argparse, after --help and --version
        return ending.code if isinstance(ending.code, int) else 0
    except DmrError as error:
        console.error(str(error))
        return error.exit_code
    except MemoryError:
        console.error("this machine has too little memory for that")
        return TOO_SMALL
    except BrokenPipeError:
        return 0
    except OSError as error:
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, (str, os.PathLike)) else ""
        console.error(f"{where}{error.strerror or error}")
        return 1
    except Exception as error:
        if console.verbose:
            traceback.print_exc()
        hint = "" if console.verbose else ", with the output of -v"
        console.error(f"internal error ({type(error).__name__}: {error}): please report it{hint}")
        return INTERNAL
