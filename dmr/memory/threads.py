"""How many CPU threads there are to use, and how many may be asked for."""

from __future__ import annotations

import operator
import os
from functools import cache

from dmr.errors import OptionError
from dmr.memory.quota import cpu_quota
from dmr.numeric import shortened

# Beyond the cores a thread brings nothing, and each takes a stack and tens of microseconds to start: a number above
# this is a slip. It is no smaller, and the same on small machines, so that a command written for a large one, or a test
# that wants other threads than there are cores, runs anywhere.
MOST_THREADS = 1024


def available_threads() -> int:
    """The cores that this process may use: those of its affinity, or fewer by the CPU quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return cores if quota is None else min(cores, quota)


@cache
def _quota() -> int | None:
    """The quota at the first call, because reading it opens about ten files."""
    return cpu_quota()


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as asked for, one for each core that this process may use without.

    Raises:
        OptionError: no whole number, or one below 1, or above both 1,024 and the number of cores.
    """
    if threads is None:
        return available_threads()
    try:
        count = operator.index(threads)
    except Exception:  # of a foreign object's __index__, too
        raise OptionError(f"threads must be a whole number and at least 1, not {shortened(threads)}") from None
    if count < 1:
        raise OptionError(f"threads must be a whole number and at least 1, not {shortened(count)}")
    most = max(MOST_THREADS, os.cpu_count() or 1)
    if count > most:
        raise OptionError(
            f"threads must be {most:,} at most, not {f'{count:,}' if count < 2**63 else shortened(count)}: "
            f"more than there are cores ({available_threads()} here) bring nothing"
        )
    return count
