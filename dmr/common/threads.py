"""The number of CPU threads to use, and the most that a caller may ask for."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dmr.common.arguments import shortened
from dmr.common.errors import OptionError
from dmr.common.system.control_groups import control_groups
from dmr.common.text import option

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
        raise OptionError(
            f"{option('threads')} must be a whole number and at least 1, not {shortened(threads)}"
        ) from None
    if count < 1:
        raise OptionError(f"{option('threads')} must be a whole number and at least 1, not {shortened(count)}")
    most = MOST_THREADS if count <= MOST_THREADS else max(MOST_THREADS, os.cpu_count() or 1)
    if count > most:
        raise OptionError(
            f"{option('threads')} must be {most:,} at most, not {f'{count:,}' if count < 2**63 else shortened(count)}: "
            f"more threads than cores ({available_threads()} here) do not help"
        )
    return count


def cpu_quota(membership: Path | None = None, mounted: Path | None = None) -> int | None:
    """Returns the CPU time per unit of wall time that the process may use, in whole cores, rounded up.

    Args:
        membership, mounted: as in `control_groups`.

    Returns:
        The lowest quota of the groups and their ancestors, at least 1; None without a quota.
    """
    quotas = [
        quota
        for version, group in control_groups("cpu", membership, mounted)
        for quota in (_version_1(group) if version == 1 else _version_2(group))
    ]
    return max(1, math.ceil(min(quotas))) if quotas else None


def _version_2(group: Path) -> Iterator[float]:
    words = _words(group / "cpu.max")
    if len(words) == 2 and words[0] != "max":
        yield from _ratio(*words)


def _version_1(group: Path) -> Iterator[float]:
    quota, period = _words(group / "cpu.cfs_quota_us"), _words(group / "cpu.cfs_period_us")
    if len(quota) == len(period) == 1:
        yield from _ratio(quota[0], period[0])


def _ratio(quota: str, period: str) -> Iterator[float]:
    """Yields the cores of a quota; nothing for -1, which means no quota, or for anything that is not a number."""
    if quota.isdecimal() and period.isdecimal() and int(quota) > 0 and int(period) > 0:
        yield int(quota) / int(period)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []
