"""The command line: `python -m dmr`, installed as `dmr`.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 invalid input, 2 wrong usage, 3 stopped by a
limit with a valid mesh written, 4 device unavailable or out of memory, 5 failed internal check, 130 interrupted, 143
terminated.

Each command imports the heavy modules it needs, so that `--help` and `--version` answer at once.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence

from dmr.cli.arguments import Arguments, build_parser
from dmr.cli.console import Console
from dmr.errors import DmrError

USAGE = 2
INTERRUPTED = 130  # the shells' convention: 128 plus the signal's number
TERMINATED = 143
INTERNAL = 5


class Terminated(KeyboardInterrupt):
    """Raised on SIGTERM: the command ends as after Ctrl-C, with its temporary files removed."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        argv: the arguments; those of the process by default.

    Returns:
        The exit code.
    """
    console = Console()
    try:
        if argv is None:
            _heed_termination()
        code = _run(console, sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt as ending:
        # A second signal must not end the shutdown with a traceback.
        if argv is None:
            # An interrupt within exec() or eval() sets a flag that makes Python kill itself with the signal at exit.
            # The next eval() clears the flag.
            eval("0")
            for each in (signal.SIGINT, signal.SIGTERM):
                signal.signal(each, signal.SIG_IGN)
        terminated = isinstance(ending, Terminated)
        console.ended("terminated" if terminated else "interrupted")
        code = TERMINATED if terminated else INTERRUPTED
        if argv is None:  # if Python's shutdown hangs, SIGTERM can still end it
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    console.close()
    return code


def _heed_termination() -> None:
    """Makes SIGTERM, which `timeout` and schedulers send, raise `Terminated`, unless it is ignored on purpose."""

    def terminate(*_: object) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):  # a second signal would interrupt the cleanup
            signal.signal(each, signal.SIG_IGN)
        raise Terminated

    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)


def _run(console: Console, argv: Sequence[str]) -> int:
    try:
        if not argv:
            sys.stderr.write(build_parser().format_help())
            return USAGE
        arguments = build_parser().parse_args(argv, Arguments())
        console.configure(quiet=arguments.quiet, verbose=arguments.verbose)
        command = importlib.import_module(f"dmr.cli.{arguments.module}")
        return int(command.run(arguments, console))
    except SystemExit as ending:  # argparse, after --help and --version
        return ending.code if isinstance(ending.code, int) else 0
    except DmrError as error:
        console.error(str(error))
        return error.exit_code
    except MemoryError:
        console.error("this machine has too little memory for that")
        return 4
    except BrokenPipeError:
        return 0
    except OSError as error:
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, (str, os.PathLike)) else ""
        console.error(f"{where}{error.strerror or error}")
        return 1
    except Exception as error:
        if console.verbose:
            console.lines(traceback.format_exc())
        kind, text = type(error).__name__, f"{error}"
        hint = "" if console.verbose else ", with the output of -v"
        console.error(f"internal error ({kind}{': ' if text else ''}{text}): please report it{hint}")
        return INTERNAL
