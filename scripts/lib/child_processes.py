"""Runs a program to its end and measures wall time, processor time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dmr.errors import DmrError

KIBIBYTE = 1024  # unit of ru_maxrss on Linux
LAST_LINES = 5  # lines of a program's output that the error message quotes


class ProgramError(DmrError):
    """A program could not be started, or ended with an exit code other than 0."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of one run of a program.

    Attributes:
        wall: seconds from before the process starts to after its end.
        user, system: processor time in seconds, over all threads.
        peak: peak main memory in bytes. It is never less than that of the parent process, which should be small.
    """

    wall: float
    user: float
    system: float
    peak: int


def run_measured(command: Sequence[str | Path], folder: Path) -> Cost:
    """Runs a program in `folder`.

    Raises:
        ProgramError: it cannot be started, or its exit code is not 0; quotes the end of its output.
    """
    name = Path(command[0]).name
    with tempfile.TemporaryFile() as said:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(
                [str(part) for part in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        except OSError as error:
            raise ProgramError(f"{command[0]} cannot be started: {error.strerror or error}") from error
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()[-LAST_LINES:]
            raise ProgramError(
                f"{' '.join([name, *map(str, command[1:])])} ended with exit code {process.returncode}: "
                f"{' | '.join(lines) or 'it said nothing'}"
            )
    unit = 1 if sys.platform == "darwin" else KIBIBYTE
    return Cost(wall=wall, user=usage.ru_utime, system=usage.ru_stime, peak=usage.ru_maxrss * unit)
