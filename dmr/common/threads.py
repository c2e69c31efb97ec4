"""The number of CPU threads to use, and the most that a caller may ask for."""

from __future__ import annotations

import operator
import os
from functools import cache

from dmr.common.arguments import shortened
from dmr.common.errors import OptionError
from dmr.common.quota import cpu_quota

# Threads beyond the number of cores do not help, and each takes a stack and tens of microseconds to start: a larger
# number than this is a mistake. The limit is this high, and the same on small machines, so that a command written for a
# large machine, or a test that needs more threads than cores, runs anywhere.
MOST_THREADS = 1024


def available_threads() -> int:
    """Returns the number of cores that this process may use, by its affinity and the CPU quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return cores if quota is None else min(cores, quota)


@cache
def _quota() -> int | None:
    """Returns the quota at the first call; cached, because reading it opens about ten files."""
    return cpu_quota()


def thread_count(threads: int | None) -> int:
    """Returns the number of threads to use: as requested, by default one per core that this process may use.

    Raises:
        OptionError: not a whole number, below 1, or above both 1,024 and the number of cores.
    """
    if threads is None:
        return available_threads()
    try:
        count = operator.index(threads)
    except Exception:  # including one from a foreign object's __index__
        raise OptionError(f"threads must be a whole number and at least 1, not {shortened(threads)}") from None
    if count < 1:
        raise OptionError(f"threads must be a whole number and at least 1, not {shortened(count)}")
    most = max(MOST_THREADS, os.cpu_count() or 1)
    if count > most:
        raise OptionError(
            f"threads must be {most:,} at most, not {f'{count:,}' if count < 2**63 else shortened(count)}: "
            f"more threads than cores ({available_threads()} here) do not help"
        )
    return count
