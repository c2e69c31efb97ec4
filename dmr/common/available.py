"""Estimates the available main memory, and refuses work that needs more."""

from __future__ import annotations

import os
from pathlib import Path

from dmr.common.errors import OutOfMemoryError
from dmr.common.system.control_groups import control_groups

UNKNOWN = 2**63 - 1  # then the allocation itself decides
WORTH_ASKING = 2**26  # bytes; the available memory is read only for larger requests

# By version of control groups: the files of a group's limit and usage, and the name of the reclaimable part.
_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def require_memory(needed: int, what: str) -> None:
    """Refuses work that needs more memory than is available, before it begins.

    Linux overcommits memory: an allocation succeeds, and the process is killed later, when it writes to the pages.

    Args:
        needed: bytes, over all arrays that exist at the same time.
        what: the work, as the subject of the message: "a triangulation of 1,000,000 vertices".

    Raises:
        OutOfMemoryError: there is less memory; gives the bytes needed and the bytes free.
    """
    if needed <= WORTH_ASKING:
        return
    free = available_memory()
    if needed > free:
        raise OutOfMemoryError(f"{what} needs {amount(needed)} of memory, and {amount(free)} are free")


def physical_memory() -> int:
    """Returns the main memory of the machine in bytes; 0 if the system does not tell."""
    if not hasattr(os, "sysconf"):
        return 0
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def amount(size: int) -> str:
    """Formats a number of bytes for a message."""
    if size < 2**20:
        return f"{size:,} bytes"
    if size < 2**30:
        return f"{size / 2**20:.1f} MiB"
    if size < 2**70:
        return f"{size / 2**30:,.2f} GiB"
    return f"over 2^{int(size).bit_length() - 1} bytes"


def available_memory() -> int:
    """Returns the bytes available without swapping: the system's estimate, or what the control groups leave, if less.

    The limits of ancestor groups count, too.
    """
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = UNKNOWN
    for version, group in control_groups("memory"):
        limit, used, cached = _FILES[version]
        try:
            most = (group / limit).read_text(encoding="ascii").strip()
            if most == "max":
                continue
            left = int(most) - int((group / used).read_text(encoding="ascii"))
            if left < free:  # reclaimable memory only adds to what is left
                free = min(free, max(left + _reclaimable(group, cached), 0))
        except (OSError, ValueError):
            continue
    return free


def _reclaimable(group: Path, name: str) -> int:
    """Returns the bytes of a group's usage that are cached files, which the system can reclaim."""
    for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
