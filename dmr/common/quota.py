"""The CPU quota of this process, by its control groups."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from dmr.common.control_groups import control_groups


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
