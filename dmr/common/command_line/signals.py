"""Ends a command on SIGINT (Ctrl-C) and SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """Raised on SIGTERM: the command ends as after Ctrl-C, with its temporary files removed."""


_raised: list[type[KeyboardInterrupt]] = []  # by the handlers below


def raise_on_signals() -> None:
    """Makes SIGINT raise KeyboardInterrupt, and SIGTERM, which `timeout` and schedulers send, `Terminated`.

    A signal that is ignored on purpose stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


@contextmanager
def raising_again() -> Iterator[None]:
    """Raises the interrupt of a signal again if another exception has replaced it.

    Extension modules do so while they are imported: an interrupt becomes an ImportError without a cause.
    """
    try:
        yield
    except Exception as error:
        if _raised:
            raise _raised[0] from error
        raise


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


def _interrupt(*_: object) -> NoReturn:
    _raised.append(KeyboardInterrupt)
    raise KeyboardInterrupt


def _terminate(*_: object) -> NoReturn:
    ignore_signals()
    _raised.append(Terminated)
    raise Terminated
