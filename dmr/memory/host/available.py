"""How much main memory can be had, and the refusal of work that needs more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dmr.errors import OutOfMemoryError

UNKNOWN = 2**63 - 1  # let the allocation itself decide
WORTH_ASKING = 2**26  # bytes from which on it is asked how much memory is free
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def require_memory(needed: int, what: str) -> None:
    """Refuses work that needs more memory than there is, before it begins.

    Linux promises more memory than there is, and ends the process that takes the promise at its word.

    Args:
        needed: bytes, over all arrays that live at the same time.
        what: the work, as the sentence's subject: "a triangulation of 1,000,000 vertices".

    Raises:
        OutOfMemoryError: says how many bytes are needed, and how many are free.
    """
    if needed <= WORTH_ASKING:
        return
    free = available_memory()
    if needed > free:
        raise OutOfMemoryError(f"{what} needs {amount(needed)} of memory, and {amount(free)} are free")


def amount(size: int) -> str:
    """A number of bytes in a sentence."""
    if size < 2**20:
        return f"{size:,} bytes"
    if size < 2**30:
        return f"{size / 2**20:.1f} MiB"
    if size < 2**70:
        return f"{size / 2**30:,.2f} GiB"
    return f"over 2^{int(size).bit_length() - 1} bytes"


def available_memory() -> int:
    """Bytes that can be had without swapping, by the system's estimate; by a control group's limit where it is lower.

    The limits of the groups around the process's own count too, in both versions of control groups.
    """
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = UNKNOWN
    for group, limit, used, cached in _groups():
        try:
            most = (group / limit).read_text(encoding="ascii").strip()
            if most != "max":
                taken = int((group / used).read_text(encoding="ascii")) - _reclaimable(group, cached)
                free = min(free, max(int(most) - taken, 0))
        except (OSError, ValueError):
            continue
    return free


def _groups() -> Iterator[tuple[Path, str, str, str]]:
    """The memory control groups of the process: folder, files of limit and use, name of the reclaimable part."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    paths = {
        controllers: path for _, controllers, path in (line.split(":", 2) for line in lines if line.count(":") > 1)
    }
    second = _CONTROL_GROUPS
    yield from ((folder, "memory.max", "memory.current", "inactive_file") for folder in _upwards(second, paths.get("")))
    first = _CONTROL_GROUPS / "memory"
    own = next((path for names, path in paths.items() if "memory" in names.split(",")), None)
    yield from (
        (folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        for folder in _upwards(first, own)
    )


def _upwards(root: Path, own: str | None) -> Iterator[Path]:
    """A group's folder and those around it. A container sees its own group as the root, whatever its path says."""
    folder = root / own.lstrip("/") if own else root
    while folder != root and root in folder.parents:
        yield folder
        folder = folder.parent
    yield root


def _reclaimable(group: Path, name: str) -> int:
    """Bytes of a group's use that are cached files, which the system gives up for others."""
    for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0
