"""Names of the files of a mesh in parts: `part-00000.npz`, ..., and, written last, `manifest.json`.

Until then, `job.json` identifies the run that writes them.
"""

from __future__ import annotations

from pathlib import Path

JOB, MANIFEST = "job.json", "manifest.json"
ANY_PART = "part-*.npz"  # a pattern


def part_name(index: int) -> str:
    """Returns the name of the file of a part."""
    return f"part-{index:05d}.npz"


def holds_parts(folder: Path) -> bool:
    """Tells whether a folder has a manifest, and so a finished mesh in parts."""
    return (folder / MANIFEST).exists()
