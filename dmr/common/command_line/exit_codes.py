"""Exit codes of the command lines; an error carries its own (`DmrError.exit_code`)."""

from __future__ import annotations

DONE = 0
INVALID_INPUT = 1
USAGE = 2
STOPPED = 3  # by a limit; a valid mesh, or the last scores, were written
UNAVAILABLE = 4  # the device is not there, or too small
INTERNAL = 5  # an internal check failed, or validation found a fault
INTERRUPTED = 130  # the shells' convention: 128 plus the signal's number
TERMINATED = 143
