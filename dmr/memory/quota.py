"""The CPU quota of the control groups (cgroups) that this process belongs to, as containers have them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MEMBERSHIP = Path("/proc/self/cgroup")
MOUNTED = Path("/sys/fs/cgroup")


def cpu_quota(membership: Path = MEMBERSHIP, mounted: Path = MOUNTED) -> int | None:
    """The CPU time per time that the process may use, in whole cores, rounded up.

    Args:
        membership: the file that lists the groups of the process, one per hierarchy.
        mounted: where the hierarchies are mounted.

    Returns:
        The lowest quota of the groups and of those around them, at least 1; None without a quota.
    """
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None  # no cgroups here
    quotas = [quota for line in lines for quota in _quotas_of(line, mounted)]
    return max(1, math.ceil(min(quotas))) if quotas else None


def _quotas_of(line: str, mounted: Path) -> Iterator[float]:
    """The quotas along one path of groups, from a line "number:controllers:path"."""
    number, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if number == "0" and not controllers:  # version 2, alone or beside version 1
        for root in (mounted, mounted / "unified"):
            for group in _groups(root, path):
                yield from _version_2(group)
    elif "cpu" in controllers.split(","):
        for root in (mounted / controllers, mounted / "cpu"):
            for group in _groups(root, path):
                yield from _version_1(group)


def _groups(root: Path, path: str) -> Iterator[Path]:
    """The folders of a group and of all around it. In a container the path may begin above what is mounted."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
    yield from (root.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))


def _version_2(group: Path) -> Iterator[float]:
    words = _words(group / "cpu.max")
    if len(words) == 2 and words[0] != "max":
        yield from _ratio(*words)


def _version_1(group: Path) -> Iterator[float]:
    quota, period = _words(group / "cpu.cfs_quota_us"), _words(group / "cpu.cfs_period_us")
    if len(quota) == len(period) == 1:
        yield from _ratio(quota[0], period[0])


def _ratio(quota: str, period: str) -> Iterator[float]:
    """The cores of a quota; nothing for -1, which means no quota, or for what is no number."""
    if quota.isdecimal() and period.isdecimal() and int(quota) > 0 and int(period) > 0:
        yield int(quota) / int(period)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []
