"""Runs a program to its end, and reads from the system what it cost: wall clock, processor time, peak memory."""

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

KIBIBYTE = 1024  # Linux counts ru_maxrss in these
LAST_LINES = 5  # of what a program said, kept for the error message


class ProgramError(DmrError):
    """A program that could not be started, or ended with another exit code than 0."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one run of a program took.

    Attributes:
        wall: seconds from before the process was made to after its end.
        user, system: seconds of processor time, over all threads.
        peak: bytes of main memory at most. A process never has less than the one that started it had: keep that small.
    """

    wall: float
    user: float
    system: float
    peak: int


def run_measured(command: Sequence[str | Path], folder: Path) -> Cost:
    """Runs a program in `folder`.

    Raises:
        ProgramError: it is not there, or did not end with exit code 0; says what it printed last.
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
