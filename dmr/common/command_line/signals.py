"""Ends a command on SIGINT (Ctrl-C) and SIGTERM."""

from __future__ import annotations

import signal
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """Raised on SIGTERM: the command ends as after Ctrl-C, with its temporary files removed."""


def raise_on_termination() -> None:
    """Makes SIGTERM, which `timeout` and schedulers send, raise `Terminated`, unless it is ignored on purpose."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def ignore_signals() -> None:
    """Ignores further signals, which would interrupt the cleanup or end it with a traceback."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)


def forget_interrupt() -> None:
    """Lets Python exit with a code after an interrupt.

    An interrupt within exec() or eval() sets a flag that makes Python kill itself with the signal at exit. The next
    eval() clears the flag.
    """
    eval("0")


def end_on_termination() -> None:
    """Lets SIGTERM end the process at once, in case Python's shutdown hangs."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(*_: object) -> NoReturn:
    ignore_signals()
    raise Terminated
