"""The resident set of this process."""

from __future__ import annotations

import re
from pathlib import Path

STATUS = Path("/proc/self/status")


def resident_sets() -> tuple[int, int] | None:
    """Returns the resident set of this process and its peak so far, in bytes; None if the system does not tell."""
    try:
        status = STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = [re.search(rf"^{entry}:\s+(\d+) kB", status, re.MULTILINE) for entry in ("VmRSS", "VmHWM")]
    now, peak = (1024 * int(each[1]) if each else None for each in found)
    return None if now is None or peak is None else (now, peak)
