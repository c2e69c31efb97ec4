"""Programs that run in a process group, so that they can be ended together with the programs that they start."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO


def start_group(command: Sequence[str], output: IO[bytes], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts a program in a new session: a terminal's Ctrl-C reaches only Python, which then ends the group.

    Args:
        command: the program and its arguments; it gets no input.
        output: an open file for its stdout and stderr; environment: all of its environment variables.

    Raises:
        OSError: the program does not start.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env=environment,
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a program that `start_group` started, and the programs that it started, if it still runs."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def group_is_gone(process: subprocess.Popen[bytes]) -> bool:
    """Whether no process of the group is left; after `kill_group`, they need a moment to end."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return False
