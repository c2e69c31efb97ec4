"""Start of a program: Ctrl-C may come while its modules are imported. Imports nothing before it can be caught."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn


def start(program: str) -> NoReturn:
    """Imports the command line of a program, runs it, and ends the process with its exit code."""
    try:
        main = import_module(f"{program}.cli").main
    except KeyboardInterrupt:
        from dmr.common.command_line.signals import forget_interrupt
        from dmr.common.errors import INTERRUPTED

        print(f"{program}: interrupted", file=sys.stderr)
        forget_interrupt()
        sys.exit(INTERRUPTED)
    sys.exit(main())
