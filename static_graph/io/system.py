"""What the operating system's errors mean, in words."""

from __future__ import annotations


def system_reason(error: BaseException) -> str:
    """Why the system refused, as the end of a sentence."""
    if isinstance(error, MemoryError):
        return "there is too little memory"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error) or type(error).__name__
