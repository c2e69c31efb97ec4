"""What the operating system's errors mean, in words."""

from __future__ import annotations

import errno
import os

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be larger than is allowed here",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of its path is not a folder",
    errno.EISDIR: "it is a folder",
    errno.ENAMETOOLONG: "its name is too long",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ENOMEM: "there is too little memory",
}


def system_reason(error: BaseException) -> str:
    """Why the system refused, as the end of a sentence."""
    if isinstance(error, MemoryError):
        return "there is too little memory"
    code = error.errno if isinstance(error, OSError) else None
    if code is None:
        return str(error) or type(error).__name__
    return _REASONS.get(code, os.strerror(code))
