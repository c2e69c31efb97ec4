"""The control groups (cgroups) that limit the resources of this process, as containers use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

MEMBERSHIP = Path("/proc/self/cgroup")  # lists the groups of the process, one per hierarchy
MOUNTED = Path("/sys/fs/cgroup")  # where the hierarchies are mounted


def control_groups(
    controller: str, membership: Path | None = None, mounted: Path | None = None
) -> Iterator[tuple[int, Path]]:
    """Yields the groups of this process that a controller may limit, and their ancestors.

    Args:
        controller: "cpu", "memory", ...
        membership, mounted: replace `MEMBERSHIP` and `MOUNTED`.

    Yields:
        The version of control groups (1 or 2), and a folder, which may not exist.
    """
    mounted = mounted or MOUNTED
    try:
        lines = (membership or MEMBERSHIP).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return  # no control groups here
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:  # version 2, alone or beside version 1
            for root in (mounted, mounted / "unified"):
                yield from ((2, folder) for folder in _upwards(root, path))
        elif controller in controllers.split(","):
            for root in (mounted / controllers, mounted / controller):
                yield from ((1, folder) for folder in _upwards(root, path))


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """Yields the folders of a group and its ancestors. In a container the path may begin above the mount point."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..")]
    yield from (root.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))
